import { expect, test } from 'vitest';

import { memoryStore } from '../../core/store/memory-store.ts';
import { scriptCalls } from '../../../test/support/script-records.ts';
import { FullText } from './full-text.ts';
import { ViewerSource } from './viewer-source.ts';

const LONG_MS = 600_000;

test('a complete result stays until the search of the changed source is complete', async () => {
  const store = memoryStore();
  await store.append(scriptCalls('a', 3));
  let gate = Promise.resolve();
  let searches = 0;
  const source = new ViewerSource({
    id: '0',
    path: 'runs',
    kind: 'files',
    open: async () => ({
      listRuns: (query) => store.listRuns(query),
      findRun: (runId) => store.findRun(runId),
      readRun: (runId, query) => store.readRun(runId, query),
      sizeOf: () => store.sizeOf(),
      verify: () => store.verify(),
      close: () => store.close(),
      changes: async () => undefined,
      search: async (query) => {
        searches += 1;
        await gate;
        return await store.search(query);
      },
    }),
  });
  const fullText = new FullText(source);
  const findRuns = async (waitMs: number): Promise<readonly string[]> => [
    ...(await fullText.findRuns('txt', waitMs)).places.keys(),
  ];
  await source.refresh();
  expect(await findRuns(LONG_MS)).toEqual(['a']);
  expect(await findRuns(LONG_MS)).toEqual(['a']);
  expect(searches).toBe(1);
  await store.append(scriptCalls('b', 3));
  await expect
    .poll(async () => {
      await source.refresh();
      return source.runs.size;
    })
    .toBe(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  expect(await fullText.findRuns('txt', 0)).toMatchObject({
    isPending: false,
    places: new Map([['a', expect.anything()]]),
  });
  resolve();
  expect(await findRuns(LONG_MS)).toEqual(['a', 'b']);
  expect(searches).toBe(2);
  await source.close();
});
