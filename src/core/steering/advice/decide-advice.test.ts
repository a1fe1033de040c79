import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import {
  adviceId,
  severityOfLevel,
  type Advice,
  type AdviceCandidate,
  EMPTY_LEDGER,
  rearmAdvice,
  recordAdvice,
  type AdviceLedger,
  type AdviceView,
  decideAdvice,
  type AdviceDecision,
} from './advice.ts';

const at = (callIndex: number, more: Partial<AdviceView> = {}): AdviceView => ({
  callIndex,
  turn: callIndex,
  compactions: 0,
  ...more,
});

const loop = (level: PatternLevel, occurrences: number): AdviceCandidate => ({
  source: 'feedback',
  identity: 'identical_call:x',
  level,
  occurrences,
});

const ledgerWith = (candidate: AdviceCandidate, view: AdviceView, ledger: AdviceLedger = EMPTY_LEDGER): AdviceLedger =>
  recordAdvice(ledger, candidate, view);

test('a pattern gets advice once per level, from feedback or guidance', () => {
  const ledger = ledgerWith(loop('warn', 3), at(3));
  expect(decideAdvice(EMPTY_LEDGER, loop('warn', 3), at(3))).toEqual({ say: true, reason: 'first' });
  expect(decideAdvice(ledger, loop('warn', 4), at(90))).toEqual({ say: false, reason: 'already-said' });
  expect(decideAdvice(ledger, { ...loop('warn', 4), source: 'guidance' }, at(90)).reason).toBe('already-said');
});

test('a higher level gets advice at once if there is new evidence', () => {
  const ledger = ledgerWith(loop('warn', 3), at(3));
  expect(decideAdvice(ledger, loop('strong', 4), at(4))).toEqual({ say: true, reason: 'level-rose' });
  expect(decideAdvice(ledger, loop('strong', 3), at(90))).toEqual({ say: false, reason: 'no-new-evidence' });
});

test('the same level is repeated once its count has doubled and the cooldown has passed', () => {
  const ledger = ledgerWith(loop('strong', 6), at(10));
  expect(decideAdvice(ledger, loop('strong', 11), at(90)).reason).toBe('already-said');
  expect(decideAdvice(ledger, loop('strong', 12), at(14))).toEqual({ say: false, reason: 'cooldown' });
  expect(decideAdvice(ledger, loop('strong', 12), at(15))).toEqual({ say: true, reason: 'count-doubled' });
});

test('a run gets one piece at any call, then one in so many calls, up to its maximum; a deadline does not count', () => {
  const options = { callsPerAdvice: 50, maxPerRun: 3 };
  const about = (identity: string): AdviceCandidate => ({ ...loop('warn', 3), identity });
  const deadline: AdviceCandidate = { source: 'feedback', identity: 'feedback:Deadline' };
  const reasonAt = (ledger: AdviceLedger, call: number): string =>
    decideAdvice(ledger, about('new'), at(call), options).reason;
  let ledger = ledgerWith(deadline, at(1));
  expect(reasonAt(ledger, 3)).toBe('first');
  ledger = ledgerWith(about('one'), at(3), ledger);
  const again = (call: number): string =>
    decideAdvice(ledger, { ...about('one'), occurrences: 9 }, at(call), options).reason;
  expect([again(99), again(100)]).toEqual(['run-budget-spent', 'count-doubled']);
  // A second problem waits for a fifth of the calls.
  expect([reasonAt(ledger, 12), reasonAt(ledger, 13)]).toEqual(['run-budget-spent', 'first']);
  expect(decideAdvice(ledger, deadline, at(4), options).say).toBe(true);
  ledger = ledgerWith(about('three'), at(150), ledgerWith(about('two'), at(100), ledger));
  expect(reasonAt(ledger, 1_000)).toBe('run-budget-spent');
});

test('each provider has its own budget of a run', () => {
  const options = { callsPerAdvice: 50, maxPerRun: 1 };
  const own: AdviceCandidate = {
    source: 'feedback',
    provider: 'Mine',
    identity: 'mine',
    level: 'warn',
    occurrences: 3,
  };
  const ledger = ledgerWith(own, at(3));
  expect(decideAdvice(ledger, { ...loop('warn', 3), provider: 'Pattern' }, at(4), options).reason).toBe('first');
  expect(decideAdvice(ledger, { ...own, identity: 'other' }, at(40), options).reason).toBe('run-budget-spent');
});

test('a pattern that comes back after it was cleared gets advice again', () => {
  const ledger = rearmAdvice(ledgerWith(loop('strong', 6), at(10)), 'identical_call:x');
  expect(decideAdvice(ledger, loop('warn', 3), at(12))).toEqual({ say: false, reason: 'cooldown' });
  expect(decideAdvice(ledger, loop('warn', 3), at(20))).toEqual({ say: true, reason: 're-armed' });
});

test('after a compaction all advice may be repeated at once', () => {
  const ledger = ledgerWith(loop('warn', 3), at(10));
  expect(decideAdvice(ledger, loop('warn', 3), at(11, { compactions: 1 }))).toEqual({ say: true, reason: 'compacted' });
  const again = ledgerWith(loop('warn', 3), at(11, { compactions: 1 }), ledger);
  expect(decideAdvice(again, loop('warn', 3), at(40, { compactions: 1 })).reason).toBe('already-said');
});

