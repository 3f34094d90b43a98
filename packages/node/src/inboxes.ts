// What the webhooks of a world got.

import type { Client } from './client.js';
import { SandboxError } from './errors.js';
import { verifyWebhook } from './signatures.js';

/** Milliseconds that one request may wait. */
const MAX_WAIT = 30_000;

/** A message to a webhook. */
export class Message {
  /** Number of the message in the world, counted from 1. */
  readonly number: number;
  readonly deliveryId: string;
  /** URL of the webhook. */
  readonly url: string;
  readonly eventType: string;
  /** Number of the attempt, counted from 1. */
  readonly attempt: number;
  /** Time of the world at which it was sent. */
  readonly sentAt: Date;
  readonly headers: Record<string, string>;
  /** The body, as it is signed. */
  readonly body: string;

  /** Reads a message of a response. */
  constructor(message: any) {
    this.number = message.number;
    this.deliveryId = message.delivery_id;
    this.url = message.url;
    this.eventType = message.event_type;
    this.attempt = message.attempt;
    this.sentAt = new Date(message.sent_at);
    this.headers = message.headers;
    this.body = message.body;
  }

  /** Returns the parsed body. */
  json(): any {
    return JSON.parse(this.body);
  }

  /** Returns the parsed body, or throws a `SignatureError` if it was not signed with this secret. */
  verify(secret: string): any {
    return verifyWebhook(secret, this.headers, this.body);
  }
}

/** Which messages are listed. */
export interface InboxQuery {
  /** Only messages with a greater number. */
  after?: number;
  /** Maximum number of messages, at most 100. */
  limit?: number;
  eventType?: string;
}

/** Which message is awaited, and for how long. */
export interface WaitOptions {
  /** Only a message with a greater number. */
  after?: number;
  /** Milliseconds to wait; 5,000 if absent. */
  timeout?: number;
}

/** The messages to the webhooks of a world. */
export class Inbox {
  constructor(private readonly api: Client) {}

  /** Returns messages, the oldest first. */
  async list({ after, limit, eventType }: InboxQuery = {}): Promise<Message[]> {
    return this.read({ after, limit, event_type: eventType });
  }

  /** Returns the first message, and waits for it. Throws a `SandboxError` with what the inbox has instead. */
  async wait(eventType?: string, { after = 0, timeout = 5_000 }: WaitOptions = {}): Promise<Message> {
    const deadline = performance.now() + timeout;
    for (;;) {
      const remaining = Math.min(Math.max(0, deadline - performance.now()), MAX_WAIT);
      const wait = `${Math.floor(remaining)}ms`;
      const [found] = await this.read({ after, limit: 1, event_type: eventType, wait });
      if (found) return found;
      if (performance.now() >= deadline) {
        const others = (await this.list({ after })).map((message) => message.eventType);
        const asked = eventType ?? 'message';
        const list = others.join(', ') || 'nothing';
        throw new SandboxError(`No ${asked} arrived within ${timeout} ms. The inbox has: ${list}`);
      }
    }
  }

  private async read(query: Record<string, unknown>): Promise<Message[]> {
    const { items } = (await this.api.request('GET', '/webhooks', { query })).json();
    return items.map((message: any) => new Message(message));
  }
}
