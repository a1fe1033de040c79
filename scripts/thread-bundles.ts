/**
 * Set-up of the tests: bundles the programs of threads to JavaScript and names their folder in `COXSWAIN_THREADS`
 * (`src/base/thread-entry.ts` says why). Bundled anew when tests run again.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

const ENTRIES = ['src/recorder/store-worker.ts', 'src/backtest/shard-worker.ts'];

/** A folder for them, of its own each time, since several runs may be under way. */
export function threadFolder(): string {
  const cache = resolve('node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  return mkdtempSync(join(cache, 'threads-'));
}

let folder = '';

/** Before the first test. */
export async function setup(project: TestProject): Promise<void> {
  folder = threadFolder();
  process.env['COXSWAIN_THREADS'] = folder;
  project.onTestsRerun(() => bundleThreads(folder));
  await bundleThreads(folder);
}

/** After the last test. */
export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Bundles the programs of threads into a folder below `node_modules`, where packages are found. */
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
