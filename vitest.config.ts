import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { HANGS_AFTER_MS } from './test/support/hangs-after.ts';

// Vitest keeps a token in the user's data folder; tests write nothing to the real HOME.
process.env['XDG_DATA_HOME'] = resolve('node_modules/.vitest');

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // `npm run test:browser` runs these; one of them stays here.
    exclude: ['**/node_modules/**', 'test/viewer/!(opened-file).test.ts'],
    // Two more than there are cores: many tests wait for processes. By default it is one less, on most gates a single one.
    maxWorkers: availableParallelism() + 2,
    globalSetup: ['scripts/test-home.ts', 'scripts/test-programs.ts'],
    setupFiles: ['scripts/test-file-home.ts'],
    // Processes of a test start in half the time if Node has compiled the code before.
    env: { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled') },
    testTimeout: HANGS_AFTER_MS + 50_000,
    hookTimeout: HANGS_AFTER_MS + 50_000,
    teardownTimeout: HANGS_AFTER_MS,
    // A condition has as long as its test.
    expect: { poll: { timeout: HANGS_AFTER_MS, interval: 20 } },
  },
});

export default config;
