#!/usr/bin/env node
// Runs the program of the package for this platform. Signals are passed on, and the program decides when to
// end.

import { spawn } from 'node:child_process';

import { findBinary } from '../dist/binary.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

let program;
try {
  program = findBinary();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
const forward = (signal) => child.kill(signal);
for (const signal of SIGNALS) process.on(signal, forward);
child.on('error', (error) => {
  console.error(`error: cannot run ${program}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  // Without listeners, this process ends by the same signal.
  for (const one of SIGNALS) process.removeListener(one, forward);
  process.kill(process.pid, signal);
});
