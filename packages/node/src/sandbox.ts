// A sandbox: a server that has worlds.

import type { ClockMode } from './clocks.js';
import { SandboxError } from './errors.js';
import { type RequestParts, requireSuccess, type SandboxResponse, send } from './requests.js';
import { Server, type ServerOptions } from './server.js';
import { World } from './worlds.js';

/** Operator key of the demo market. */
const DEMO_OPERATOR = 'mkt_demo_operator';

/** Seconds after which a world on a server that outlives this process ends by itself. */
const SHARED_TTL = 3600;

/** A state of a world that other worlds can be forked from. */
export interface Snapshot {
  name: string;
  /** Name of the world that it was made from. */
  world: string;
  now: Date;
}

/**
 * How a world is created. What is absent is as the sandbox API documents it: a frozen copy of the demo
 * market.
 */
export interface WorldOptions {
  name?: string;
  /** `demo`, `empty`, `market`, or the name of a snapshot or of another world. */
  from?: string;
  now?: Date | string;
  clock?: ClockMode;
  seed?: number;
  ttlSeconds?: number;
  settings?: Record<string, unknown>;
  jobs?: 'before_requests' | 'on_advance';
  webhooks?: 'inbox' | 'send';
  port?: boolean;
}

/** A server that has worlds. */
export class Sandbox {
  readonly url: string;

  private constructor(
    url: string,
    readonly key: string,
    /** The process, if this object has started it. */
    readonly server?: Server,
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  /** Starts a server on a free port. It ends with this process at the latest, even if this is killed. */
  static async start(options?: ServerOptions): Promise<Sandbox> {
    const server = await Server.start(options);
    return new Sandbox(server.url, DEMO_OPERATOR, server);
  }

  /** Uses a running server that has a sandbox, with an operator key of it. */
  static connect(url: string, key: string): Sandbox {
    return new Sandbox(url, key);
  }

  /** Uses the server of `MARKETPLACE_OPERATOR_URL`, with `MARKETPLACE_OPERATOR_KEY`, or else starts one. */
  static async fromEnvironment(): Promise<Sandbox> {
    const { MARKETPLACE_OPERATOR_URL: url, MARKETPLACE_OPERATOR_KEY: key } = process.env;
    if (!url) return Sandbox.start();
    if (!key) {
      throw new SandboxError(
        'MARKETPLACE_OPERATOR_URL is set. Set MARKETPLACE_OPERATOR_KEY to an operator key of it, too.',
      );
    }
    return Sandbox.connect(url, key);
  }

  /** Ends the server, if this object has started it. */
  async close(): Promise<void> {
    await this.server?.stop();
  }

  /** Creates a world. */
  async createWorld(options: WorldOptions = {}): Promise<World> {
    const { ttlSeconds = this.server ? undefined : SHARED_TTL, ...others } = options;
    const json = { ...others, ttl_seconds: ttlSeconds };
    return new World(this, (await this.request('POST', '/worlds', { json })).json());
  }

  /** Returns a world that exists. */
  async world(name: string): Promise<World> {
    return new World(this, (await this.request('GET', `/worlds/${encodeURIComponent(name)}`)).json());
  }

  /** Returns all worlds. */
  async worlds(): Promise<World[]> {
    const { items } = (await this.request('GET', '/worlds')).json();
    return items.map((details: any) => new World(this, details));
  }

  /** Returns the snapshots of all worlds. */
  async snapshots(): Promise<Snapshot[]> {
    return (await this.request('GET', '/snapshots')).json().items.map(readSnapshot);
  }

  /** Deletes a snapshot. Worlds that were forked from it stay. */
  async deleteSnapshot(name: string): Promise<void> {
    await this.request('DELETE', `/snapshots/${encodeURIComponent(name)}`);
  }

  /** Sends a request to the sandbox API. Throws an `ApiError` if the response reports an error. */
  async request(method: string, path: string, parts?: RequestParts): Promise<SandboxResponse> {
    return requireSuccess(await send(method, `${this.url}/sandbox/v1${path}`, { ...parts, key: this.key }));
  }
}

/** Reads a snapshot of a response. */
export function readSnapshot({ name, world, now }: { name: string; world: string; now: string }): Snapshot {
  return { name, world, now: new Date(now) };
}

let ofThisProcess: Promise<Sandbox> | undefined;

/** Returns the sandbox that all tests of this process use, and starts it for the first of them. */
export function sharedSandbox(): Promise<Sandbox> {
  ofThisProcess ??= Sandbox.fromEnvironment();
  return ofThisProcess;
}
