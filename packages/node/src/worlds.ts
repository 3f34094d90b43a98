// A sandbox: a server that has worlds, which are private copies of a market.

import { Client } from './client.js';
import { Clock, type ClockChange, type ClockMode } from './clocks.js';
import { ApiError, ExpectationError, isUnmetExpectation, SandboxError } from './errors.js';
import { type Fault, Faults } from './faults.js';
import { Inbox } from './inboxes.js';
import {
  LONG_TIMEOUT,
  type Query,
  type RequestParts,
  requireSuccess,
  type SandboxResponse,
  send,
} from './requests.js';
import { Server, type ServerOptions } from './server.js';
import { readSnapshot, type Snapshot } from './snapshots.js';

/** Operator key of the demo market. */
const DEMO_OPERATOR = 'mkt_demo_operator';

/** Seconds after which a world on a server that outlives this process ends by itself. */
const SHARED_TTL = 3600;

/** Keys of the demo market, by the name of the client. */
const DEMO_KEYS = { vendor: 'mkt_demo_vendor', buyer: 'mkt_demo_buyer' };

const OPERATOR = 'an operator of the marketplace';

/** An API key that is valid when a world begins. */
export interface WorldKey {
  key: string;
  /** Who it acts for. */
  description: string;
}

/** Which calls an expectation counts. All that is set must match. */
export interface CallMatch {
  /** ID of the operation, `operationId` in the documents. */
  operation?: string;
  /** The API of the operation. An operation that vendors and buyers share matches both. */
  api?: 'vendor' | 'buyer' | 'operator';
  method?: string;
  /** Path in the world, in which `*` matches any text. */
  path?: string;
  /** ID or name of the team whose key the request had. */
  team?: string;
  query?: Record<string, string | number | boolean>;
  headers?: Record<string, string>;
  /** HTTP status of the answer. */
  status?: number;
  /** Error code of the answer. */
  code?: string;
  /** A part of the JSON body of the request. */
  body?: unknown;
}

/** How many calls an expectation permits. */
export interface CallRange {
  atLeast?: number;
  atMost?: number;
}

/** A private copy of a market, with a clock of its own. */
export class World {
  readonly id: string;
  readonly name: string;
  /** What the server has at `/X`, the world has at this address with `/X` at the end. */
  readonly baseUrl: string;
  /** Address of the port that only this world has, if it was created with `port: true`. */
  readonly portUrl: string | null;
  /** Time at which the world began. */
  readonly startedAt: Date;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly inbox: Inbox;
  /** The part of the sandbox API that belongs to this world. */
  readonly #api: Client;
  #details: any;

