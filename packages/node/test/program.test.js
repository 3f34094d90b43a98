// Where the program is found, and how long it runs.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { BinaryNotFoundError, findBinary, Sandbox, ServerStartError } from 'marketplace-sandbox';

const here = dirname(fileURLToPath(import.meta.url));
const command = join(here, 'node_modules', '.bin', 'marketplace');
const serve = ['serve', '--demo', '--listen', '127.0.0.1:0'];

/** Whether a process exists, apart from one that has ended and that nobody has waited for. */
function isRunning(pid) {
  try {
    return !fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).startsWith('Z');
  } catch {
    return false;
  }
}

async function waitForEnd(pid) {
  const deadline = performance.now() + 30_000;
  while (isRunning(pid)) {
    assert.ok(performance.now() < deadline, `process ${pid} is still running`);
    await setTimeout(10);
  }
}

function temporaryDirectory(context) {
  const directory = fs.mkdtempSync(join(tmpdir(), 'test-'));
  context.after(() => fs.rmSync(directory, { recursive: true }));
  return directory;
}

/** Sets variables until the end of a test. */
function setVariables(context, variables) {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name];
    process.env[name] = value;
    context.after(() => (before === undefined ? delete process.env[name] : (process.env[name] = before)));
  }
}

function executable(path, text) {
  fs.writeFileSync(path, text);
  fs.chmodSync(path, 0o755);
  return path;
}

test('program of the package for the platform is found', (context) => {
  setVariables(context, { PATH: '/nowhere', MARKETPLACE_BIN: '' });
  const found = createRequire(import.meta.url).resolve('@marketplace-sandbox/linux-x64-gnu/bin/marketplace');
  assert.equal(findBinary(), found);
});

test('variable takes precedence', (context) => {
  const other = executable(join(temporaryDirectory(context), 'other'), '');
  setVariables(context, { MARKETPLACE_BIN: other });
  assert.equal(findBinary(), other);
  process.env.MARKETPLACE_BIN = '/nowhere/marketplace';
  assert.throws(findBinary, (error) => {
    return error instanceof BinaryNotFoundError && /MARKETPLACE_BIN is \/nowhere/.test(error.message);
  });
});

test('without the package for the platform, PATH is searched', async (context) => {
  const directory = temporaryDirectory(context);
  const packages = join(here, 'node_modules', 'marketplace-sandbox');
  // A copy elsewhere has no platform package.
  const copy = join(directory, 'copy');
  fs.cpSync(packages, copy, { recursive: true });
  const find = (await import(join(copy, 'dist', 'binary.js'))).findBinary;
  // The command of the package, which is in PATH, does not find itself.
  setVariables(context, { PATH: dirname(command), MARKETPLACE_BIN: '' });
  assert.throws(find, /@marketplace-sandbox\/linux-x64-gnu is not installed.*MARKETPLACE_BIN/);
  const other = executable(join(directory, 'marketplace'), '');
  process.env.PATH = `${dirname(command)}:${directory}`;
  assert.equal(find(), other);
});

test('server that does not start shows its output', async (context) => {
  const refused = Sandbox.start({ settings: { 'data.readers': 65 } });
  await assert.rejects(refused, (error) => {
    return error instanceof ServerStartError && /data\.readers must be between 0 and 64/.test(error.message);
  });
  const path = join(temporaryDirectory(context), 'program');
  const program = executable(path, '#!/bin/sh\necho hello\nread line\n');
  await assert.rejects(Sandbox.start({ binary: program }), /printed 'hello' instead of its address/);
  await assert.rejects(Sandbox.start({ binary: '/nowhere/program' }), /ENOENT/);
});

test('no log stays open', async () => {
  const openLogs = () => {
    const isLog = (file) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${file}`).includes('marketplace-log-');
      } catch {
        // That of this listing is closed by now.
        return false;
      }
    };
    return fs.readdirSync('/proc/self/fd').filter(isLog).length;
  };
  const before = openLogs();
  for (const binary of ['/nowhere/program', 'no\0program']) {
    await assert.rejects(Sandbox.start({ binary }), ServerStartError);
  }
  const sandbox = await Sandbox.start();
  assert.equal(openLogs(), before + 1);
  process.kill(sandbox.server.pid, 'SIGKILL');
  await waitForEnd(sandbox.server.pid);
  await sandbox.close();
  assert.equal(openLogs(), before);
});

test('variables of a real market do not apply', async (context) => {
  const data = join(temporaryDirectory(context), 'real');
  setVariables(context, { MARKETPLACE_DATA_FOLDER: data, MARKETPLACE_SERVER_LISTEN: '192.0.2.1:1' });
  const sandbox = await Sandbox.start({ settings: { 'sandbox.max_worlds': 1 } });
  await sandbox.createWorld();
  await assert.rejects(sandbox.createWorld(), /too_many_worlds/);
  assert.equal(sandbox.server.log(), '');
  const { pid } = sandbox.server;
  assert.ok(isRunning(pid));
  await sandbox.close();
  await sandbox.close();
  assert.ok(!isRunning(pid) && !fs.existsSync(data));
  assert.equal(sandbox.server.log(), '');
});

test('killed process leaves no server', async (context) => {
  const data = join(temporaryDirectory(context), 'tmp');
  fs.mkdirSync(data);
  const script = `
    import { Sandbox } from 'marketplace-sandbox';
    const { server } = await Sandbox.start();
    console.log(server.pid);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: here,
    env: { ...process.env, TMPDIR: data },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  assert.ok(isRunning(Number(line)));
  child.kill('SIGKILL');
  await once(child, 'exit');
  await waitForEnd(Number(line));
  assert.deepEqual(fs.readdirSync(data).filter((name) => name.startsWith('marketplace-')), []);
});

test('process that does not close its sandbox ends all the same', async () => {
  const script = `
    import { Sandbox } from 'marketplace-sandbox';
    const { server } = await Sandbox.start();
    console.log(server.pid);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: here,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[line], [code]] = await Promise.all([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit'),
  ]);
  assert.equal(code, 0);
  await waitForEnd(Number(line));
});

test('command passes signals on, and its status back', async () => {
  for (const [parameters, expected] of [[['--version'], 0], [['sreve'], 2]]) {
    const [code] = await once(spawn(command, parameters, { stdio: 'ignore' }), 'exit');
    assert.equal(code, expected);
  }
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const child = spawn(command, serve, { stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout });
    const [line] = await once(lines, 'line');
    assert.match(line, /^listening on /);
    const children = fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    const server = Number(children.trim());
    child.kill(signal);
    // The server ended by itself, so the command did, too.
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    assert.ok(!isRunning(server));
  }
});

test('command ends by the signal that ends the program', async () => {
  const child = spawn(command, serve, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(createInterface({ input: child.stdout }), 'line');
  const server = Number(fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
  const ended = once(child, 'exit');
  process.kill(server, 'SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  const killed = spawn(command, serve, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(createInterface({ input: killed.stdout }), 'line');
  const program = Number(fs.readFileSync(`/proc/${killed.pid}/task/${killed.pid}/children`, 'utf8').trim());
  const exit = once(killed, 'exit');
  process.kill(program, 'SIGKILL');
  assert.deepEqual(await exit, [null, 'SIGKILL']);
});
