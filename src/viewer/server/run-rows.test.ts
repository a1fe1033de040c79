import { expect, test } from 'vitest';

import { scriptedRecords, type ScriptedCall } from '../../../test/support/scripted-run.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import type { RunRow } from './api-shapes.ts';
import { RunOverviewFold } from './run-overview-fold.ts';
import { RunRows } from './run-rows.ts';

function rowsOf(payloads: readonly TrajectoryPayload[]): RunRows {
  const fold = new RunOverviewFold();
  for (const [seq, payload] of payloads.entries())
    fold.fold({ schema_version: 1, seq, run_id: 'run', depth: 0, recorded_at_unix_ms: 0, payload });
  return fold.rows;
}

function rowsOfCalls(calls: readonly ScriptedCall[]): RunRows {
  return rowsOf(scriptedRecords(calls).map(({ payload }) => payload));
}

function kindsOf(rows: readonly RunRow[]): readonly (readonly [number, string])[] {
  return rows.map(({ kind, seq }) => [seq, kind]);
}

const make: ScriptedCall = { tool: 'bash', args: { command: 'make' }, result: 'make: no rule', isError: true };

test('a result is part of the row of its call, with the kind of tool and why it failed; bookkeeping has no row', () => {
  const { list } = rowsOfCalls([{ tool: 'read_file', args: { path: 'src/a.ts' } }, make]);
  expect(list.filter(({ call }) => call !== undefined)).toEqual([
    { seq: 2, kind: 'call', call: 1, end: 3, tool: 'read', target: 'a.ts' },
    { seq: 5, kind: 'call', call: 2, end: 6, tool: 'execute', failed: true, failure: 'make: no rule' },
  ]);
  expect(list.some(({ seq }) => seq === 1)).toBe(false);
});

test('a result whose call was lost is a row of its own', () => {
  const rows = rowsOf([
    { kind: 'tool_ended', tool_call_id: 'x', tool_name: 'bash', result: 'late', is_error: false },
    { kind: 'tool_started', tool_call_id: 'y', tool_name: 'bash', args: {} },
  ]);
  expect(rows.list).toMatchObject([
    { seq: 0, kind: 'result', call: 1 },
    { seq: 1, kind: 'call', call: 2 },
  ]);
  expect(rows.list[1]).not.toHaveProperty('end');
});

test('a call names the first one with the same arguments and result, and none with another result', () => {
  const other = { ...make, result: 'make: another fault' };
  expect(
    rowsOfCalls([make, make, other, make, other])
      .list.filter(({ call }) => call !== undefined)
      .map(({ same }) => same),
  ).toEqual([undefined, 1, undefined, undefined, undefined]);
});

test('an answer that is both appended and the end of a turn is one row, and a message with nothing but calls has no row', () => {
  const message = { role: 'assistant', content: 'Done.' } as const;
  const thought = { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }] } as const;
  const calls = { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'bash', args: {} }] } as const;
  const rows = rowsOf([
    { kind: 'turn_started' },
    { kind: 'message_appended', message },
    { kind: 'turn_ended', assistant: message, tool_results: [] },
    { kind: 'turn_started' },
    { kind: 'turn_ended', assistant: message, tool_results: [] },
    { kind: 'message_appended', message: { role: 'user', content: 'Go on.' } },
    { kind: 'message_appended', message: thought },
    { kind: 'message_appended', message: calls },
    { kind: 'evaluation', point: 'pre_render' },
  ]);
  expect(kindsOf(rows.list)).toEqual([
    [1, 'answer'],
    [4, 'answer'],
    [5, 'prompt'],
    [6, 'thinking'],
  ]);
});

test('the cost of a response stands at the first row of its turn', () => {
  const paid = (content: string): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'assistant', content, usage: { cost_usd: 0.25 } },
  });
  const { list } = rowsOf([
    paid('I look.'),
    { kind: 'tool_started', tool_call_id: 'a', tool_name: 'ls', args: {} },
    paid(''),
    { kind: 'message_appended', message: { role: 'user', content: 'Well?' } },
    { kind: 'tool_started', tool_call_id: 'b', tool_name: 'ls', args: {} },
  ]);
  expect(list.map(({ costUsd, kind }) => [kind, costUsd])).toEqual([
    ['answer', 0.25],
    ['call', undefined],
    ['prompt', undefined],
    ['call', 0.25],
  ]);
});

test('the calls around an advice text are compared with the last call before it', () => {
  const failed = (line: string): ScriptedCall => ({ ...make, result: line });
  const fine: ScriptedCall = { tool: 'read_file', args: { path: 'a' } };
  const lines = ['make: other', 'make: same'].map(failed);
  const [other, same] = [lines[0] ?? fine, lines[1] ?? fine];
  const rows = rowsOfCalls([other, same, fine, same, same, other, fine]);
  expect(rows.around(5)).toEqual({
    before: ['same-failure', 'no-failure', 'same-failure', 'same-failure'],
    after: ['other-failure', 'no-failure'],
  });
  expect(rows.around(0)).toEqual({
    before: [],
    after: ['other-failure', 'other-failure', 'no-failure', 'other-failure'],
  });
});

test('every call is found by its number, also in restored rows; an unknown number gives the nearest call', () => {
  const rows = rowsOfCalls(Array.from({ length: 40 }, (_, at) => ({ tool: 'ls', args: { at } })));
  const restored = RunRows.from(rows.list);
  for (const found of [rows, restored]) {
    expect([1, 20, 40].map((call) => found.seqOf(call))).toEqual([2, 59, 119]);
    expect([found.seqOf(0), found.seqOf(99)]).toEqual([2, 119]);
  }
  expect(new RunRows().seqOf(5)).toBe(0);
});
