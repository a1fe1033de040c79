import { expect, test } from 'vitest';

import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { BestMoments } from './moments.ts';
import { type RunFacts } from './run-facts.ts';
import { RunFactsFold } from './run-facts-fold.ts';

const START_MS = 1_700_000_000_000;
const MINUTE_MS = 60_000;
const derived = { cause_seq: 0, ordinal: 0 };
const steering = { prompt_name: 'p', configuration_hash: 'h', mode: 'steer' as const };

/** Folds payloads, each a number of minutes after the previous one. */
function found(...payloads: readonly (readonly [number, TrajectoryPayload])[]): RunFacts {
  const fold = new RunFactsFold('run');
  let atMs = START_MS;
  const start: readonly [number, TrajectoryPayload] = [
    0,
    { kind: 'run_started', identity: { run_id: 'run', depth: 0 }, steering },
  ];
  for (const [seq, [minutes, payload]] of [start, ...payloads].entries()) {
    atMs += minutes * MINUTE_MS;
    const record: TrajectoryRecord = {
      schema_version: 1,
      seq,
      run_id: 'run',
      depth: 0,
      recorded_at_unix_ms: atMs,
      payload,
    };
    fold.fold(record);
  }
  return fold.facts(atMs);
}

function call(id: number, isError: boolean, minutes = 0): readonly (readonly [number, TrajectoryPayload])[] {
  const named = { tool_call_id: `c${id}`, tool_name: 'bash' };
  return [
    [0, { kind: 'tool_started', ...named, args: { command: `step ${id}` } }],
    [minutes, { kind: 'tool_ended', ...named, result: `said ${id}`, is_error: isError }],
  ];
}

function flagged(level: 'warn' | 'strong', clearedAt?: number): readonly [number, TrajectoryPayload] {
  const pattern = {
    kind: 'identical_call',
    identity: `loop-${level}`,
    stuck: true,
    level,
    confidence: 1,
    evidence: [1],
    firstSeen: 0,
    flaggedAt: 1,
    occurrences: 4,
  };
  if (clearedAt === undefined) return [0, { kind: 'pattern_flagged', pattern, ...derived }];
  return [0, { kind: 'pattern_cleared', pattern: { ...pattern, clearedAt }, ...derived }];
}

test('an open loop scores higher than one that was left', () => {
  expect(found(flagged('strong')).moments).toMatchObject([
    { score: 84, call: 2, what: expect.stringContaining('not over at the end') },
  ]);
  expect(found(flagged('strong'), flagged('strong', 9)).moments).toMatchObject([{ score: 34 }]);
  expect(found(flagged('warn')).moments).toMatchObject([{ score: 54 }]);
  expect(found(flagged('warn'), flagged('warn', 9)).moments).toEqual([]);
});

test('a run that ended after a refused call, or although a check failed, is opened at that call', () => {
  const said: TrajectoryPayload = { kind: 'message_appended', message: { role: 'assistant', content: 'Done.' } };
  const end: TrajectoryPayload = { kind: 'run_ended', outcome: 'ended', reason: 'answered', new_messages: [] };
  const push = { tool_call_id: 'p', tool_name: 'Bash' };
  const refused = found(
    ...[0, 1, 2].flatMap((id) => call(id, false)),
    [0, { ...push, kind: 'tool_started', args: { command: 'git push' } }],
    [0, { ...push, kind: 'tool_ended', result: 'no', is_error: true, outcome: 'refused' }],
    [0, said],
    [0, end],
  );
  expect(refused.moments).toMatchObject([{ call: 4, type: 'end refused', what: expect.stringContaining('git push') }]);
  const checked = found(
    [0, { ...push, kind: 'tool_started', args: { command: 'npm test' } }],
    [0, { ...push, kind: 'tool_ended', result: '1 failed', is_error: true }],
    ...call(0, false),
    [0, said],
    [0, end],
  );
  expect(checked.moments).toMatchObject([{ call: 1, type: 'check failed', what: expect.stringContaining('npm test') }]);
});

