// Failures on demand.

import type { Client } from './client.js';

/** What a fault is for, and when. Without `job`, `host`, `webhook`, and `event_type`, it is for requests. */
export interface FaultMatch {
  /** ID of the operation, `operationId` in the documents. */
  operation?: string;
  /** The API of the operation. An operation that vendors and buyers share matches both. */
  api?: 'vendor' | 'buyer' | 'operator';
  /** Path in the world, such as `/v2/wallet`; with `*` at the end, all that begin so. */
  path?: string;
  /** ID or name of the team whose key the request has. */
  team?: string;
  /** Kind of a background job, or `*` for all jobs. */
  job?: string;
  /** Host of repositories, such as `github.com`. */
  host?: string;
  /** URL of a webhook; with `*` at the end, all that begin so. */
  webhook?: string;
  /** Type of the event that a webhook gets. */
  event_type?: string;
  /** Only the case with this number, counted from 1. */
  nth?: number;
  /** Only so many cases. */
  next?: number;
  /** Share of the cases, from 0 to 1. Which they are follows from the seed of the world. */
  share?: number;
  /** Time of the world from which the fault applies. */
  from?: Date | string;
  /** Time of the world from which the fault does not apply any more. */
  until?: Date | string;
}

/** What a fault does. */
export interface FaultEffect {
  /**
   * Of requests: status of the answer, without executing the request. Of webhooks: status with which it
   * answers.
   */
  status?: number;
  /** Error code of the answer. It may be absent if the documents name only one for the status. */
  code?: string;
  /** Delay of the response in milliseconds of the machine's time: a number, or the least and the greatest. */
  delay_ms?: number | [number, number];
  /** Rate at which the body of the response is sent. */
  body_bytes_per_second?: number;
  /** Where the connection is closed. */
  cut?: 'before' | 'headers' | 'body' | 'after_write';
  /** Whether nothing follows the first part of the body or of the stream. */
  stall?: boolean;
  /** Of jobs: whether an attempt fails. */
  fail?: boolean;
  /** Of hosts: whether the host cannot be reached. */
  unreachable?: boolean;
  /** Of webhooks: whether the message is lost. */
  lost?: boolean;
  /** Of webhooks: whether the message arrives twice. */
  duplicate?: boolean;
}

/** A fault of a world. */
export interface Fault {
  id: string;
  match: FaultMatch;
  then: FaultEffect;
  /** Number of cases in which its conditions were met. */
  matched: number;
  /** Number of these in which it took effect, since no earlier fault did. */
  used: number;
}

/** The faults of a world. If several match, the first one that was added applies. */
export class Faults {
  #isUsed = false;

  constructor(private readonly api: Client) {}

  /**
   * Adds a fault: `world.faults.add({operation: 'get_wallet', next: 1}, {status: 503, code: 'at_capacity'})`.
   * `force` permits a status and a code that the document of the operation does not name.
   */
  async add(match: FaultMatch, then: FaultEffect, { force }: { force?: boolean } = {}): Promise<Fault> {
    const added = await this.api.request('POST', '/faults', { json: { match, then, force } });
    this.#isUsed = true;
    return readFault(added.json());
  }

  /**
   * Returns the faults, in the order in which they were added, optionally only those that matched nothing.
   */
  async list({ unmatched }: { unmatched?: boolean } = {}): Promise<Fault[]> {
    const listed = await this.api.request('GET', '/faults', { query: { unmatched } });
    return listed.json().items.map(readFault);
  }

  /**
   * Returns the faults that matched nothing, of a world to which this object has added some. A test that
   * leaves one has not tested what it states.
   */
  async listUnused(): Promise<Fault[]> {
    return this.#isUsed ? this.list({ unmatched: true }) : [];
  }

  /** Removes a fault. */
  async remove(fault: Fault | string): Promise<void> {
    const id = typeof fault === 'string' ? fault : fault.id;
    await this.api.request('DELETE', `/faults/${encodeURIComponent(id)}`);
  }

  /** Removes all faults. */
  async clear(): Promise<void> {
    await this.api.request('DELETE', '/faults');
  }
}

/** Reads a fault of a response. Leaves out fields without a value. */
function readFault({ id, match, then, matched, used }: any): Fault {
  const given = (fields: object) => {
    const isGiven = ([, value]: [string, unknown]) => value !== null && value !== false;
    return Object.fromEntries(Object.entries(fields).filter(isGiven));
  };
  return { id, match: given(match), then: given(then), matched, used };
}
