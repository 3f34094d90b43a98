// States of worlds that other worlds can be forked from.

/** A state of a world that other worlds can be forked from. */
export interface Snapshot {
  name: string;
  /** Name of the world that it was made from. */
  world: string;
  now: Date;
}

/** Reads a snapshot of a response. */
export function readSnapshot({ name, world, now }: { name: string; world: string; now: string }): Snapshot {
  return { name, world, now: new Date(now) };
}