  constructor(
    readonly sandbox: Sandbox,
    details: any,
  ) {
    this.#details = details;
    this.id = details.id;
    this.name = details.name;
    this.baseUrl = details.base_url;
    this.portUrl = details.port_url;
    this.startedAt = new Date(details.now);
    this.#api = new Client(`${sandbox.apiUrl}/worlds/${encodeURIComponent(this.name)}`, sandbox.key);
    this.clock = new Clock(this.#api);
    this.faults = new Faults(this.#api);
    this.inbox = new Inbox(this.#api);
  }

  /** The world as the server described it when it was created, or when its state was last replaced. */
  get details(): any {
    return this.#details;
  }

  /** The API keys that are valid when the world begins. */
  get keys(): WorldKey[] {
    return this.#details.keys;
  }

  /**
   * Advances the clock, by a text such as `30d` or by milliseconds, and carries out everything that is due.
   */
  advance(duration: string | number): Promise<ClockChange> {
    return this.clock.advance(duration);
  }

  /** Returns a client with an API key. Without a key, requests are anonymous. */
  client(key?: string): Client {
    return new Client(this.baseUrl, key);
  }

  /** A client for the vendor of the demo market. */
  get vendor(): Client {
    return this.client(this.demoKey('vendor'));
  }

  /** A client for the buyer of the demo market. */
  get buyer(): Client {
    return this.client(this.demoKey('buyer'));
  }

  /** A client for an operator of the market. */
  get operator(): Client {
    const found = this.keys.find(({ description }) => description === OPERATOR);
    if (!found) throw new SandboxError(`${this.name} began without an operator key.`);
    return this.client(found.key);
  }

  /** Returns the world to where it was forked: data, clock, and settings. */
  async reset(): Promise<void> {
    this.#details = (await this.sandboxRequest('POST', '/reset', { timeout: LONG_TIMEOUT })).json();
  }

  /** Keeps the state under a name. `createWorld({from: name})` forks it, also after this world has ended. */
  async snapshot(name: string): Promise<Snapshot> {
    const parts = { json: { name }, timeout: LONG_TIMEOUT };
    return readSnapshot((await this.sandboxRequest('POST', '/snapshots', parts)).json());
  }

  /** Returns the state as a ZIP archive, which `importState` accepts. */
  async export(): Promise<Buffer> {
    return (await this.sandboxRequest('GET', '/export', { timeout: LONG_TIMEOUT })).body;
  }

  /** Replaces the state by the state of an exported world. */
  async importState(archive: Uint8Array): Promise<void> {
    const headers = { 'content-type': 'application/zip' };
    const parts = { body: archive, headers, timeout: LONG_TIMEOUT };
    this.#details = (await this.sandboxRequest('POST', '/import', parts)).json();
  }

  /** Adds a repository, such as `acme/billing`, from a Git bundle or from a zip of a bare repository. */
  async addRepository(fullName: string, content: Uint8Array): Promise<any> {
    const path = `/repositories/${fullName.split('/').map(encodeURIComponent).join('/')}`;
    const headers = { 'content-type': 'application/octet-stream' };
    return (await this.sandboxRequest('PUT', path, { body: content, headers })).json();
  }

  /**
   * Returns the requests to the world with their answers, the oldest first. Without `limit`, returns all. The
   * query is that of the sandbox API, such as `{operation: 'get_wallet', status: 200}`.
   */
  async journal(query: Query = {}): Promise<any[]> {
    const hasLimit = query.limit !== undefined && query.limit !== null;
    const entries: any[] = [];
    let after = query.after;
    // Requests that arrive meanwhile do not count.
    let end: number | undefined;
    for (;;) {
      const page = (await this.sandboxRequest('GET', '/journal', { query: { ...query, after } })).json();
      end ??= page.last as number;
      entries.push(...page.items);
      after = page.items.at(-1)?.number ?? end;
      if (hasLimit || (after as number) >= end) return entries;
    }
  }

  /**
   * Checks how often the world was called: `world.expect({operation: 'create_codebase'}, 1)`. Returns the number
   * of calls that match, or throws an `ExpectationError` with the nearest calls. Without a number, one call is
   * enough.
   */
  async expect(match: CallMatch, times: number | CallRange = {}): Promise<number> {
    const range = typeof times === 'number' ? { times } : { at_least: times.atLeast, at_most: times.atMost };
    try {
      const met = await this.sandboxRequest('POST', '/expectations', { json: { match, ...range } });
      return met.json().called;
    } catch (error) {
      if (!(error instanceof ApiError) || !isUnmetExpectation(error.body)) throw error;
      throw new ExpectationError(error.method, error.url, error.status, error.headers, error.body);
    }
  }

  /** Ends the world. Does nothing if it has ended. */
  async delete(): Promise<void> {
    try {
      await this.sandboxRequest('DELETE', '');
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'world_not_found') throw error;
    }
  }

  /** Ends the world after a test, and calls `warn` for each fault of the test that matched nothing. */
  async endTest(warn: (message: string) => void): Promise<void> {
    let unused: Fault[] = [];
    try {
      unused = await this.faults.listUnused();
    } catch (error) {
      // The test may have deleted its world.
      if (!(error instanceof ApiError) || error.code !== 'world_not_found') throw error;
    } finally {
      await this.delete();
    }
    for (const { match } of unused) warn(`The fault ${JSON.stringify(match)} of this test matched nothing.`);
  }

  /**
   * Sends a request to the part of the sandbox API that belongs to this world, such as `GET` and `/coverage`.
   */
  sandboxRequest(method: string, path: string, parts?: RequestParts): Promise<SandboxResponse> {
    return this.#api.request(method, path, parts);
  }

  private demoKey(name: keyof typeof DEMO_KEYS): string {
    const key = DEMO_KEYS[name];
    if (this.keys.some((known) => known.key === key)) return key;
    const hint = 'Create a key, and use `world.client(key)`.';
    throw new SandboxError(`${this.name} has no ${name} of the demo market. ${hint}`);
  }
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
  /** Address of the sandbox API. */
  readonly apiUrl: string;

  private constructor(
    url: string,
    readonly key: string,
    /** The process, if this object has started it. */
    readonly server?: Server,
  ) {
    this.url = url.replace(/\/+$/, '');
    this.apiUrl = `${this.url}/sandbox/v1`;
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
    // All work that is due until `now` is carried out.
    const made = await this.request('POST', '/worlds', { json, timeout: LONG_TIMEOUT });
    return new World(this, made.json());
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
    return requireSuccess(await send(method, this.apiUrl + path, { ...parts, key: this.key }));
  }
}

let ofThisProcess: Promise<Sandbox> | undefined;

/** Returns the sandbox that all tests of this process use, and starts it for the first of them. */
export function sharedSandbox(): Promise<Sandbox> {
  ofThisProcess ??= Sandbox.fromEnvironment();
  return ofThisProcess;
}

/** Ends the worlds of a test. If one of them cannot be ended, the others are ended all the same. */
export async function endWorlds(worlds: World[], warn: (message: string) => void): Promise<void> {
  const ends = await Promise.allSettled(worlds.map((world) => world.endTest(warn)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
