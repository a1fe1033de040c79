import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../records/words.ts';
import { scriptRun } from '../../../test/support/script-records.ts';
import type { AdviceOutcome } from './advice-outcome.ts';
import { viewOf } from './run-view.ts';

const WITHIN = 3;
const derived = { cause_seq: 0, ordinal: 0 };

function pattern(identity: string): Extract<TrajectoryPayload, { readonly kind: 'pattern_flagged' }>['pattern'] {
  return {
    kind: 'identical_call',
    identity,
    stuck: true,
    level: 'warn',
    confidence: 0.9,
    evidence: [0],
    firstSeen: 0,
    flaggedAt: 0,
    occurrences: 3,
  };
}

/** An event of a run; converted to payloads below. */
type Step =
  | { readonly type: 'call' }
  | { readonly type: 'error' }
  | { readonly type: 'answer'; readonly tokens: number }
  | { readonly type: 'flag' | 'clear'; readonly identity: string }
  | { readonly type: 'advice'; readonly id: string; readonly identity: string | undefined }
  | { readonly type: 'settle'; readonly id: string; readonly delivered: boolean; readonly reason: string }
  | { readonly type: 'acknowledge'; readonly id: string };

/** Calls that are open when the steps begin: each error is the result of one of them. */
const OPENING = 60;

function payloadOf(step: Step, seq: number): TrajectoryPayload {
  switch (step.type) {
    case 'call':
      return { kind: 'tool_started', tool_call_id: `call-${seq}`, tool_name: 'bash', args: {} };
    case 'error':
      return {
        kind: 'tool_ended',
        tool_call_id: `opening-${seq - OPENING}`,
        tool_name: 'bash',
        result: 'no',
        is_error: true,
      };
    case 'answer':
      return {
        kind: 'message_appended',
        message: { role: 'assistant', content: 'x', usage: { output_tokens: step.tokens, cost_usd: 0.5 } },
      };
    case 'flag':
      return { kind: 'pattern_flagged', pattern: pattern(step.identity), ...derived };
    case 'clear':
      return { kind: 'pattern_cleared', pattern: pattern(step.identity), ...derived };
    case 'advice':
      return {
        kind: 'feedback_produced',
        advice_id: step.id,
        provider_name: 'Pattern',
        text: 'x',
        feedback: {
          summary: 'x',
          observations: [],
          suggestions: [],
          severity: 'warning',
          atMs: 0,
          callIndex: 0,
          promptName: 'p',
          ...(step.identity === undefined
            ? {}
            : { pattern: { identity: step.identity, level: 'warn' as const, occurrences: 3 } }),
        },
        ...derived,
      };
    case 'settle':
      return {
        kind: 'feedback_delivered',
        advice_id: step.id,
        provider_name: 'Pattern',
        delivered: step.delivered,
        ...(step.delivered ? {} : { reason: step.reason }),
      };
    default:
      return { kind: 'advice_acknowledged', advice_id: step.id, response: 'accepted' };
  }
}

function recordsOf(steps: readonly Step[]): readonly TrajectoryRecord[] {
  const opening = Array.from({ length: OPENING }, (_, index): TrajectoryPayload => {
    return { kind: 'tool_started', tool_call_id: `opening-${index}`, tool_name: 'bash', args: {} };
  });
  return scriptRun('run', [...opening, ...steps.map((step, at) => payloadOf(step, OPENING + at))]);
}

