// Each test has a world of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { withWorld } from 'marketplace-sandbox/node-test';

import { SalesReport } from './sales-report.js';

const LISTING = 'ec363ec8-bc2c-5fba-adf4-afed3dea02b0';
const BUYER_TEAM = '57d9aaca-90f7-528c-aff6-0b974cabd171';

/** Returns the report of the vendor in a world, and the pauses that it makes. Nothing waits for them. */
function reportIn(world) {
  const pauses = [];
  const pause = (seconds) => pauses.push(seconds);
  const report = new SalesReport(world.baseUrl, 'mkt_demo_vendor', { pause });
  return { report, pauses };
}

/** Publishes a listing that waits for a review, and sells it to the buyer of the demo market. */
async function sellListing(world) {
  await world.operator.post(`/operator/v1/listings/${LISTING}/approve`);
  await world.operator.post(`/operator/v1/listings/${LISTING}/publish`);
  const purchase = { team_id: BUYER_TEAM, listing_id: LISTING, kind: 'full', pay_with: 'credits' };
  await world.operator.post('/operator/v1/purchases', purchase);
}

test('sale is reported', withWorld(async (world) => {
  const { report } = reportIn(world);
  const before = await report.soldTitles();
  await sellListing(world);
  const title = 'Stave: music notation editor in Objective-C, 17 years by one small team';
  assert.deepEqual(await report.soldTitles(), [title, ...before]);
}));

test('earnings are available after the hold', withWorld(async (world) => {
  const { report } = reportIn(world);
  await world.advance('30d');
  const before = await report.availableEarnings();
  await sellListing(world);
  assert.equal(await report.availableEarnings(), before);
  await world.advance('7d');
  assert.equal(await report.availableEarnings(), before + 13_410);
}));

test('report waits while the market is unavailable', withWorld(async (world) => {
  const { report, pauses } = reportIn(world);
  await world.faults.add({ operation: 'get_wallet', next: 2 }, { status: 503, code: 'at_capacity' });
  assert.ok((await report.availableEarnings()) > 0);
  assert.equal(pauses.length, 2);
  await world.expect({ operation: 'get_wallet' }, 3);
}));

test('report gives up', withWorld(async (world) => {
  await world.faults.add({ operation: 'get_wallet' }, { status: 503, code: 'at_capacity' });
  await assert.rejects(reportIn(world).report.availableEarnings(), /503/);
}));

test('webhook announces a sale', withWorld(async (world) => {
  const webhook = { url: 'https://reports.example.com/sales', event_types: ['purchase.completed'] };
  const { secret } = await world.operator.post('/operator/v1/webhooks', webhook);
  await sellListing(world);
  const event = (await world.inbox.wait('purchase.completed')).verify(secret);
  assert.equal(event.data.listing_id, LISTING);
}));
