import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** The tests that need the real SDK packages; `npm run test:sdk` installs those and runs these. */
const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['integration/*.test.ts'],
    globalSetup: ['scripts/test-home.ts'],
    exclude: ['**/node_modules/**'],
    // Each file starts its own SDKs and processes; on a small machine more at once only makes them slow.
    maxWorkers: 2,
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});

export default config;
