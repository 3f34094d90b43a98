// The signatures in the README are those of the clients.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const read = (path) => readFileSync(fileURLToPath(new URL(path, import.meta.resolve('marketplace-sandbox'))), 'utf8');

test('signatures in the README are those of the client', () => {
  const section = read('../README.md').split('## Clients\n')[1].split('\n## ')[0];
  const shown = [...section.matchAll(/^\| `(.+?)` \|/gm)].map(([, signature]) => signature);
  // Each method in a line of its own: `get(path: string, query?: Query): Promise<any>;`
  const declared = [...read('client.d.ts').matchAll(/^ {4}(\w+)\((.*)\): Promise<.*>;$/gm)];
  const withoutTypes = (parameters) => parameters.replaceAll(/: [^,]+/g, '');
  assert.deepEqual(shown, declared.map(([, name, parameters]) => `${name}(${withoutTypes(parameters)})`));
});
