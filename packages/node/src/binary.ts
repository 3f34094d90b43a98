// Where the program is.

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

import { BinaryNotFoundError } from './errors.js';

/** Variable with the path of the program. */
const BINARY_VARIABLE = 'MARKETPLACE_BIN';

const PROGRAM = 'marketplace';

/** The package with the program for each platform. */
const PLATFORM_PACKAGES: Record<string, string> = { 'linux-x64': '@marketplace-sandbox/linux-x64-gnu' };

/**
 * Returns the path of the program: that of the variable `MARKETPLACE_BIN`, of the package for this platform,
 * or in PATH. Throws a `BinaryNotFoundError` if there is none.
 */
export function findBinary(): string {
  const given = process.env[BINARY_VARIABLE];
  if (given) {
    if (!isExecutable(given)) {
      throw new BinaryNotFoundError(`${BINARY_VARIABLE} is ${given}, which is no executable file.`);
    }
    return given;
  }
  const platform = `${process.platform}-${process.arch}`;
  const name = PLATFORM_PACKAGES[platform];
  const found = (name && findInPackage(name)) || findInPath();
  if (found) return found;
  const reason = name
    ? `The package ${name} is not installed. Install optional dependencies, too.`
    : `There is no package with the program for ${platform}.`;
  throw new BinaryNotFoundError(
    `${reason} Nor is \`${PROGRAM}\` in PATH. You can also set ${BINARY_VARIABLE} to its path.`,
  );
}

function findInPackage(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/${PROGRAM}`);
  } catch {
    return undefined;
  }
}

function findInPath(): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const candidates = directories.map((directory) => join(directory, PROGRAM));
  // The command of this package has the same name, and itself looks for the program.
  return candidates.find((path) => isExecutable(path) && !realpathSync(path).endsWith('.js'));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
