import { mkdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { createCoxswain } from '../../core/run/coxswain.ts';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts';
import { BIN } from '../../../test/run-cli.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { trimMarkOf, trimStore } from './trim-store.ts';

const program = [process.execPath, BIN];

/** The data folder of a user. */
function dataFolder(): { readonly folder: string; readonly env: NodeJS.ProcessEnv } {
  const home = testFolder();
  const folder = join(home, 'coxswain');
  mkdirSync(folder);
  return { folder, env: { ...process.env, XDG_DATA_HOME: home } };
}

/** A store of ended runs of about 100 KB each. */
async function storeOf(folder: string, runs: number): Promise<string> {
  const path = join(folder, 'runs.db');
  let nowMs = 1_700_000_000_000;
  const cox = createCoxswain({ store: sqliteStore(path), clock: { nowMs: () => (nowMs += 1_000) } });
  for (let index = 0; index < runs; index += 1) {
    const run = cox.startRun({ runId: `run-${index}` });
    run.emit({ type: 'message_end', message: { role: 'user', content: `${index} `.repeat(40_000) } });
    await run.end();
  }
  await cox.close();
  return path;
}

async function runIds(path: string): Promise<readonly string[]> {
  const store = sqliteStore(path);
  try {
    return (await store.listRuns()).runs.map(({ runId }) => runId);
  } finally {
    await store.close();
  }
}

test('of a store over the limit the oldest runs go, once a day', async () => {
  const { folder, env } = dataFolder();
  const path = await storeOf(folder, 8);
  const options = { program, env, maxBytes: 500_000 };
  expect(trimStore({ kind: 'sqlite', address: path }, options)).toBe(true);
  await expect.poll(async () => (await runIds(path)).length).toBeLessThan(6);
  expect(await runIds(path)).toContain('run-7');
  expect(await runIds(path)).not.toContain('run-0');

  truncateSync(path, statSync(path).size + 4_000_000);
  expect(trimStore({ kind: 'sqlite', address: path }, options)).toBe(false);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(trimMarkOf(path), yesterday, yesterday);
  expect(trimStore({ kind: 'sqlite', address: path }, options)).toBe(true);
});

test('nothing is started for a store within the limit, elsewhere, of another kind, not there, or without the program', async () => {
  const { folder, env } = dataFolder();
  const path = join(folder, 'runs.db');
  const options = { program, env, maxBytes: 1_000 };
  expect(trimStore({ kind: 'sqlite', address: path }, options)).toBe(false);
  writeFileSync(path, 'x'.repeat(1_000));
  expect(trimStore({ kind: 'sqlite', address: path }, options)).toBe(false);
  writeFileSync(path, 'x'.repeat(1_001));
  expect(trimStore({ kind: 'sqlite', address: path }, { ...options, program: undefined })).toBe(false);
  expect(trimStore({ kind: 'postgres', address: path }, options)).toBe(false);
  const archive = join(folder, '..', 'archive.db');
  writeFileSync(archive, 'x'.repeat(2_000));
  expect(trimStore({ kind: 'sqlite', address: archive }, options)).toBe(false);
});
