import { expect, test } from 'vitest';

import { CoxswainError } from '../../base/error.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { scriptCalls } from '../../testing/record-script.ts';
import { findMark, findRecord, type FindQuery } from './find-in-run.ts';
import { RunLook } from './run-look.ts';
import type { RunReader } from './run-reader.ts';

const RECORDS = scriptCalls('run', 10);
const query: FindQuery = { kind: 'pattern', text: '', fromSeq: 5, direction: 'next' };

test('a search in an overview that is not complete never says that nothing is there', () => {
  const look = new RunLook();
  for (const record of RECORDS.slice(0, 3)) look.fold(record);
  const partial = look.overview(9);
  for (const direction of ['next', 'prev'] as const) {
    expect(findMark(partial, { ...query, direction })).toEqual({ seq: null, resumeFrom: 5 });
  }
  for (const record of RECORDS.slice(3)) look.fold(record);
  const whole = look.overview(9);
  for (const direction of ['next', 'prev'] as const) {
    expect(findMark(whole, { ...query, direction })).toEqual({ seq: null });
  }
});

test('a search that a damaged record ends names the damage', async () => {
  const store = memoryStore();
  await store.append(RECORDS);
  const summary = await store.findRun('run');
  if (summary === undefined) throw new Error('the test stored it');
  const reader: RunReader = {
    listRuns: (asked) => store.listRuns(asked),
    findRun: (runId) => store.findRun(runId),
    async *readRun(runId, asked) {
      if (asked?.fromSeq === 5) yield* store.readRun(runId, { ...asked, limit: 2 });
      throw new CoxswainError('invalid-record', 'record 2 is damaged');
    },
    search: (asked) => store.search(asked),
    changes: async () => undefined,
    close: async () => {},
  };
  for (const direction of ['next', 'prev'] as const) {
    const asked: FindQuery = { ...query, kind: 'error', direction };
    let answer = await findRecord(reader, summary, asked);
    while (answer.resumeFrom !== undefined) {
      answer = await findRecord(reader, summary, { ...asked, fromSeq: answer.resumeFrom });
    }
    expect(answer).toMatchObject({ seq: null, problem: { code: 'invalid-record' } });
  }
});
