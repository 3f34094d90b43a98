/**
 * A data marketplace for tests: an isolated world for every test, with a movable clock and failures on
 * demand.
 *
 * `marketplace-sandbox/vitest` and `marketplace-sandbox/node-test` give each test a world. With other test
 * runners, `Sandbox.start()` starts a server, and `createWorld()` creates a world.
 */

export { findBinary } from './binary.js';
export { Client, type RequestOptions } from './client.js';
export { Clock, type ClockChange, type ClockMode, type DoneWork } from './clocks.js';
export {
  ApiError,
  BinaryNotFoundError,
  ConnectionCutError,
  ExpectationError,
  SandboxError,
  ServerStartError,
  SignatureError,
} from './errors.js';
export { Faults, type Fault, type FaultEffect, type FaultMatch } from './faults.js';
export { Inbox, Message, type InboxQuery, type WaitOptions } from './inboxes.js';
export { type SandboxResponse } from './requests.js';
export { Server, type ServerOptions } from './server.js';
export { verifyWebhook } from './signatures.js';
export { type Snapshot } from './snapshots.js';
export { type CallMatch, type CallRange, Sandbox, World, type WorldKey, type WorldOptions } from './worlds.js';
