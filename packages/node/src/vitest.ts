// Worlds for tests with vitest.

import { inject, test as base } from 'vitest';

import { endWorlds, Sandbox, sharedSandbox, type World, type WorldOptions } from './worlds.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that `marketplace-sandbox/vitest/global-setup` has started. */
    marketplaceSandbox?: { url: string; key: string };
  }
}

/** What tests can use. */
export interface SandboxFixtures {
  /** How `world` is created. Override it with `test.extend({worldOptions: {…}})`. */
  worldOptions: WorldOptions;
  /** A new world, which ends with the test. */
  world: World;
  /** Creates worlds that end with the test, for tests that need several. */
  newWorld: (options?: WorldOptions) => Promise<World>;
}

/** The `test` of vitest with worlds: `test('…', async ({world}) => {…})`. */
export const test = base.extend<SandboxFixtures>({
  worldOptions: {},
  newWorld: async ({}, use) => {
    const created: World[] = [];
    const sandbox = await findSandbox();
    await use(async (options) => {
      const world = await sandbox.createWorld(options);
      created.push(world);
      return world;
    });
    await endWorlds(created, (message) => console.warn(message));
  },
  world: async ({ newWorld, worldOptions }, use) => {
    await use(await newWorld(worldOptions));
  },
});

/** Another name of `test`. */
export const it = test;

/** Returns the server of the global setup, or else the server of this process. */
async function findSandbox(): Promise<Sandbox> {
  const provided = inject('marketplaceSandbox');
  return provided ? Sandbox.connect(provided.url, provided.key) : sharedSandbox();
}
