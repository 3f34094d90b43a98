// Worlds, as tests with node:test use them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { ApiError, Sandbox, SandboxError, SignatureError, verifyWebhook } from 'marketplace-sandbox';
import { createWorld, withWorld } from 'marketplace-sandbox/node-test';

const START = new Date('2026-03-01T09:00:00Z');

// The listing of the demo market that waits for a review, and the buyer.
const LISTING = 'ec363ec8-bc2c-5fba-adf4-afed3dea02b0';
const BUYER_TEAM = '57d9aaca-90f7-528c-aff6-0b974cabd171';

const CODEBASE = { title: 'Harbour ledger', exclusivity: 'available' };

const addCodebase = (world) => world.vendor.post('/v2/codebases', CODEBASE);

/** Brings the listing from the review to the buyer. */
async function sellListing(world) {
  await world.operator.post(`/operator/v1/listings/${LISTING}/approve`);
  await world.operator.post(`/operator/v1/listings/${LISTING}/publish`);
  const purchase = { team_id: BUYER_TEAM, listing_id: LISTING, kind: 'full', pay_with: 'credits' };
  await world.operator.post('/operator/v1/purchases', purchase);
}

test('worlds do not see each other', withWorld(async (world, context) => {
  const other = await createWorld(context);
  const made = await addCodebase(world);
  assert.equal((await world.vendor.get(`/v2/codebases/${made.id}`)).title, 'Harbour ledger');
  await assert.rejects(other.vendor.get(`/v2/codebases/${made.id}`), { status: 404 });
  // The same requests get the same answers.
  assert.deepEqual(await addCodebase(other), made);
}));

test('clock is frozen and is advanced', withWorld(async (world) => {
  assert.deepEqual([world.startedAt, await world.clock.now()], [START, START]);
  const change = await world.advance('1d12h');
  assert.equal(change.now - START, 36 * 3_600_000);
  assert.ok(change.doneTotal > 0 && change.done.length === change.doneTotal);
  assert.ok(change.done.every((work, index) => index === 0 || work.dueAt >= change.done[index - 1].dueAt));
  assert.equal((await world.advance(1_500)).now - change.now, 1_500);
  assert.deepEqual((await world.clock.set(new Date('2026-04-01'))).now, new Date('2026-04-01'));
  await world.clock.run();
  assert.equal(await world.clock.mode(), 'running');
  await world.clock.freeze();
  assert.equal(await world.clock.mode(), 'frozen');
}));

test('errors show what the server said', withWorld(async (world) => {
  const past = world.clock.set(new Date('2026-02-01'));
  await assert.rejects(past, /422 body\.set: The clock is at 2026-03-01T09:00:00\.000Z, and never goes back/);
  const unknown = await world.buyer.get('/v2/walet').catch((error) => error);
  assert.ok(unknown instanceof ApiError && unknown.code === 'not_found' && unknown.headers['x-request-id']);
  assert.match(unknown.message, /404 not_found: No route matches this path/);
  assert.equal((await world.buyer.send('GET', '/v2/walet')).status, 404);
}));

const settings = { 'fees.buyer_percent': 4 };
const options = { name: 'of-options', from: 'empty', now: new Date('2026-05-01'), seed: 7, settings };
test('options state how the world is created', withWorld(options, async (world) => {
  assert.deepEqual([world.name, world.startedAt], ['of-options', new Date('2026-05-01')]);
  assert.deepEqual(world.details.settings, settings);
  assert.deepEqual((await world.operator.get('/operator/v1/teams', { limit: 1 })).items, []);
  assert.throws(() => world.buyer, /has no buyer of the demo market/);
}));

test('reset, snapshot, and file keep states', withWorld(async (world, context) => {
  const made = await addCodebase(world);
  const path = `/v2/codebases/${made.id}`;
  const snapshot = await world.snapshot(`${world.name}-with-codebase`);
  const archive = await world.export();
  const names = async () => (await world.sandbox.snapshots()).map(({ name }) => name);
  assert.ok((await names()).includes(snapshot.name));
  await world.reset();
  assert.equal((await world.vendor.send('GET', path)).status, 404);
  const fork = await createWorld(context, { from: snapshot.name });
  assert.deepEqual(await fork.vendor.get(path), made);
  await world.importState(archive);
  assert.deepEqual(await world.vendor.get(path), made);
  await world.sandbox.deleteSnapshot(snapshot.name);
  assert.ok(!(await names()).includes(snapshot.name));
}));

