import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { HANGS_AFTER_MS } from '../test/support/hangs-after.ts';

/** The tests that need the real SDK packages; `npm run test:sdk` installs those and runs these. */
const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['integration/*.test.ts'],
    globalSetup: ['scripts/test-home.ts'],
    exclude: ['**/node_modules/**'],
    // Each file starts its own SDKs and processes; on a small machine more at once only makes them slow.
    maxWorkers: 2,
    testTimeout: HANGS_AFTER_MS + 50_000,
    hookTimeout: HANGS_AFTER_MS + 50_000,
  },
});

export default config;
