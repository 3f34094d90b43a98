// Worlds for tests with node:test. Each test file runs in a process of its own, which has one server.

import type { TestContext } from 'node:test';

import { endWorlds, sharedSandbox, type World, type WorldOptions } from './worlds.js';

/** A test with a world. */
export type WorldTest = (world: World, context: TestContext) => void | Promise<void>;

/** The worlds of the tests. Of the functions of `after`, the first that fails would keep the others. */
const worldsOfTests = new WeakMap<TestContext, World[]>();

/**
 * Returns a test function that has a new world, which ends with the test:
 * `test('…', withWorld(async (world) => {…}))`.
 */
export function withWorld(test: WorldTest): (context: TestContext) => Promise<void>;
export function withWorld(options: WorldOptions, test: WorldTest): (context: TestContext) => Promise<void>;
export function withWorld(
  first: WorldOptions | WorldTest,
  second?: WorldTest,
): (context: TestContext) => Promise<void> {
  const [options, test] = typeof first === 'function' ? [{}, first] : [first, second];
  if (!test) throw new TypeError('withWorld needs a test function.');
  return async (context) => {
    const world = await createWorld(context, options);
    await test(world, context);
  };
}

/** Creates a world that ends with a test, for tests that need several. */
export async function createWorld(context: TestContext, options: WorldOptions = {}): Promise<World> {
  const world = await (await sharedSandbox()).createWorld(options);
  const worlds = worldsOfTests.get(context);
  if (worlds) {
    worlds.push(world);
  } else {
    const created = [world];
    worldsOfTests.set(context, created);
    context.after(() => endWorlds(created, (message) => context.diagnostic(message)));
  }
  return world;
}
