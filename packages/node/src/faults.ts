// Failures on demand.

import type { World } from './worlds.js';

/** A fault of a world. */
export interface Fault {
  id: string;
  /** The requests that it applies to. */
  match: Record<string, unknown>;
  /** What becomes of them. */
  then: Record<string, unknown>;
}

/** The faults of a world. Of those that match a request, the first one applies. */
export class Faults {
  constructor(private readonly world: World) {}

  /**
   * Adds a fault: `world.faults.add({operation: 'get_wallet', next: 1}, {status: 503})`. `force` permits a status and code
   * that the document of the operation does not name.
   */
  async add(match: Record<string, unknown>, then: Record<string, unknown>, force?: boolean): Promise<Fault> {
    return (await this.world.sandboxRequest('POST', '/faults', { json: { match, then, force } })).json();
  }

  /** Returns all faults, in their order. */
  async list(): Promise<Fault[]> {
    return (await this.world.sandboxRequest('GET', '/faults')).json().items;
  }

  /** Removes a fault. */
  async remove(fault: Fault | string): Promise<void> {
    const id = typeof fault === 'string' ? fault : fault.id;
    await this.world.sandboxRequest('DELETE', `/faults/${encodeURIComponent(id)}`);
  }

  /** Removes all faults. */
  async clear(): Promise<void> {
    await this.world.sandboxRequest('DELETE', '/faults');
  }
}
