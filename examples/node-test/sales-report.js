// Reports what a vendor sells and earns. It stands for the client that you want to test.

import { setTimeout } from 'node:timers/promises';

/** Reads the market with the key of a vendor. Requests are repeated while the market is unavailable. */
export class SalesReport {
  constructor(baseUrl, key, { attempts = 3, pause = (seconds) => setTimeout(1000 * seconds) } = {}) {
    Object.assign(this, { baseUrl, key, attempts, pause });
  }

  /** Returns what the vendor can withdraw. */
  async availableEarnings() {
    return Number((await this.#get('/v2/wallet')).earnings.available);
  }

  /** Returns the titles of the listings that were sold, the latest first. */
  async soldTitles() {
    const { sales } = await this.#get('/v2/listings/sales');
    return sales.map((sale) => sale.listing_title);
  }

  async #get(path) {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(this.baseUrl + path, { headers: { authorization: `Bearer ${this.key}` } });
      if (response.ok) return response.json();
      if (response.status !== 503 || attempt === this.attempts) {
        throw new Error(`The market responded with ${response.status}: ${await response.text()}`);
      }
      await this.pause(Number(response.headers.get('retry-after') ?? 1));
    }
  }
}
