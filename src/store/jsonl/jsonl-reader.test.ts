import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { scriptCalls } from '../../testing/record-script.ts';
import { listAll } from '../../testing/read-all.ts';
import { linesStore } from '../../../test/support/lines-store.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { openJsonlReader } from './jsonl-reader.ts';
import type { RunSummary } from '../run-summary.ts';

let folder: string;

beforeEach(() => void (folder = testFolder()));

test('every run is listed once, as the store lists it', async () => {
  const store = linesStore(folder);
  for (const id of ['a', 'B/ä', 'c'.repeat(300)]) await store.append(scriptCalls(id, 5));
  const reader = openJsonlReader(folder);
  expect(await reader.changes()).toBe(undefined);
  const found = await Array.fromAsync(reader.listAll?.() ?? []);
  const byId = (a: RunSummary, b: RunSummary): number => (a.runId < b.runId ? -1 : 1);
  expect(found.toSorted(byId)).toEqual([...(await listAll(store))].sort(byId));
  expect(await reader.findRun('B/ä')).toEqual(await store.findRun('B/ä'));
  expect(await reader.findRun('none')).toBe(undefined);
  await reader.close();
  await store.close();
});

test('written, new and deleted runs since the last call are reported once', async () => {
  const store = linesStore(folder);
  for (let index = 0; index < 20; index += 1) await store.append(scriptCalls(`run-${index}`, 2));
  const reader = openJsonlReader(folder);
  for await (const _ of reader.listAll?.() ?? []);
  expect(await reader.changes()).toEqual([]);
  await store.append(scriptCalls('run-7', 3, 2));
  await store.append(scriptCalls('new', 1));
  await store.close();
  await rm(join(folder, 'run-run-3'), { recursive: true });
  expect((await reader.changes())?.toSorted()).toEqual(['new', 'run-3', 'run-7']);
  expect((await reader.findRun('run-7'))?.records).toBe(5);
  expect(await reader.findRun('run-3')).toBe(undefined);
  expect(await reader.changes()).toEqual([]);
  await reader.close();
});

test('a missing folder is not an empty store', async () => {
  const reader = openJsonlReader(`${folder}/none`);
  await expect(reader.listRuns()).rejects.toMatchObject({ code: 'store-io' });
  await reader.close();
});
