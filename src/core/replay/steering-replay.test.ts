import { expect, test } from 'vitest';

import { createCoxswain } from '../run/coxswain.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { isDerived } from '../records/derived-payload.ts';
import { Replay } from './replay.ts';
import { SteeringReplay } from './steering-replay.ts';
import { diagnosticSignal } from '../steering/guidance/built-in-guidance.ts';
import { standardSteering } from '../steering/standard-steering.ts';
import { memoryStore } from '../store/memory-store.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { scriptedRecords, times } from '../../../test/support/scripted-run.ts';

const deadline = { minutes: 8 };

/** A run that gets stuck, a call every ten seconds. */
const script: readonly TrajectoryRecord[] = goesOn([
  ...times(9, { tool: 'bash', args: { command: 'make' }, result: 'no rule', isError: true }),
  ...times(3, (index) => ({ tool: 'read_file', args: { path: `${index}` }, result: `part ${index}` })),
]).map(timed);

/** The records of a script, and a turn after them. */
function goesOn(calls: Parameters<typeof scriptedRecords>[0]): readonly TrajectoryRecord[] {
  return followed(scriptedRecords(calls), { kind: 'turn_started' });
}

function followed(
  records: readonly TrajectoryRecord[],
  payload: TrajectoryRecord['payload'],
): readonly TrajectoryRecord[] {
  const last = records.at(-1);
  return last === undefined ? [] : [...records, { ...last, seq: last.seq + 1, payload }];
}

function timed(record: TrajectoryRecord): TrajectoryRecord {
  return { ...record, recorded_at_unix_ms: 1_000_000 + record.seq * 10_000 };
}

const steering = { ...standardSteering(), guidance: [{ provider: diagnosticSignal() }], noise: {} };

function steered(records: readonly TrajectoryRecord[]): readonly TrajectoryRecord[] {
  const replay = new SteeringReplay({ steering, deadline });
  return records.flatMap((record) => replay.take(record));
}

const derivedOf = (records: readonly TrajectoryRecord[]) => records.map(({ payload }) => payload).filter(isDerived);

test('what it gives is a run that replays to itself, gapless from 0', () => {
  const records = steered(script);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
  const replay = new Replay({ steering });
  expect(records.flatMap((record) => replay.take(record))).toEqual(derivedOf(records));
  const kinds = new Set(records.map(({ payload }) => payload.kind));
  expect(kinds).toContain('pattern_flagged');
  expect(kinds).toContain('feedback_produced');
  expect(kinds).toContain('guidance_produced');
});

test('it says what a live run says that is asked at the same points', async () => {
  const store = memoryStore();
  const clock = createFakeClock(1_000_000);
  const run = createCoxswain({ ...steering, store, clock, measureMs: () => 0 }).startRun({ runId: 'run', deadline });
  let lastMs = 1_000_000;
  for (const { payload, recorded_at_unix_ms: atMs } of script) {
    if (payload.kind === 'turn_started' && run.analysis.turns > 0) run.advise('pre_tool_selection');
    clock.advance((atMs - lastMs) / 1_000);
    lastMs = atMs;
    if (payload.kind === 'turn_started') run.emit({ type: 'turn_start' });
    if (payload.kind === 'tool_started') {
      const { tool_call_id: toolCallId, tool_name: toolName, args } = payload;
      run.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
    }
    if (payload.kind !== 'tool_ended') continue;
    const { tool_call_id: toolCallId, tool_name: toolName, result, is_error: isError } = payload;
    run.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError });
    run.advise('post_tool_result');
  }
  await run.flush();
  const live = await Array.fromAsync(store.readRun('run'));
  expect(derivedOf(steered(script))).toEqual(derivedOf(live));
});

test('what an earlier steering left in the records is passed over', () => {
  const once = steered(script);
  expect(once.length).toBeGreaterThan(script.length);
  expect(steered(once)).toEqual(once);
});

test('a call without a result is no decision point, and a gap keeps its length', () => {
  const replay = new SteeringReplay();
  const kindsOf = (record: TrajectoryRecord) => replay.take(record).map(({ seq, payload }) => `${seq} ${payload.kind}`);
  const at = (seq: number, payload: TrajectoryRecord['payload']): TrajectoryRecord => ({
    schema_version: 1,
    seq,
    run_id: 'run',
    depth: 0,
    recorded_at_unix_ms: 0,
    payload,
  });
  const call = { tool_call_id: 'c', tool_name: 'bash' };
  expect(kindsOf(at(0, { kind: 'run_started', identity: { run_id: 'run', depth: 0 } }))).toEqual(['0 run_started']);
  expect(kindsOf(at(1, { kind: 'tool_started', ...call, args: {} }))).toEqual(['1 tool_started']);
  const ended = { kind: 'tool_ended', ...call, result: null, is_error: false, result_missing: true } as const;
  expect(kindsOf(at(2, ended))).toEqual(['2 tool_ended']);
  expect(kindsOf(at(3, { kind: 'gap', through_seq: 7, reason: 'lost' }))).toEqual(['3 gap']);
  expect(kindsOf(at(8, { kind: 'turn_started' }))).toEqual(['8 turn_started']);
});

test('no advice is given after the last call', () => {
  const loop = times(3, { tool: 'bash', args: { command: 'make' }, result: 'no rule', isError: true });
  const textsOf = (records: readonly TrajectoryRecord[]): number => {
    const replay = new SteeringReplay();
    return records.flatMap((record) => replay.follow(record)).filter(({ kind }) => kind === 'feedback_produced').length;
  };
  const end = { kind: 'run_ended', outcome: 'completed', new_messages: [] } as const;
  expect(textsOf(followed(scriptedRecords(loop), end))).toBe(0);
  expect(textsOf(followed(goesOn(loop), end))).toBe(1);
});

test('of a run that still grows, a call is spoken of before the next record', () => {
  const loop = times(3, { tool: 'bash', args: { command: 'make' }, result: 'no rule', isError: true });
  const replay = new SteeringReplay({ growing: true });
  const derived = scriptedRecords(loop).map((record) => replay.follow(record).map(({ kind }) => kind));
  expect(derived.at(-1)).toContain('feedback_produced');
});
