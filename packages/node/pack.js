// Builds the packages: node pack.js PROGRAM DIRECTORY
//
// The small package `marketplace-sandbox` has the helpers, and types generated from the API documents of the
// program. The package for a platform has the program; installers choose it by `os`, `cpu`, and `libc`, so no
// script runs on installation.

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PLATFORM = { name: '@marketplace-sandbox/linux-x64-gnu', os: ['linux'], cpu: ['x64'], libc: ['glibc'] };

const LICENSES = ['LICENSE-APACHE', 'LICENSE-MIT'];

const here = dirname(fileURLToPath(import.meta.url));
const [program, directory] = process.argv.slice(2).map((path) => resolve(path));
if (!program || !directory) {
  console.error('usage: node pack.js PROGRAM DIRECTORY');
  process.exit(2);
}
const description = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const { version, license, devDependencies, ...rest } = description;
const printed = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().split(' ').at(-1);
if (printed !== version) throw new Error(`${program} has version ${printed}, and this package ${version}.`);

const main = join(directory, 'marketplace-sandbox');
const platform = join(directory, 'platform');
for (const stage of [main, platform]) {
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(join(stage, 'bin'), { recursive: true });
  // npm leaves symbolic links out.
  for (const file of LICENSES) cpSync(join(here, file), join(stage, file), { dereference: true });
}

writeDescription(main, { ...rest, version, license, optionalDependencies: { [PLATFORM.name]: version } });
cpSync(join(here, 'README.md'), join(main, 'README.md'));
cpSync(join(here, 'bin'), join(main, 'bin'), { recursive: true });
run('typescript', 'tsc', ['--project', here, '--outDir', join(main, 'dist')]);
const apis = execFileSync(program, ['openapi', '--list'], { encoding: 'utf8' }).trim().split(/\s+/);
for (const api of apis) {
  const document = join(directory, `${api}.json`);
  writeFileSync(document, execFileSync(program, ['openapi', api], { maxBuffer: 1 << 28 }));
  const types = join(main, 'dist', 'types', `${api}.d.ts`);
  run('openapi-typescript', 'openapi-typescript', [document, '--output', types]);
}

const { os, cpu, libc } = PLATFORM;
const about = `The program of marketplace-sandbox for ${os} on ${cpu} with ${libc}`;
writeDescription(platform, { ...PLATFORM, description: about, version, license, preferUnplugged: true });
writeFileSync(join(platform, 'README.md'), `${about}. Install \`marketplace-sandbox\` instead.\n`);
cpSync(program, join(platform, 'bin', 'marketplace'));
chmodSync(join(platform, 'bin', 'marketplace'), 0o755);

for (const stage of [main, platform]) {
  const parameters = ['pack', '--silent', '--pack-destination', directory];
  execFileSync('npm', parameters, { cwd: stage, stdio: 'inherit' });
}

function writeDescription(stage, content) {
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
}

/** Runs a command of a development dependency. */
function run(name, command, parameters) {
  const require = createRequire(import.meta.url);
  const root = dirname(require.resolve(`${name}/package.json`));
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const stdio = ['ignore', 'ignore', 'inherit'];
  execFileSync(process.execPath, [join(root, bin[command]), ...parameters], { stdio });
}
