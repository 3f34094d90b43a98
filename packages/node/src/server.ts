// The process of a server. It ends with this process, however this one ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { findBinary } from './binary.js';
import { ServerStartError } from './errors.js';

/** Milliseconds that a server may take until it accepts connections. */
const START_TIMEOUT = 60_000;

/** Milliseconds that a server may take to end. */
const STOP_TIMEOUT = 20_000;

/** Prefix of the variables that are settings of the program. */
const SETTINGS_PREFIX = 'MARKETPLACE_';

/** Beginning of the line with the address of the server. */
const ADDRESS = 'listening on ';

/** How a server is started. */
export interface ServerOptions {
  /** Path of the program; `findBinary()` if absent. */
  binary?: string;
  /** Settings of the program by key, such as `{'sandbox.max_worlds': 50}`. */
  settings?: Record<string, string | number | boolean>;
}

/** A server with the demo market, on a free port of this machine. */
export class Server {
  private lastLog = '';

  private constructor(
    private readonly process: ChildProcess,
    private logFile: number | undefined,
    /** Address of the server. */
    readonly url: string,
  ) {}

  /** Starts a server, and waits until it accepts connections. It does not keep this process from ending. */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const program = options.binary ?? findBinary();
    const logFile = openLog();
    let started: ChildProcess | undefined;
    try {
      started = spawn(
        program,
        ['serve', '--demo', '--listen', '127.0.0.1:0', '--until-stdin-closes', '--config', devNull],
        {
          stdio: ['pipe', 'pipe', logFile],
          env: variables({ 'log.filter': 'warn', ...options.settings }),
          // Ctrl-C goes to the tests alone, which still need the server to clean up.
          detached: true,
        },
      );
      const url = await readAddress(started);
      const server = new Server(started, logFile, url);
      started.unref();
      // These are sockets, which can be unreferenced, too.
      for (const stream of started.stdio) (stream as { unref?: () => void } | null)?.unref?.();
      return server;
    } catch (cause) {
      started?.kill('SIGKILL');
      const message = cause instanceof Error ? cause.message : String(cause);
      const log = readLog(logFile);
      closeSync(logFile);
      throw new ServerStartError(`${program}: ${message}\n${log}`, { cause });
    }
  }

  /** ID of the process. */
  get pid(): number {
    return this.process.pid ?? 0;
  }

  /**
   * Returns what the server has logged: warnings and errors, unless the setting `log.filter` is another one.
   */
  log(): string {
    return this.logFile === undefined ? this.lastLog : readLog(this.logFile);
  }

  /** Ends the server, and waits until it has ended. */
  async stop(): Promise<void> {
    const { process: started } = this;
    if (started.exitCode === null && started.signalCode === null) {
      const ended = once(started, 'exit');
      started.ref();
      const timer = setTimeout(() => started.kill('SIGKILL'), STOP_TIMEOUT);
      started.stdin?.destroy();
      await ended;
      clearTimeout(timer);
    }
    this.lastLog = this.log();
    if (this.logFile !== undefined) closeSync(this.logFile);
    this.logFile = undefined;
  }
}

/** Creates a file without a name, which the system deletes with the processes that have it. */
function openLog(): number {
  const directory = mkdtempSync(join(tmpdir(), 'marketplace-log-'));
  try {
    return openSync(join(directory, 'log'), 'w+');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function readLog(file: number): string {
  const buffer = Buffer.alloc(fstatSync(file).size);
  return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, 0));
}

/** Returns the address in the first line that a server prints. */
async function readAddress(started: ChildProcess): Promise<string> {
  const { stdout } = started;
  if (!stdout) throw new Error('it could not be started');
  let timer: NodeJS.Timeout | undefined;
  try {
    const line = await new Promise<string>((resolve, reject) => {
      const late = () => reject(new Error(`it has not started within ${START_TIMEOUT} ms`));
      timer = setTimeout(late, START_TIMEOUT);
      started.once('error', reject);
      started.once('exit', (code, signal) => reject(new Error(`it ended with ${code ?? signal}`)));
      createInterface({ input: stdout }).once('line', resolve);
    });
    if (!line.startsWith(ADDRESS)) throw new Error(`it printed '${line}' instead of its address`);
    return line.slice(ADDRESS.length);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the variables of a server. Those of a real market do not apply. */
function variables(settings: Record<string, string | number | boolean>): Record<string, string | undefined> {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith(SETTINGS_PREFIX));
  const own = Object.entries(settings).map(([key, value]) => {
    return [SETTINGS_PREFIX + key.replaceAll('.', '_').toUpperCase(), String(value)];
  });
  return Object.fromEntries([...others, ...own]);
}