/** The same outcomes, by looking over the whole run for each piece. */
function expectedOf(steps: readonly Step[]): readonly Partial<AdviceOutcome>[] {
  const calls = (from: number, to: number): number =>
    steps.slice(from, to).filter(({ type }) => type === 'call').length;
  return steps.flatMap((step, at) => {
    if (step.type !== 'advice' || steps.findIndex((other) => other.type === 'advice' && other.id === step.id) !== at)
      return [];
    const rest = steps.map((other, index) => ({ other, index })).slice(at + 1);
    // Advice counts from its delivery.
    const first = rest.find(({ other }) => other.type === 'settle' && other.id === step.id);
    const from = first?.other.type === 'settle' && first.other.delivered ? first.index : at;
    const near = rest.filter(({ index }) => index > from && calls(from, index + 1) <= WITHIN);
    const isOf = (other: Step, type: 'flag' | 'clear'): boolean =>
      other.type === type && other.identity === step.identity;
    const clear = rest.find(({ other }) => isOf(other, 'clear'));
    const before = steps.slice(0, at).findLast((other) => isOf(other, 'flag') || isOf(other, 'clear'));
    const flaggedLater = rest.some(
      ({ index, other }) =>
        isOf(other, 'flag') &&
        calls(index < from ? at : from, index) <= WITHIN &&
        (clear === undefined || index < clear.index),
    );
    const callsLeft = calls(from, steps.length);
    const callsToClear = clear === undefined ? undefined : calls(from, clear.index);
    const isFlagged = before?.type === 'flag' || flaggedLater;
    const canTell = step.identity !== undefined && callsLeft >= WITHIN;
    const wasLeft = callsToClear === undefined ? (isFlagged ? false : null) : callsToClear <= WITHIN;
    const settled = steps.findLast((other) => other.type === 'settle' && other.id === step.id);
    return [
      {
        adviceId: step.id,
        callsBefore: OPENING + calls(0, from),
        callsLeft,
        ...(callsToClear === undefined ? {} : { callsToClear }),
        cleared: canTell ? wasLeft : null,
        followingCalls: Math.min(WITHIN, callsLeft),
        followingErrors: near.filter(({ other }) => other.type === 'error').length,
        delivery: settled === undefined ? ('unsettled' as const) : deliveryOf(settled),
      },
    ];
  });
}

function deliveryOf(step: Step): AdviceOutcome['delivery'] {
  if (step.type !== 'settle') return 'unsettled';
  if (step.delivered) return 'delivered';
  return step.reason === WITHHELD_REASON ? 'withheld' : step.reason === SHADOW_REASON ? 'shadowed' : 'undelivered';
}

const identity = fc.constantFrom('loop', 'stall');
const id = fc.constantFrom('a1', 'a2', 'a3');
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.constant<Step>({ type: 'call' }), weight: 6 },
  { arbitrary: fc.constant<Step>({ type: 'error' }), weight: 2 },
  fc.record({ type: fc.constant('answer' as const), tokens: fc.nat(10) }),
  fc.record({ type: fc.constantFrom('flag' as const, 'clear' as const), identity }),
  {
    arbitrary: fc.record({
      type: fc.constant('advice' as const),
      id,
      identity: fc.option(identity, { nil: undefined }),
    }),
    weight: 2,
  },
);
/** Deliveries come after the steps, where their piece is known, and other steps after them. */
const script = fc
  .tuple(
    fc.array(step, { maxLength: 60 }),
    fc.array(
      fc.record({
        type: fc.constant('settle' as const),
        id,
        delivered: fc.boolean(),
        reason: fc.constantFrom(WITHHELD_REASON, SHADOW_REASON, 'no channel'),
      }),
      { maxLength: 4 },
    ),
    fc.array(
      step.filter(({ type }) => type !== 'advice'),
      { maxLength: 20 },
    ),
  )
  .map(([steps, settled, after]): readonly Step[] => [steps, settled, after].flat());

test('what is folded record by record is what looking over the whole run finds', () => {
  fc.assert(
    fc.property(script, (steps) => {
      const found = viewOf(recordsOf(steps), { advice: { within: WITHIN } }).advice;
      const expected = expectedOf(steps);
      expect(found).toHaveLength(expected.length);
      for (const [index, outcome] of found.entries()) {
        expect(outcome).toMatchObject(expected[index] ?? {});
        expect('callsToClear' in outcome).toBe('callsToClear' in (expected[index] ?? {}));
      }
    }),
    { numRuns: 500 },
  );
});

test('tokens, cost and the first answer of the agent are counted for the calls that follow', () => {
  const [outcome] = viewOf(
    recordsOf([
      { type: 'answer', tokens: 100 },
      { type: 'flag', identity: 'loop' },
      { type: 'advice', id: 'a1', identity: 'loop' },
      { type: 'settle', id: 'a1', delivered: true, reason: '' },
      { type: 'answer', tokens: 5 },
      { type: 'call' },
      { type: 'acknowledge', id: 'a1' },
      { type: 'answer', tokens: 7 },
      { type: 'call' },
      { type: 'clear', identity: 'loop' },
      { type: 'call' },
      { type: 'call' },
      { type: 'answer', tokens: 1_000 },
    ]),
    { advice: { within: WITHIN } },
  ).advice;
  expect(outcome).toMatchObject({
    severity: 'warning',
    delivery: 'delivered',
    cleared: true,
    callsToClear: 2,
    response: 'accepted',
    followingTokens: 12,
    followingCostUsd: 1,
    callsLeft: 4,
  });
});