test('a pattern has one budget for the whole run, whatever re-arms it', () => {
  let ledger = EMPTY_LEDGER;
  for (let round = 1; round <= 4; round += 1) {
    expect(decideAdvice(ledger, loop('warn', 3), at(round * 10, { compactions: round })).say).toBe(true);
    ledger = rearmAdvice(
      ledgerWith(loop('warn', 3), at(round * 10, { compactions: round }), ledger),
      'identical_call:x',
    );
  }
  expect(decideAdvice(ledger, loop('strong', 99), at(99, { compactions: 9 }))).toEqual({
    say: false,
    reason: 'budget-spent',
  });
});

test('feedback without a pattern has its own cooldown, guidance the long one', () => {
  const deadline: AdviceCandidate = { source: 'feedback', identity: 'Deadline' };
  const reminder: AdviceCandidate = { source: 'guidance', identity: 'guidance:parallel_tool_reminder' };
  const ledger = ledgerWith(reminder, at(10), ledgerWith(deadline, at(10)));
  expect(decideAdvice(ledger, deadline, at(10))).toEqual({ say: true, reason: 'cooldown-over' });
  expect(decideAdvice(ledger, deadline, at(12), { feedbackCooldownCalls: 3 }).say).toBe(false);
  expect(decideAdvice(ledger, deadline, at(13), { feedbackCooldownCalls: 3 }).say).toBe(true);
  expect(decideAdvice(ledger, reminder, at(14)).say).toBe(false);
  expect(decideAdvice(ledger, reminder, at(15)).say).toBe(true);
  let many = EMPTY_LEDGER;
  for (let call = 0; call < 20; call += 1) many = ledgerWith(deadline, at(call), many);
  expect(decideAdvice(many, deadline, at(20)).say).toBe(true);
});

test('a cooldown may also be counted in turns', () => {
  const ledger = ledgerWith({ source: 'guidance', identity: 'g' }, at(10, { turn: 1 }));
  const decide = (turn: number): AdviceDecision =>
    decideAdvice(ledger, { source: 'guidance', identity: 'g' }, at(90, { turn }), { cooldownTurns: 2 });
  expect([decide(2).say, decide(3).say]).toEqual([false, true]);
});

test('the ledger drops the oldest identity beyond 256', () => {
  let ledger = EMPTY_LEDGER;
  for (let index = 0; index < 257; index += 1)
    ledger = ledgerWith({ source: 'feedback', identity: `i${index}` }, at(1), ledger);
  expect(ledger).toHaveLength(256);
  expect(ledger[0]?.identity).toBe('i1');
});

test('the id of advice derives from its cause, the severity from the level', () => {
  const advice: Advice = {
    ...loop('warn', 3),
    id: adviceId(17, 2),
    provider: 'Patterns',
    severity: severityOfLevel('warn'),
    text: 'text',
    callIndex: 3,
    atMs: 0,
    point: 'post_tool_result',
  };
  expect(advice.id).toBe('a17-2');
  expect((['hint', 'warn', 'strong'] as const).map(severityOfLevel)).toEqual(['info', 'caution', 'warning']);
  expect(decideAdvice(recordAdvice(EMPTY_LEDGER, advice, at(3)), advice, at(4)).say).toBe(false);
});

interface LedgerStep {
  readonly identity: string;
  readonly level: PatternLevel;
  readonly occurrences: number;
  readonly left: boolean;
  readonly compacted: boolean;
  readonly calls: number;
}

const levels: readonly PatternLevel[] = ['hint', 'warn', 'strong'];
const steps: fc.Arbitrary<readonly LedgerStep[]> = fc.array(
  fc.record({
    identity: fc.constantFrom('a', 'b', 'c'),
    level: fc.constantFrom(...levels),
    occurrences: fc.integer({ min: 1, max: 40 }),
    left: fc.boolean(),
    compacted: fc.boolean(),
    calls: fc.integer({ min: 0, max: 8 }),
  }),
  { maxLength: 60 },
);

test('without re-arming, no level of a pattern is repeated and the budget is never exceeded', () => {
  fc.assert(
    fc.property(steps, (script) => {
      let ledger = EMPTY_LEDGER;
      let callIndex = 0;
      const advice: string[] = [];
      for (const { identity, level, calls } of script) {
        callIndex += calls;
        const candidate: AdviceCandidate = { source: 'feedback', identity, level, occurrences: 1 + callIndex / 1e6 };
        if (!decideAdvice(ledger, candidate, at(callIndex)).say) continue;
        ledger = recordAdvice(ledger, candidate, at(callIndex));
        advice.push(`${identity}/${level}`);
      }
      expect(new Set(advice).size).toBe(advice.length);
    }),
  );
});

test('a ledger that was serialised half-way decides the same, and the budget always holds', () => {
  const run = (script: readonly LedgerStep[], cut: number): readonly AdviceDecision[] => {
    let ledger = EMPTY_LEDGER;
    let callIndex = 0;
    let compactions = 0;
    return script.map((step, index) => {
      if (index === cut) ledger = JSON.parse(JSON.stringify(ledger)) as AdviceLedger;
      callIndex += step.calls;
      if (step.compacted) compactions += 1;
      if (step.left) ledger = rearmAdvice(ledger, step.identity);
      const candidate: AdviceCandidate = { source: 'guidance', ...step };
      const decision = decideAdvice(ledger, candidate, at(callIndex, { compactions }));
      if (decision.say) ledger = recordAdvice(ledger, candidate, at(callIndex, { compactions }));
      expect(ledger.every((entry) => entry.said <= 4)).toBe(true);
      return decision;
    });
  };
  fc.assert(
    fc.property(steps, fc.nat(60), (script, cut) => {
      expect(run(script, cut)).toEqual(run(script, -1));
    }),
  );
});
