// Failures on demand, and what was called.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ApiError, ConnectionCutError, ExpectationError } from 'marketplace-sandbox';
import { createWorld, withWorld } from 'marketplace-sandbox/node-test';

const CODEBASE = { title: 'Harbour ledger', exclusivity: 'available' };

const wallet = { operation: 'get_wallet' };

const atCapacity = { status: 503, code: 'at_capacity' };

test('fault applies to the next request', withWorld(async (world) => {
  const fault = await world.faults.add({ ...wallet, next: 1 }, atCapacity);
  const failed = await world.vendor.send('GET', '/v2/wallet');
  assert.deepEqual([failed.status, failed.headers['x-sandbox-fault']], [503, fault.id]);
  assert.equal((await world.vendor.get('/v2/wallet')).currency, 'USD');
  assert.deepEqual((await world.faults.list()).map(({ id, matched }) => [id, matched]), [[fault.id, 1]]);
}));

for (const cut of ['before', 'headers', 'body']) {
  test(`connection is cut: ${cut}`, withWorld(async (world) => {
    await world.faults.add({ ...wallet, next: 1 }, { cut });
    await assert.rejects(world.vendor.get('/v2/wallet'), ConnectionCutError);
    assert.equal((await world.vendor.get('/v2/wallet')).currency, 'USD');
  }));
}

test('connection is cut after the write', withWorld(async (world) => {
  const before = (await world.vendor.get('/v2/codebases')).total;
  await world.faults.add({ operation: 'create_codebase', next: 1 }, { cut: 'after_write' });
  await assert.rejects(world.vendor.post('/v2/codebases', CODEBASE), ConnectionCutError);
  assert.equal((await world.vendor.get('/v2/codebases')).total, before + 1);
}));

test('response is delayed', withWorld(async (world) => {
  const until = new Date('2026-03-02');
  await world.faults.add({ path: '/v2/wallet', from: world.startedAt, until }, { delay_ms: [50, 60] });
  const started = performance.now();
  await world.vendor.get('/v2/wallet');
  assert.ok(performance.now() - started >= 50);
}));

test('faults are removed', withWorld(async (world) => {
  const first = await world.faults.add(wallet, atCapacity);
  const second = await world.faults.add(wallet, atCapacity);
  await world.faults.remove(first);
  assert.deepEqual((await world.faults.list()).map(({ id }) => id), [second.id]);
  await world.faults.clear();
  assert.deepEqual(await world.faults.list(), []);
  assert.equal((await world.vendor.get('/v2/wallet')).currency, 'USD');
}));

test('undocumented fault is refused unless forced', withWorld(async (world) => {
  const refused = world.faults.add(wallet, { status: 418 });
  const message = /422 body\.then\.status: The document of `get_wallet` does not name the status 418/;
  await assert.rejects(refused, message);
  await world.faults.add(wallet, { status: 418, code: 'teapot' }, { force: true });
  assert.equal((await world.vendor.send('GET', '/v2/wallet')).status, 418);
}));

test('expectation is met, or names the nearest calls', withWorld(async (world) => {
  await world.vendor.get('/v2/wallet');
  await world.vendor.post('/v2/codebases', CODEBASE);
  assert.equal(await world.expect(wallet), 1);
  await world.expect(wallet, 1);
  const create = { method: 'POST', path: '/v2/code*', status: 201, body: { title: 'Harbour ledger' } };
  await world.expect(create, { atLeast: 1, atMost: 1 });
  await world.expect({ ...create, body: { title: 'Another' } }, 0);
  await assert.rejects(world.expect(wallet, 2), (error) => {
    const message = /Expected 2 matching calls, found 1/;
    return error instanceof ExpectationError && message.test(error.message);
  });
  await assert.rejects(world.expect(wallet, { atLeast: 2, atMost: 1 }), (error) => {
    return error instanceof ApiError && !(error instanceof ExpectationError);
  });
}));

test('journal has every request', withWorld(async (world) => {
  await world.vendor.get('/v2/wallet');
  await world.vendor.send('GET', '/v2/walet');
  const calls = (await world.journal({ method: 'GET' })).slice(0, 2);
  const shown = calls.map(({ operation, path, status }) => [operation, path, status]);
  assert.deepEqual(shown, [['get_wallet', '/v2/wallet', 200], [null, '/v2/walet', 404]]);
  assert.equal((await world.journal(wallet)).length, 1);
}));

test('journal has all pages unless there is a limit', withWorld(async (world) => {
  for (let call = 0; call < 101; call += 1) await world.vendor.get('/v2/wallet');
  const numbers = async (query) => (await world.journal(query)).map(({ number }) => number);
  assert.deepEqual(await numbers(), Array.from({ length: 101 }, (_, index) => index + 1));
  assert.deepEqual(await numbers({ after: 100, status: 200 }), [101]);
  assert.deepEqual(await numbers({ limit: 2 }), [1, 2]);
}));

test('dates are parameters', withWorld(async (world) => {
  await world.vendor.get('/v2/wallet');
  const { now } = await world.advance('1h');
  await world.vendor.get('/v2/listings/browse', { languages: ['python', null] });
  for (const time of [now, now.toISOString()]) {
    const [before] = await world.journal({ until: time, method: 'GET' });
    const [after] = await world.journal({ from: time, method: 'GET' });
    assert.deepEqual([before.operation, after.operation], ['get_wallet', 'browse_listings']);
  }
}));

test('expectation of a false body counts such bodies', withWorld(async (world) => {
  await world.vendor.post('/v2/codebases', CODEBASE);
  await world.vendor.send('POST', '/v2/codebases', { json: false });
  await world.expect({ body: false }, 1);
}));

test('unused faults are listed, and warned of after the test', withWorld(async (world) => {
  assert.deepEqual(await world.faults.listUnused(), []);
  const fault = await world.faults.add(wallet, atCapacity);
  assert.deepEqual((await world.faults.listUnused()).map(({ id }) => id), [fault.id]);
  const warnings = [];
  await world.endTest((message) => warnings.push(message));
  assert.deepEqual(warnings, ['The fault {"operation":"get_wallet"} of this test matched nothing.']);
}));

test('all worlds end although one warns or fails', async (context) => {
  const { sandbox } = await createWorld(context);
  const before = (await sandbox.worlds()).length;
  const hooks = [];
  const inner = { after: (hook) => hooks.push(hook), diagnostic: () => { throw new Error('warned'); } };
  const [first, second, third] = [await createWorld(inner), await createWorld(inner), await createWorld(inner)];
  await first.faults.add(wallet, atCapacity);
  second.faults.listUnused = () => Promise.reject(new Error('failed'));
  assert.equal(hooks.length, 1);
  await assert.rejects(async () => hooks[0](), /warned/);
  assert.equal((await sandbox.worlds()).length, before);
  await assert.rejects(third.buyer.get('/v2/wallet'), { code: 'world_not_found' });
});