test('a run that ended too early says nothing about a pattern, left or not', () => {
  const leftAtOnce: Step[] = [
    { type: 'flag', identity: 'loop' },
    { type: 'advice', id: 'a1', identity: 'loop' },
    { type: 'call' },
    { type: 'clear', identity: 'loop' },
  ];
  const early = viewOf(recordsOf(leftAtOnce), { advice: { within: WITHIN } }).advice[0];
  expect(early).toMatchObject({ cleared: null, callsToClear: 1 });
  const steps: Step[] = [
    { type: 'flag', identity: 'loop' },
    { type: 'advice', id: 'a1', identity: 'loop' },
    { type: 'call' },
    { type: 'call' },
  ];
  expect(viewOf(recordsOf(steps), { advice: { within: WITHIN } }).advice[0]?.cleared).toBeNull();
  expect(viewOf(recordsOf([...steps, { type: 'call' }]), { advice: { within: WITHIN } }).advice[0]?.cleared).toBe(
    false,
  );
});

test('of more pieces than are kept only the number is known', () => {
  const steps = Array.from({ length: 5 }, (_, index): Step => ({ type: 'advice', id: `a${index}`, identity: 'loop' }));
  const view = viewOf(recordsOf(steps), { advice: { maxPieces: 2 } });
  expect(view.advice.map(({ adviceId, text }) => [adviceId, text])).toEqual([
    ['a0', 'x'],
    ['a1', 'x'],
  ]);
  expect(view.adviceLeftOut).toBe(3);
});

/** A call of `bash` and its result; failed ones say why. */
function shell(callId: string, command: string, error?: string): readonly TrajectoryPayload[] {
  const [tool_call_id, tool_name] = [callId, 'bash'];
  return [
    { kind: 'tool_started', tool_call_id, tool_name, args: { command } },
    { kind: 'tool_ended', tool_call_id, tool_name, result: error ?? 'fine', is_error: error !== undefined },
  ];
}

const advice = payloadOf({ type: 'advice', id: 'a1', identity: undefined }, 0);
const before = shell('c1', 'npm test', 'Error: no such file a.ts');

test.each([
  ['repeated', shell('c2', 'npm test', 'Error: no such file a.ts')],
  ['same-failure', shell('c2', 'npm run test', 'Error: no such file a.ts')],
  ['other-failure', shell('c2', 'npm run build', 'Error: port 80 is in use')],
  ['succeeded', shell('c2', 'ls')],
  ['open', shell('c2', 'ls').slice(0, 1)],
  ['none', []],
] as const)('the next call after advice is told apart: %s', (nextCall, after) => {
  const [outcome] = viewOf(scriptRun('run', [...before, advice, ...after])).advice;
  expect(outcome?.nextCall).toBe(nextCall);
});

test('a call that was open when advice came is not the next one', () => {
  const [start, end] = shell('c1', 'npm test');
  const records = scriptRun(
    'run',
    [start, advice, end, ...shell('c2', 'npm test')].filter((one) => one !== undefined),
  );
  expect(viewOf(records).advice[0]?.nextCall).toBe('succeeded');
});

test('advice that is delivered with the result of the call it was about is followed by the call after it', () => {
  const delivered = payloadOf({ type: 'settle', id: 'a1', delivered: true, reason: '' }, 0);
  const outcomeOf = (...after: readonly TrajectoryPayload[]): AdviceOutcome | undefined =>
    viewOf(scriptRun('run', [advice, ...before, delivered, ...after])).advice[0];
  expect(outcomeOf()).toMatchObject({ callsBefore: 1, nextCall: 'none', followingCalls: 0, callsLeft: 0 });
  expect(outcomeOf(...shell('c2', 'npm test'))).toMatchObject({ callsBefore: 1, nextCall: 'repeated', callsLeft: 1 });
});

test('advice without a pattern tells whether the run ended before its deadline', () => {
  const outcomeAt = (deadline: number): AdviceOutcome | undefined => {
    const payloads: readonly TrajectoryPayload[] = [
      { kind: 'deadline_set', deadline_at_unix_ms: deadline },
      advice,
      { kind: 'run_ended', outcome: 'ended', new_messages: [] },
    ];
    return viewOf(scriptRun('run', payloads)).advice[0];
  };
  const endedAt = scriptRun('run', [advice, advice, advice])[2]?.recorded_at_unix_ms ?? 0;
  expect(outcomeAt(endedAt + 1)?.inTime).toBe(true);
  expect(outcomeAt(endedAt - 1)?.inTime).toBe(false);
});
