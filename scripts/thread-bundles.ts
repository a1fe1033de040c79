/**
 * Set-up of the tests: bundles the programs of threads to JavaScript and names their folder in `COXSWAIN_THREADS`
 * (`src/base/thread-entry.ts` says why). Bundled anew when tests run again.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

const ENTRIES = ['src/recorder/store-worker.ts', 'src/backtest/shard-worker.ts'];

const CACHE = resolve('node_modules/.cache');
mkdirSync(CACHE, { recursive: true });
/** Of its own for each run, since several may be under way. Below node_modules, so that packages are found. */
const folder = mkdtempSync(join(CACHE, 'threads-'));

/** Before the first test. */
export async function setup(project: TestProject): Promise<void> {
  process.env['COXSWAIN_THREADS'] = folder;
  project.onTestsRerun(bundle);
  await bundle();
}

/** After the last test. */
export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}

async function bundle(): Promise<void> {
  await build({
    entryPoints: ENTRIES,
    outdir: folder,
    entryNames: '[name]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    packages: 'external',
    logLevel: 'warning',
  });
}
