import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

import { HANGS_AFTER_MS } from '../../test/support/hangs-after.ts';

/** The tests that need the real programs of the hosts; `npm run test:hosts` installs those and runs these. */
const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['integration/hosts/*.test.ts'],
    globalSetup: ['scripts/test-home.ts'],
    maxWorkers: 1,
    testTimeout: 400_000,
    hookTimeout: 60_000,
    // A condition has as long as its test.
    expect: { poll: { timeout: HANGS_AFTER_MS, interval: 200 } },
  },
});

export default config;
