import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // One core less than there are, as by default, would be a single one on the machines that most gates run on.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: ['scripts/test-home.ts', 'scripts/thread-bundles.ts'],
    // For what hangs alone: no test may depend on how busy the machine is.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A condition has as long as its test.
    expect: { poll: { timeout: 170_000, interval: 20 } },
  },
});

export default config;
