/**
 * Test set-up: bundles the thread programs to JavaScript and sets `COXSWAIN_THREADS` to their folder
 * (`src/core/node/thread-entry.ts` explains why). Watch mode bundles them again for each run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

const ENTRIES = ['src/lab/shard-worker.ts'];

/** A new folder each time, because several test runs may be active. */
export function threadFolder(): string {
  const cache = resolve('node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  return mkdtempSync(join(cache, 'threads-'));
}

let folder = '';

/** Runs before the first test. */
export async function setup(project: TestProject): Promise<void> {
  folder = threadFolder();
  process.env['COXSWAIN_THREADS'] = folder;
  project.onTestsRerun(() => bundleThreads(folder));
  await bundleThreads(folder);
}

/** Runs after the last test. */
export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Bundles the thread programs into a folder below `node_modules`, where packages resolve. */
export async function bundleThreads(outdir: string): Promise<void> {
  await build({
    entryPoints: ENTRIES,
    outdir,
    entryNames: '[name]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    packages: 'external',
    logLevel: 'warning',
  });
}