test('clients use the keys of the state', withWorld(async (world, context) => {
  const other = await createWorld(context, { from: 'empty' });
  const { key } = other.operator;
  await other.importState(await world.export());
  assert.deepEqual(await other.vendor.get('/v2/wallet'), await world.vendor.get('/v2/wallet'));
  assert.notDeepEqual((await other.operator.get('/operator/v1/teams')).items, []);
  assert.deepEqual(other.details.keys, world.details.keys);
  await other.reset();
  assert.equal(other.operator.key, key);
  assert.deepEqual((await other.operator.get('/operator/v1/teams')).items, []);
  assert.throws(() => other.buyer, /has no buyer of the demo market/);
}));

test('requests that carry out what is due may take an hour', withWorld(async (world, context) => {
  const timeouts = [];
  const { request } = http;
  context.mock.method(http, 'request', (target, options, ...others) => {
    timeouts.push(`${options.method} ${target.pathname.split('/').at(-1)}: ${options.timeout}`);
    return request(target, options, ...others);
  });
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  await createWorld(context, { now: '2026-03-02T09:00:00Z' });
  await world.advance('1h');
  await world.clock.now();
  await world.reset();
  assert.deepEqual(timeouts, [
    'POST worlds: 3600000',
    'POST clock: 3600000',
    'GET clock: 60000',
    'POST reset: 3600000',
  ]);
}));

test('inbox has signed messages', withWorld(async (world) => {
  const { secret } = await world.operator.post('/operator/v1/webhooks', { url: 'http://127.0.0.1:9/all' });
  assert.deepEqual(await world.inbox.list(), []);
  await sellListing(world);
  const message = await world.inbox.wait('purchase.completed');
  assert.deepEqual([message.url, message.attempt], ['http://127.0.0.1:9/all', 1]);
  assert.deepEqual(message.verify(secret), message.json());
  assert.equal(message.json().type, 'purchase.completed');
  const query = { after: message.number - 1, limit: 1, eventType: 'purchase.completed' };
  const [same] = await world.inbox.list(query);
  assert.deepEqual(same, message);
  assert.throws(() => message.verify(`whsec_${'A'.repeat(32)}`), SignatureError);
  assert.throws(() => verifyWebhook(secret, message.headers, `${message.body} `), SignatureError);
  assert.throws(() => verifyWebhook(secret, {}, message.body), /webhook-id/);
  const missing = world.inbox.wait('team.created', { timeout: 50 });
  await assert.rejects(missing, /No team\.created arrived within 50 ms.*purchase\.completed/);
}));

test('header that cannot be right is a signature error, and a wrong secret a type error', () => {
  const secret = `whsec_${'A'.repeat(32)}`;
  const right = { 'webhook-id': '1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' };
  for (const name of Object.keys(right)) {
    for (const value of ['', 'é', 'v1,é v1,€', '\udcff', 'v1,']) {
      assert.throws(() => verifyWebhook(secret, { ...right, [name]: value }, '{}'), SignatureError);
    }
  }
  for (const wrong of ['', 'whsec_', 'whsec_AAA', 'whsec_A', 'whsec_*AAA', 'whsec_é', '\udcff']) {
    assert.throws(() => verifyWebhook(wrong, right, '{}'), TypeError, wrong);
  }
});

test('repository is added', withWorld(async (world, context) => {
  const directory = mkdtempSync(join(tmpdir(), 'repository-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  const git = (...parameters) => execFileSync('git', ['-C', directory, ...author, ...parameters]);
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'First');
  git('bundle', 'create', '-q', 'b', '--all');
  const added = await world.addRepository('acme/billing', readFileSync(join(directory, 'b')));
  assert.equal(added.repo_full_name, 'acme/billing');
}));

test('port is an address without a path', withWorld({ port: true }, async (world) => {
  assert.equal(new URL(world.portUrl).pathname, '/');
  assert.notEqual(new URL(world.portUrl).port, new URL(world.baseUrl).port);
}));

test('deleted world is gone', withWorld(async (world) => {
  assert.equal((await world.sandbox.world(world.name)).id, world.id);
  assert.ok((await world.sandbox.worlds()).some(({ id }) => id === world.id));
  await world.delete();
  await world.delete();
  await assert.rejects(world.buyer.get('/v2/wallet'), { code: 'world_not_found' });
}));

test('worlds of a shared server end by themselves', withWorld(async ({ sandbox }) => {
  process.env.MARKETPLACE_OPERATOR_URL = `${sandbox.url}/`;
  after(() => delete process.env.MARKETPLACE_OPERATOR_URL);
  await assert.rejects(Sandbox.fromEnvironment(), SandboxError);
  process.env.MARKETPLACE_OPERATOR_KEY = sandbox.key;
  after(() => delete process.env.MARKETPLACE_OPERATOR_KEY);
  const shared = await Sandbox.fromEnvironment();
  const world = await shared.createWorld();
  assert.notEqual(world.details.expires_at, null);
  await world.delete();
  // What it has not started is not stopped.
  await shared.close();
  await sandbox.worlds();
}));
