// Requests. Each has a connection of its own, so a fault that cuts a connection concerns one request.

import * as http from 'node:http';
import * as https from 'node:https';

import { ApiError, ConnectionCutError } from './errors.js';

/** Milliseconds without a byte from the server after which a request fails. */
const DEFAULT_TIMEOUT = 60_000;

/** The same for requests that carry out all due work, or that copy the state of a world. */
export const LONG_TIMEOUT = 3_600_000;

/**
 * Query parameters. Those that are undefined or null are left out; an array is one parameter for each
 * element, and a `Date` is the time as the server writes it.
 */
export type Query = Record<string, unknown>;

/** What a request consists of, apart from its method and its URL. */
export interface RequestParts {
  /** API key; anonymous without. */
  key?: string | undefined;
  query?: Query | undefined;
  /** A body that is sent as JSON. */
  json?: unknown;
  /** A body that is sent as it is. */
  body?: Uint8Array | string | undefined;
  headers?: Record<string, string> | undefined;
  /** Milliseconds without a byte from the server after which the request fails; 60,000 if absent. */
  timeout?: number | undefined;
}

/** A response to a request, with any status. */
export interface SandboxResponse {
  method: string;
  url: string;
  status: number;
  /** Headers, with lowercase names. */
  headers: Record<string, string>;
  body: Buffer;
  /** Returns the parsed body; undefined if there is none. */
  json(): any;
}

/**
 * Sends a request, and returns the response. Throws a `ConnectionCutError` if it does not arrive completely.
 */
export function send(method: string, url: string, parts: RequestParts = {}): Promise<SandboxResponse> {
  const target = new URL(url);
  for (const [name, value] of Object.entries(parts.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === undefined || one === null) continue;
      target.searchParams.append(name, one instanceof Date ? one.toISOString() : String(one));
    }
  }
  const body = parts.json === undefined ? parts.body : JSON.stringify(parts.json);
  const headers: Record<string, string | number> = { accept: 'application/json' };
  if (parts.key !== undefined) headers.authorization = `Bearer ${parts.key}`;
  if (parts.json !== undefined) headers['content-type'] = 'application/json';
  if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
  Object.assign(headers, parts.headers);
  const { request } = target.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      const message = `${method} ${url}: the connection ended early (${cause.message})`;
      const isCut = 'code' in cause && /^(ECONNRESET|EPIPE|HPE_.*)$/.test(String(cause.code));
      reject(isCut ? new ConnectionCutError(message, { cause }) : cause);
    };
    const { timeout = DEFAULT_TIMEOUT } = parts;
    const sent = request(target, { method, headers, agent: false, timeout });
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${url}: no response in time`)));
    sent.on('error', fail);
    sent.on('response', (received) => {
      const chunks: Buffer[] = [];
      received.on('data', (chunk: Buffer) => chunks.push(chunk));
      received.on('error', fail);
      received.on('end', () => {
        const status = received.statusCode ?? 0;
        resolve(response(method, url, status, flatten(received.headers), Buffer.concat(chunks)));
      });
    });
    sent.end(body);
  });
}

/** Returns the response, or throws an `ApiError` if it reports an error. */
export function requireSuccess(received: SandboxResponse): SandboxResponse {
  const { method, url, status, headers, body } = received;
  if (status < 400) return received;
  let parsed: unknown;
  try {
    parsed = received.json();
  } catch {
    parsed = body.toString();
  }
  throw new ApiError(method, url, status, headers, parsed);
}

function response(
  method: string,
  url: string,
  status: number,
  headers: Record<string, string>,
  body: Buffer,
): SandboxResponse {
  const json = () => (body.length > 0 ? JSON.parse(body.toString()) : undefined);
  return { method, url, status, headers, body, json };
}

function flatten(headers: http.IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return Object.fromEntries(entries);
}
