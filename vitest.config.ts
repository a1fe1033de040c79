import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // One core less than there are, as by default, would be a single one on the machines that most gates run on.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: ['scripts/thread-bundles.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

export default config;
