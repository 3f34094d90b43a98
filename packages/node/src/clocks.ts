// The clock of a world.

import type { Client } from './client.js';
import { LONG_TIMEOUT } from './requests.js';

export type ClockMode = 'frozen' | 'running';

/** Something that was due, and was carried out. */
export interface DoneWork {
  /** `step` for a change that time alone makes, `job` for background work, or `delivery` to a webhook. */
  group: string;
  kind: string;
  subjectId: string | null;
  dueAt: Date;
  outcome: string;
}

/** The clock after a change, with what was carried out. */
export interface ClockChange {
  now: Date;
  mode: ClockMode;
  /** In the order in which it was due, up to 1,000 pieces of work. */
  done: DoneWork[];
  /** Number of pieces of work that were carried out. */
  doneTotal: number;
}

/** The clock of a world. It never goes back; reset the world, or create another one. */
export class Clock {
  constructor(private readonly api: Client) {}

  /** Returns the time of the world. */
  async now(): Promise<Date> {
    return new Date((await this.api.request('GET', '/clock')).json().now);
  }

  /** Returns whether the clock runs. */
  async mode(): Promise<ClockMode> {
    return (await this.api.request('GET', '/clock')).json().mode;
  }

  /**
   * Advances the clock, by a text such as `30d` or `1h30m` or by milliseconds. First carries out what is due.
   */
  advance(duration: string | number): Promise<ClockChange> {
    return this.change({ advance: typeof duration === 'number' ? `${Math.floor(duration)}ms` : duration });
  }

  /** Sets the clock to a time that is not before its time now. First carries out what is due. */
  set(time: Date | string): Promise<ClockChange> {
    return this.change({ set: typeof time === 'string' ? time : time.toISOString() });
  }

  /** Makes the clock run as fast as the clock of the machine. */
  async run(): Promise<void> {
    await this.change({ mode: 'running' });
  }

  /** Stops the clock. From then on, only a write moves it, by a millisecond. */
  async freeze(): Promise<void> {
    await this.change({ mode: 'frozen' });
  }

  private async change(change: Record<string, string>): Promise<ClockChange> {
    const changed = await this.api.request('POST', '/clock', { json: change, timeout: LONG_TIMEOUT });
    const { now, mode, done, done_total } = changed.json();
    const work = done.map((one: any) => {
      const { group, kind, subject_id, due_at, outcome } = one;
      return { group, kind, subjectId: subject_id, dueAt: new Date(due_at), outcome };
    });
    return { now: new Date(now), mode, done: work, doneTotal: done_total };
  }
}
