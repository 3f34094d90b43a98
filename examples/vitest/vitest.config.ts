import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // One server for all test files. Without this line, each process of vitest has one.
    globalSetup: ['marketplace-sandbox/vitest/global-setup'],
  },
});
