import { expect, test } from 'vitest';

import { CoxswainError } from '../../core/base/error.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { scriptCalls } from '../../../test/support/script-records.ts';
import { findRecord, type FindQuery } from './run-routes.ts';
import type { RunReader } from './read-records.ts';

const RECORDS = scriptCalls('run', 10);
const query: FindQuery = { text: 'no such word', fromSeq: 5, direction: 'next' };

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
    let answer = await findRecord(reader, summary, { ...query, direction });
    while (answer.resumeFrom !== undefined) {
      answer = await findRecord(reader, summary, { ...query, direction, fromSeq: answer.resumeFrom });
    }
    expect(answer).toMatchObject({ seq: null, problem: { code: 'invalid-record' } });
  }
});
