// Reports what a vendor sells and earns. It stands for the client that you want to test.

import { setTimeout } from 'node:timers/promises';

import type { paths } from 'marketplace-sandbox/types/vendor';
import createClient, { type Client } from 'openapi-fetch';

/** What a request returns. */
interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Reads the market with the key of a vendor. Requests are repeated while the market is unavailable. */
export class SalesReport {
  private readonly client: Client<paths>;

  constructor(
    baseUrl: string,
    key: string,
    private readonly pause: (seconds: number) => unknown = (seconds) => setTimeout(1000 * seconds),
  ) {
    this.client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });
  }

  /** Returns what the vendor can withdraw. */
  async availableEarnings(): Promise<number> {
    return Number((await this.repeated(() => this.client.GET('/v2/wallet'))).earnings.available);
  }

  /** Returns the titles of the listings that were sold, the latest first. */
  async soldTitles(): Promise<string[]> {
    const { sales } = await this.repeated(() => this.client.GET('/v2/listings/sales'));
    return sales.map((sale) => sale.listing_title);
  }

  /** Sends a request up to three times. */
  private async repeated<T>(send: () => Promise<Result<T>>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const { data, error, response } = await send();
      if (data !== undefined) return data;
      if (response.status !== 503 || attempt === 3) {
        throw new Error(`The market responded with ${response.status}: ${JSON.stringify(error)}`);
      }
      await this.pause(Number(response.headers.get('retry-after') ?? 1));
    }
  }
}