test('failures in a row count from the first one', () => {
  const calls = [0, 1, 2, 3, 4, 5, 6].flatMap((id) => call(id, id > 0 && id < 6));
  expect(found(...calls).moments).toMatchObject([{ score: 45, call: 2, what: '5 failures in a row' }]);
});

test('the active time of a turn is at most what its host says, which leaves out waits for permissions', () => {
  const said: TrajectoryPayload = { kind: 'message_appended', message: { role: 'user', content: 'go on' } };
  const worked = (ms: number): TrajectoryPayload => ({
    kind: 'session_event',
    event_type: 'turn_worked',
    data: { duration_ms: ms },
  });
  const turns = [...call(0, false, 2), [0, said], ...call(1, false, 50)] as const;
  expect(found(...turns, [0, worked(5 * MINUTE_MS)]).activeMs).toBe(7 * MINUTE_MS);
  expect(found(...turns, [0, worked(90 * MINUTE_MS)]).activeMs).toBe(52 * MINUTE_MS);
  const before: TrajectoryPayload = { kind: 'message_appended', message: { role: 'system', content: 'x' } };
  expect(found([0, before], [1, before], [1, said], ...call(1, false, 5)).activeMs).toBe(5 * MINUTE_MS);
  const allowed: TrajectoryPayload = {
    kind: 'message_appended',
    message: { role: 'system', content: 'Approved command prefix saved:\n- ["git add"]' },
  };
  expect(found([0, said], [1, before], [3, allowed], ...call(1, false, 5)).activeMs).toBe(6 * MINUTE_MS);
  // A hook runs before the answer is shown; the end comes when the user leaves.
  const answered: TrajectoryPayload = { kind: 'evaluation', point: 'pre_response' };
  const left: TrajectoryPayload = { kind: 'run_ended', outcome: 'ended', new_messages: [] };
  expect(found([0, said], ...call(1, false, 5), [0, answered], [50, left]).activeMs).toBe(5 * MINUTE_MS);
  // Codex writes its instructions before the next message of the user.
  const instructions: TrajectoryPayload = { kind: 'message_appended', message: { role: 'system', content: 'x' } };
  expect(found(...turns, [0, worked(90 * MINUTE_MS)], [30, instructions], [0, said]).activeMs).toBe(52 * MINUTE_MS);
});

test('a slow read of a file in Claude Code waited for a permission, as did a command beyond its limit', () => {
  const slow = (tool_name: string): readonly (readonly [number, TrajectoryPayload])[] => [
    [0, { kind: 'run_started', identity: { run_id: 'run', depth: 0 }, format: 'claude-code' }],
    [0, { kind: 'tool_started', tool_call_id: 'r', tool_name, args: {} }],
    [54, { kind: 'tool_ended', tool_call_id: 'r', tool_name, result: 'ok', is_error: false }],
  ];
  const activeMs = ['Read', 'Bash', 'WebFetch'].map((tool) => found(...slow(tool)).activeMs);
  expect(activeMs).toEqual([10_000, 2 * MINUTE_MS, 54 * MINUTE_MS]);
});

test('a call took as long as its program says', () => {
  const [begun, [, ended]] = call(1, false, 5) as [
    readonly [number, TrajectoryPayload],
    readonly [number, TrajectoryPayload],
  ];
  expect(found(begun, [5, { ...ended, duration_ms: 9_000 } as TrajectoryPayload]).activeMs).toBe(9_000);
});

test('the time until a person refuses a call is no active time', () => {
  const [begun, [, ended]] = call(1, false, 5) as [
    readonly [number, TrajectoryPayload],
    readonly [number, TrajectoryPayload],
  ];
  const refused = { ...ended, outcome: 'refused' } as TrajectoryPayload;
  expect(found(...call(0, false, 2), begun, [5, refused]).activeMs).toBe(2 * MINUTE_MS);
});

