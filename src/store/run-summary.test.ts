import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../events/trajectory-record.ts';
import { everyPayload } from '../testing/every-payload.ts';
import { scriptRecord } from '../testing/record-script.ts';
import { foldRunSummaries, foldRunSummary, joinPart, partOf } from './run-summary.ts';
import type { RunSummary } from './run-summary.ts';

function previewOf(task: string): string | undefined {
  const payload = { kind: 'run_started', identity: { run_id: 'a', depth: 0 }, task } as const;
  return foldRunSummary(undefined, scriptRecord({ runId: 'a', seq: 0, payload })).task;
}

test('the preview of a task never ends in half a character', () => {
  expect(previewOf(`${'x'.repeat(198)}😀y`)).toBe(`${'x'.repeat(198)}😀`);
  expect(previewOf(`${'x'.repeat(199)}😀`)).toBe('x'.repeat(199));
  expect(previewOf(`${'x'.repeat(199)}\ud83d-lone`)).toBe(`${'x'.repeat(199)}\ud83d`);
  expect(previewOf('short')).toBe('short');
});

const payload: fc.Arbitrary<TrajectoryPayload> = fc.oneof(
  fc.constantFrom(...everyPayload('a text')),
  fc.constantFrom<TrajectoryPayload>(
    { kind: 'run_ended', outcome: 'ended', new_messages: [] },
    { kind: 'run_resumed', trigger: 'resume' },
    { kind: 'run_started', identity: { run_id: 'a', depth: 0 } },
  ),
);

test('a summary is the same however the records of a run are parted', () => {
  const parts = fc.array(fc.array(fc.tuple(payload, fc.nat({ max: 5 })), { minLength: 1, maxLength: 5 }), {
    minLength: 1,
  });
  fc.assert(
    fc.property(parts, (given) => {
      let seq = 0;
      const lists = given.map((list) =>
        list.map(([one, atMs]) => scriptRecord({ runId: 'a', seq: (seq += 1), payload: one, atMs })),
      );
      let joined: RunSummary | undefined;
      let folded: RunSummary | undefined;
      for (const list of lists) {
        joined = joinPart(joined, partOf(list));
        for (const record of list) folded = foldRunSummary(folded, record);
      }
      expect(joined).toEqual(folded);
      expect(foldRunSummaries(undefined, lists.flat())).toEqual(folded);
    }),
    { numRuns: 500 },
  );
});
