import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { everyPayload } from '../../../test/support/every-payload.ts';
import { scriptCalls, scriptRecord } from '../../../test/support/script-records.ts';
import { RunCounter, type RunSummary } from './run-summary.ts';

function counted(before: RunSummary | undefined, records: readonly TrajectoryRecord[]): RunSummary {
  const counter = new RunCounter(before);
  for (const record of records) counter.fold(record);
  return counter.summary();
}

function previewOf(task: string): string | undefined {
  const payload = { kind: 'run_started', identity: { run_id: 'a', depth: 0 }, task } as const;
  return counted(undefined, [scriptRecord({ runId: 'a', seq: 0, payload })]).task;
}

test('the preview of a task never ends inside a character', () => {
  expect(previewOf(`${'x'.repeat(198)}😀y`)).toBe(`${'x'.repeat(198)}😀`);
  expect(previewOf(`${'x'.repeat(199)}😀`)).toBe('x'.repeat(199));
  expect(previewOf(`${'x'.repeat(199)}\ud83d-lone`)).toBe(`${'x'.repeat(199)}\ud83d`);
  expect(previewOf('short')).toBe('short');
});

test('a run of a program that names no task has the first words of its user', () => {
  const taskAfter = (started: { readonly format?: string; readonly task?: string }): string | undefined => {
    const said = (content: string): TrajectoryPayload => ({
      kind: 'message_appended',
      message: { role: 'user', content },
    });
    const start: TrajectoryPayload = { kind: 'run_started', identity: { run_id: 'a', depth: 0 }, ...started };
    const records = [start, said(' '), said('Fix the login.\n'), said('And the tests.')];
    return counted(
      undefined,
      records.map((payload, seq) => scriptRecord({ runId: 'a', seq, payload })),
    ).task;
  };
  expect(taskAfter({})).toBe('Fix the login.');
  expect(taskAfter({ task: 'Login' })).toBe('Login');
  expect(taskAfter({ format: 'claude-code' })).toBeUndefined();
});

test('a run whose source names no model has the model of its first response', () => {
  const response = (modelId: string): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'assistant', content: [], model_id: modelId },
  });
  const payloads: readonly TrajectoryPayload[] = [
    { kind: 'run_started', identity: { run_id: 'a', depth: 0 } },
    response('opus'),
    response('haiku'),
  ];
  const records = payloads.map((payload, seq) => scriptRecord({ runId: 'a', seq, payload }));
  expect(counted(undefined, records).modelId).toBe('opus');
});

const payload: fc.Arbitrary<TrajectoryPayload> = fc.oneof(
  fc.constantFrom(...everyPayload('a text')),
  fc.constantFrom<TrajectoryPayload>(
    { kind: 'run_ended', outcome: 'ended', new_messages: [] },
    { kind: 'run_resumed', trigger: 'resume' },
    { kind: 'run_started', identity: { run_id: 'a', depth: 0 } },
    { kind: 'tool_started', tool_call_id: 'another', tool_name: 'read', args: {} },
    { kind: 'tool_ended', tool_call_id: 'another', tool_name: 'read', result: '', is_error: true },
  ),
);

test('a summary does not depend on how the records of a run are split into batches', () => {
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
      // Through JSON, as a store keeps it between two appends.
      for (const list of lists) joined = counted(joined && JSON.parse(JSON.stringify(joined)), list);
      expect(joined).toEqual(counted(undefined, lists.flat()));
    }),
    { numRuns: 500 },
  );
});

test('the summary of a run with many calls without results keeps 512 ids', () => {
  const summary = counted(undefined, scriptCalls('a', 2_000));
  expect([summary.calls, summary.openCalls?.length]).toEqual([2_000, 512]);
});

test('refused and cancelled calls are counted apart from errors', () => {
  const ended = (is_error: boolean, outcome?: 'refused' | 'cancelled'): TrajectoryPayload => ({
    kind: 'tool_ended',
    tool_call_id: `${is_error} ${outcome}`,
    tool_name: 'Bash',
    result: '',
    is_error,
    ...(outcome === undefined ? {} : { outcome }),
  });
  const ends = [ended(true), ended(true, 'refused'), ended(true, 'cancelled'), ended(false)];
  const records = ends.map((end, seq) => scriptRecord({ runId: 'r', seq, payload: end }));
  expect(counted(undefined, records)).toMatchObject({ calls: 4, errors: 1, refused: 1 });
});