test('the time between an end, an exit or a finished turn and what follows it is no silence and no active time', () => {
  const said = (content: string): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'user', content },
  });
  const answer = (content: string): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'assistant', content, stop_reason: 'end_turn' },
  });
  const rests: readonly TrajectoryPayload[] = [
    said('<local-command-stdout>Goodbye!</local-command-stdout>'),
    said('[Request interrupted by user for tool use]'),
    { kind: 'run_ended', outcome: 'ended', new_messages: [] },
    answer('Done.'),
  ];
  for (const rest of rests) {
    // A resumed session of Claude Code begins with this message.
    const { activeMs } = found(...call(0, false, 2), [0, rest], [50, answer('No response requested.')]);
    expect([rest.kind, activeMs]).toEqual([rest.kind, 2 * MINUTE_MS]);
  }
  const silent = found(...call(0, false, 2), [0, said('go on')], [50, answer('Done.')]);
  expect(silent.activeMs).toBe(52 * MINUTE_MS);
});

test('an abandoned completion check, a bad end and a lost warning are found, at most two per run', () => {
  const feedback = {
    summary: 'x',
    observations: [],
    suggestions: [],
    severity: 'warning' as const,
    atMs: 0,
    callIndex: 0,
    promptName: 'p',
  };
  const lost: readonly (readonly [number, TrajectoryPayload])[] = [
    [0, { kind: 'feedback_produced', advice_id: 'a1', provider_name: 'Deadline', feedback, text: 'x', ...derived }],
    [
      0,
      {
        kind: 'feedback_delivered',
        advice_id: 'a1',
        provider_name: 'Deadline',
        delivered: false,
        reason: 'no channel',
      },
    ],
  ];
  expect(found(...lost).moments).toMatchObject([{ score: 65, what: expect.stringContaining('no channel') }]);
  const gaveUp: TrajectoryPayload = {
    kind: 'completion_checked',
    met: false,
    missing: ['x'],
    attempt: 4,
    gave_up: true,
  };
  const end: TrajectoryPayload = { kind: 'run_ended', outcome: 'limit', new_messages: [] };
  expect(found(...lost, [0, gaveUp], [0, end]).moments.map(({ score }) => score)).toEqual([95, 70]);
});

test('a run that continues after its end has no outcome', () => {
  const end: TrajectoryPayload = { kind: 'run_ended', outcome: 'ended', new_messages: [] };
  expect(found([0, end]).ending).toMatchObject({ outcome: 'ended' });
  expect(found([0, end], [1, { kind: 'run_resumed', trigger: 'prompt' }]).ending).toBeUndefined();
});

test('the best moments of many runs are kept, the first of equals', () => {
  const best = new BestMoments(3);
  for (let run = 0; run < 100; run += 1) best.add([{ runId: `run-${run}`, what: 'x', type: 'x', score: run % 10 }]);
  expect(best.best.map(({ runId }) => runId)).toEqual(['run-9', 'run-19', 'run-29']);
});

test('a second moment of one type is listed only if other types do not fill the list', () => {
  const best = new BestMoments(3);
  const add = (runId: string, type: string, score: number): void => best.add([{ runId, type, what: type, score }]);
  for (let run = 0; run < 5; run += 1) add(`loop-${run}`, 'stuck cycle', 90);
  add('dead', 'end rate_limit', 70);
  expect(best.best.map(({ runId }) => runId)).toEqual(['loop-0', 'loop-1', 'dead']);
  add('silent', 'fault', 40);
  expect(best.best.map(({ runId }) => runId)).toEqual(['loop-0', 'dead', 'silent']);
});

test('a moment at a call has the start time of the call', () => {
  const { moments } = found(...call(1, false, 5), ...call(2, true), ...[3, 4, 5, 6].flatMap((id) => call(id, true)));
  expect(moments[0]).toMatchObject({ type: 'streak', call: 2, atMs: START_MS + 5 * MINUTE_MS });
});

test('a run that finished without a last message shows no earlier message as the last one', () => {
  const said: TrajectoryPayload = { kind: 'message_appended', message: { role: 'assistant', content: 'Good catch.' } };
  const end: TrajectoryPayload = { kind: 'run_ended', outcome: 'ended', new_messages: [] };
  const facts = found([0, said], ...call(1, false), [0, end]);
  expect([facts.verdict.evidence, facts.lastMessage]).toEqual([
    expect.stringContaining('without a last message'),
    undefined,
  ]);
  expect(found(...call(1, false), [0, said], [0, end]).lastMessage).toBe('Good catch.');
});
