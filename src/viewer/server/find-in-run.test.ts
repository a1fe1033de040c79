import { expect, test } from 'vitest';

import { CoxswainError } from '../../core/base/error.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { scriptCalls } from '../../testing/record-script.ts';
import { findMark, findRecord, type FindQuery } from './find-in-run.ts';
import { RunOverviewFold } from './run-overview-fold.ts';
import type { RunReader } from './run-reader.ts';

const RECORDS = scriptCalls('run', 10);
const query: FindQuery = { kind: 'pattern', text: '', fromSeq: 5, direction: 'next' };

test('a search in an incomplete overview never reports that there is no match', () => {
  const fold = new RunOverviewFold();
  for (const record of RECORDS.slice(0, 3)) fold.fold(record);
  const partial = fold.overview(9);
  for (const direction of ['next', 'prev'] as const) {
    expect(findMark(partial, { ...query, direction })).toEqual({ seq: null, resumeFrom: 5 });
  }
  for (const record of RECORDS.slice(3)) fold.fold(record);
  const whole = fold.overview(9);
  for (const direction of ['next', 'prev'] as const) {
    expect(findMark(whole, { ...query, direction })).toEqual({ seq: null });
  }
});

test('a search that ends at a damaged record reports the damage', async () => {
  const store = memoryStore();
  await store.append(RECORDS);
  const summary = await store.findRun('run');
  if (summary === undefined) throw new Error('the test stored it');
  const reader: RunReader = {
    listRuns: (page) => store.listRuns(page),
    findRun: (runId) => store.findRun(runId),
    async *readRun(runId, range) {
      if (range?.fromSeq === 5) yield* store.readRun(runId, { ...range, limit: 2 });
      throw new CoxswainError('invalid-record', 'record 2 is damaged');
    },
    search: (text) => store.search(text),
    changes: async () => undefined,
    close: async () => {},
  };
  for (const direction of ['next', 'prev'] as const) {
    const errorQuery: FindQuery = { ...query, kind: 'error', direction };
    let answer = await findRecord(reader, summary, errorQuery);
    while (answer.resumeFrom !== undefined) {
      answer = await findRecord(reader, summary, { ...errorQuery, fromSeq: answer.resumeFrom });
    }
    expect(answer).toMatchObject({ seq: null, problem: { code: 'invalid-record' } });
  }
});
