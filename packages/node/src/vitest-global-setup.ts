// One server for all test files of a run of vitest: `globalSetup:
// ['marketplace-sandbox/vitest/global-setup']`. Without it, each process of vitest has one.

import type { TestProject } from 'vitest/node';

import type {} from './vitest.js';
import { Sandbox } from './worlds.js';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const sandbox = await Sandbox.fromEnvironment();
  project.provide('marketplaceSandbox', { url: sandbox.url, key: sandbox.key });
  return () => sandbox.close();
}
