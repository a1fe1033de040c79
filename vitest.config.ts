import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { HANGS_AFTER_MS } from './test/support/hangs-after.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // One core less than there are, as by default, would be a single one on the machines that most gates run on.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: ['scripts/test-home.ts', 'scripts/thread-bundles.ts'],
    testTimeout: HANGS_AFTER_MS + 50_000,
    hookTimeout: HANGS_AFTER_MS + 50_000,
    // A condition has as long as its test.
    expect: { poll: { timeout: HANGS_AFTER_MS, interval: 20 } },
  },
});

export default config;
