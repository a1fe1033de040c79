import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { RunFactsFold } from './run-facts-fold.ts';
import { RunView } from './run-view.ts';
import { runStory, sentenceText, StoryFold, type StoryFacts } from './run-story.ts';

const NOTHING: StoryFacts = {
  calls: 12,
  complete: true,
  patternBasis: 'recorded',
  patterns: [],
  advice: [],
  adviceLeftOut: 0,
};
const STUCK = {
  kind: 'repeated_error',
  stuck: true,
  occurrences: 8,
  fromCall: 2,
  fromSeq: 9,
  flaggedCall: 5,
  toCall: null,
};
const ADVICE = { delivery: 'delivered', callsBefore: 5, nextCall: 'same-failure', seq: 30, isLeft: false } as const;

function textsOf(facts: Partial<StoryFacts>): readonly string[] {
  return runStory({ ...NOTHING, ...facts }).map((sentence) => `${sentence.name} ${sentenceText(sentence)}`);
}

test('a run without a pattern and without advice has nothing to say', () => {
  expect(textsOf({})).toEqual([]);
});

test('a stuck run says where, what it cost, what was advised, and that it did not help', () => {
  const wasted = { call: 5, calls: 7, ms: 130_000, kind: 'repeated_error', costUsd: 0.17 };
  const advice = [
    { ...ADVICE, pattern: {} },
    { ...ADVICE, pattern: {}, nextCall: 'repeated', seq: 40 } as const,
    { ...ADVICE, pattern: {}, delivery: 'withheld' } as const,
  ];
  expect(textsOf({ patterns: [STUCK], wasted, errorLine: ['bash: not found', 9], advice })).toEqual([
    'Got stuck From call 2 to the end, noticed at call 5: the same error again and again (at least 8 times). 9 of 12 calls: bash: not found',
    'Cost of it 7 calls · 2 minutes · $0.17 while a warning stood (58 % of the calls).',
    'Advice 2 times, first after call 5; 1 held back by the experiment.',
    'Did it help? No: the pattern was not cleared. Next, 1× it made the same call again, 1× it failed in the same way.',
  ]);
});

test('the error line of a run is one that stands in its results, with its own numbers', () => {
  const story = new StoryFold(new RunView());
  const call = {
    id: 'a',
    number: 1,
    tool: 'Bash',
    args: null,
    seq: 0,
    startLost: false,
    failed: true,
    resultMissing: false,
  };
  story.fold(call, 'sh: 1: jq: not found');
  story.fold(call, '/usr/bin/python3: No module named pytest');
  story.fold(call, '/usr/bin/python4: No module named pytest');
  expect(story.errorLine).toEqual(['/usr/bin/python3: No module named pytest', 2]);
});

test('the cost of a pattern ends with the pattern, and goes on with the next one', () => {
  const fold = new RunFactsFold('run');
  const pattern = {
    kind: 'repeated_error',
    stuck: true,
    level: 'warn',
    confidence: 1,
    evidence: [0],
    firstSeen: 0,
  } as const;
  const flag = (identity: string): TrajectoryPayload => ({
    kind: 'pattern_flagged',
    pattern: { ...pattern, identity, flaggedAt: 0, occurrences: 3 },
    cause_seq: 0,
    ordinal: 0,
  });
  const clear = (identity: string): TrajectoryPayload => ({
    kind: 'pattern_cleared',
    pattern: { ...pattern, identity, flaggedAt: 0, occurrences: 3, clearedAt: 1 },
    cause_seq: 0,
    ordinal: 0,
  });
  let call = 0;
  const calls = (count: number): readonly TrajectoryPayload[] =>
    Array.from({ length: count }, () => ({
      kind: 'tool_started',
      tool_call_id: `c${call++}`,
      tool_name: 'save',
      args: {},
    }));
  const spentAfter = (payloads: readonly TrajectoryPayload[]): number | undefined => {
    for (const payload of payloads) fold.add(payload);
    return fold.facts(1).afterFlag?.calls;
  };
  expect(spentAfter([...calls(3), flag('a'), ...calls(3), clear('a'), ...calls(9)])).toBe(3);
  expect(spentAfter([flag('b'), ...calls(2)])).toBe(5);
  expect(spentAfter([flag('c'), ...calls(1), clear('b'), ...calls(1), clear('c'), ...calls(4)])).toBe(7);
});

