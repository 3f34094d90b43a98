// Each test has a world of its own.

import type { World } from 'marketplace-sandbox';
import { test as base } from 'marketplace-sandbox/vitest';
import { expect } from 'vitest';

import { SalesReport } from '../src/sales-report.js';

const LISTING = 'ec363ec8-bc2c-5fba-adf4-afed3dea02b0';
const BUYER_TEAM = '57d9aaca-90f7-528c-aff6-0b974cabd171';

/** The pauses that the report has made, in seconds, for which nothing waits, and the report of the vendor. */
const test = base.extend<{ pauses: number[]; report: SalesReport }>({
  pauses: async ({}, use) => use([]),
  report: async ({ world, pauses }, use) => {
    await use(new SalesReport(world.baseUrl, 'mkt_demo_vendor', (seconds) => pauses.push(seconds)));
  },
});

/** Publishes a listing that waits for a review, and sells it to the buyer of the demo market. */
async function sellListing(world: World): Promise<void> {
  await world.operator.post(`/operator/v1/listings/${LISTING}/approve`);
  await world.operator.post(`/operator/v1/listings/${LISTING}/publish`);
  const purchase = { team_id: BUYER_TEAM, listing_id: LISTING, kind: 'full', pay_with: 'credits' };
  await world.operator.post('/operator/v1/purchases', purchase);
}

test('sale is reported', async ({ world, report }) => {
  const before = await report.soldTitles();
  await sellListing(world);
  const title = 'Stave: music notation editor in Objective-C, 17 years by one small team';
  expect(await report.soldTitles()).toEqual([title, ...before]);
});

test('earnings are available after the hold', async ({ world, report }) => {
  await world.advance('30d');
  const before = await report.availableEarnings();
  await sellListing(world);
  expect(await report.availableEarnings()).toBe(before);
  await world.advance('7d');
  expect(await report.availableEarnings()).toBe(before + 13_410);
});

test('report waits while the market is unavailable', async ({ world, report, pauses }) => {
  await world.faults.add({ operation: 'get_wallet', next: 2 }, { status: 503, code: 'at_capacity' });
  expect(await report.availableEarnings()).toBeGreaterThan(0);
  expect(pauses).toHaveLength(2);
  await world.expect({ operation: 'get_wallet' }, 3);
});

test('report gives up', async ({ world, report }) => {
  await world.faults.add({ operation: 'get_wallet' }, { status: 503, code: 'at_capacity' });
  await expect(report.availableEarnings()).rejects.toThrow('503');
});

test('webhook announces a sale', async ({ world }) => {
  const webhook = { url: 'https://reports.example.com/sales', event_types: ['purchase.completed'] };
  const { secret } = await world.operator.post('/operator/v1/webhooks', webhook);
  await sellListing(world);
  const event = (await world.inbox.wait('purchase.completed')).verify(secret);
  expect(event.data.listing_id).toBe(LISTING);
});

base.extend({ worldOptions: { from: 'empty', now: '2026-05-01T00:00:00Z' } })(
  'world is created with other options',
  async ({ world, newWorld }) => {
    expect((await world.operator.get('/operator/v1/teams')).items).toEqual([]);
    expect((await newWorld({ seed: 2 })).details.seed).toBe(2);
  },
);
