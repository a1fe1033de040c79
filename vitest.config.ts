import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config';
import { HANGS_AFTER_MS } from './test/support/hangs-after.ts';

// Vitest keeps a token in the user's data folder; tests write nothing to the real HOME.
process.env['XDG_DATA_HOME'] = resolve('node_modules/.vitest');

const include = ['src/**/*.test.ts', 'test/**/*.test.ts'];
// `npm run test:browser` runs those of the viewer; one of them stays here.
const exclude = ['**/node_modules/**', 'test/viewer/!(opened-file).test.ts'];

/** A test file with one of these words changes its process, measures it, or imports what starts others. */
const LEAVES_SOMETHING =
  /child_process|worker_threads|fake-timers|memoryUsage|process\.(?:chdir|env|exit|kill|on)\b|\bvi\./;
const STARTS_PROCESSES =
  /built-page|bundle-entries|cli-stores|host-drivers|postgres-server|run-cli|run-script|traced-disk/;

/** The other files. One process runs many of them, and they share the modules that they import: it takes half the processor time. */
const shared = globSync(include, { exclude }).filter((file) => {
  const text = readFileSync(file, 'utf8');
  return !LEAVES_SOMETHING.test(text) && !STARTS_PROCESSES.test(text);
});

const ofEachProject = {
  // Two more than there are cores: many tests wait for processes. By default it is one less, on most gates a single one.
  maxWorkers: availableParallelism() + 2,
  setupFiles: ['scripts/test-file-home.ts'],
  // Processes of a test start in half the time if Node has compiled the code before.
  env: { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled') },
  testTimeout: HANGS_AFTER_MS + 50_000,
  hookTimeout: HANGS_AFTER_MS + 50_000,
  // A condition has as long as its test.
  expect: { poll: { timeout: HANGS_AFTER_MS, interval: 20 } },
};

const projects: TestProjectInlineConfiguration[] = [
  {
    extends: false,
    test: {
      ...ofEachProject,
      // The projects run in the order of their names, so that the longest files begin first.
      name: 'alone',
      include,
      exclude: [...exclude, ...shared],
    },
  },
  { extends: false, test: { ...ofEachProject, name: 'shared', include: shared, isolate: false } },
];

const config: ViteUserConfig = defineConfig({
  test: {
    ...ofEachProject,
    include,
    exclude,
    globalSetup: ['scripts/test-home.ts', 'scripts/test-programs.ts'],
    teardownTimeout: 20_000,
    projects,
  },
});

export default config;