test('a few calls after advice do not show that it did not help', () => {
  const helpAfter = (calls: number): string | undefined =>
    textsOf({ calls, advice: [{ ...ADVICE, pattern: {} }] })[3]?.replace('Did it help? ', '');
  expect(helpAfter(5)).toMatch(/^Not known: no call followed, and the pattern was not cleared\. /);
  expect(helpAfter(6)).toMatch(/^Not known: only 1 call followed/);
  expect(helpAfter(9)).toMatch(/^Not known: only 4 calls followed/);
  expect(helpAfter(10)).toMatch(/^No: /);
});

test('a pattern that was cleared after advice is no proof that the advice helped', () => {
  const advice = [{ ...ADVICE, pattern: {}, isLeft: true, nextCall: 'succeeded' } as const];
  expect(textsOf({ advice })[3]).toBe(
    'Did it help? Perhaps: the pattern was cleared. Next, it made another call, which succeeded.',
  );
});

test('advice about a deadline says nothing about a pattern', () => {
  expect(textsOf({ patterns: [STUCK], advice: [ADVICE] })[3]).toBe(
    'Did it help? The advice was not about a pattern. Next, it failed in the same way.',
  );
});

test('withheld advice shows what happens without it', () => {
  const withheld = { ...ADVICE, delivery: 'withheld', pattern: {}, isLeft: true } as const;
  expect(textsOf({ advice: [withheld, { ...withheld, isLeft: false }] }).slice(2)).toEqual([
    'Advice No advice reached the agent; 2 held back by the experiment.',
    'Did it help? Without it, it failed in the same way. Later the pattern was cleared after 1 of 2.',
  ]);
});

test.each([
  ['known prices', 'claude-sonnet-4-5', { tokens: 220, costUsd: 2 * (100 * 3e-6 + 10 * 15e-6) }],
  ['unknown prices', 'a-model', { tokens: 220 }],
])('the totals that the host reports for the session are no cost after the warning, with %s', (_, model, after) => {
  const fold = new RunFactsFold('run');
  const usage = { input_tokens: 100, output_tokens: 10 };
  const message = { role: 'assistant', content: 'x', model_id: model, stop_reason: 'stop', usage } as const;
  const answer: TrajectoryPayload = { kind: 'message_appended', message };
  const pattern = { kind: 'identical_call', identity: 'i', stuck: true, level: 'strong', confidence: 1 } as const;
  const flagged = { ...pattern, evidence: [1], firstSeen: 0, flaggedAt: 1, occurrences: 4 };
  const payloads: readonly TrajectoryPayload[] = [
    {
      kind: 'run_started',
      identity: { run_id: 'run', depth: 0 },
      steering: { prompt_name: 'p', configuration_hash: 'h', mode: 'steer' },
    },
    answer,
    { kind: 'pattern_flagged', pattern: flagged, cause_seq: 0, ordinal: 0 },
    answer,
    answer,
    { kind: 'run_ended', outcome: 'ended', new_messages: [], usage: { tokens: 9_000, cost_usd: 5 } },
  ];
  for (const [seq, payload] of payloads.entries())
    fold.fold({ schema_version: 1, seq, run_id: 'run', depth: 0, recorded_at_unix_ms: 1, payload });
  const { afterFlag, answersWithoutCost, costUsd, tokens } = fold.facts(1);
  expect({ ...afterFlag, call: 0, kind: '' }).toEqual({ call: 0, calls: 0, ms: 0, kind: '', ...after });
  expect({ answersWithoutCost, costUsd, tokens }).toEqual({ costUsd: 5, tokens: 9_000 });
});
