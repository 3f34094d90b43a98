// A small client for the APIs of a world.

import { type Query, type RequestParts, requireSuccess, type SandboxResponse, send } from './requests.js';

/** What a request consists of, apart from its method, its path, and its key. */
export type RequestOptions = Omit<RequestParts, 'key'>;

/** Sends requests to a world with one API key. Results are parsed JSON; errors are `ApiError`. */
export class Client {
  constructor(
    readonly baseUrl: string,
    readonly key: string | undefined,
  ) {}

  /** Sends a GET request. */
  async get(path: string, query?: Query): Promise<any> {
    return (await this.request('GET', path, { query })).json();
  }

  /** Sends a POST request with a JSON body. */
  async post(path: string, json?: unknown, options?: RequestOptions): Promise<any> {
    return (await this.request('POST', path, { ...options, json })).json();
  }

  /** Sends a PUT request with a JSON body. */
  async put(path: string, json?: unknown, options?: RequestOptions): Promise<any> {
    return (await this.request('PUT', path, { ...options, json })).json();
  }

  /** Sends a PATCH request with a JSON body. */
  async patch(path: string, json?: unknown, options?: RequestOptions): Promise<any> {
    return (await this.request('PATCH', path, { ...options, json })).json();
  }

  /** Sends a DELETE request. */
  async delete(path: string, options?: RequestOptions): Promise<any> {
    return (await this.request('DELETE', path, options)).json();
  }

  /** Sends a request, and returns the response. Throws an `ApiError` if it reports an error. */
  async request(method: string, path: string, options?: RequestOptions): Promise<SandboxResponse> {
    return requireSuccess(await this.send(method, path, options));
  }

  /** Sends a request, and returns the response with any status. */
  send(method: string, path: string, options?: RequestOptions): Promise<SandboxResponse> {
    return send(method, this.baseUrl + path, { ...options, key: this.key });
  }
}
