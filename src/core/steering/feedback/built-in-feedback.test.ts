import { expect, test } from 'vitest';

import { identicalCallDetector } from '../../detect/detectors/identical-call.ts';
import { errorCascadeDetector } from '../../detect/detectors/error-cascade.ts';
import { driftDetector } from '../../detect/detectors/drift.ts';
import { stallDetector } from '../../detect/detectors/stall.ts';
import type { TrajectoryPayload } from '../../records/trajectory-record.ts';
import { definePrompt } from '../prompt/define-prompt.ts';
import type { FeedbackProvider, FeedbackTrigger } from '../prompt/feedback-provider.ts';
import type { PromptTemplate } from '../prompt/prompt-template.ts';
import type { PatternDetector } from '../../detect/patterns/pattern-detector.ts';
import { TrajectoryAnalysis } from '../../detect/patterns/trajectory-analysis.ts';
import { createFeedbackScene } from '../../../../test/support/feedback-scene.ts';
import { scriptRecord } from '../../../../test/support/script-records.ts';
import { collectFeedback, evaluateFeedback } from './evaluate-feedback.ts';
import { driftFeedback, errorCascadeFeedback, stallFeedback } from './pattern-feedback.ts';
import { Feedback } from './advice-slices.ts';
import { paceFeedback, staticFeedback } from './built-in-feedback.ts';

const NAME = 'agent/main';

function promptWith(provider: FeedbackProvider, trigger?: FeedbackTrigger): PromptTemplate {
  const config = trigger === undefined ? { provider } : { provider, trigger };
  return definePrompt({ ns: 'agent', key: 'main', feedbackProviders: [config] });
}

/** A run to which calls are added one by one. */
function runWith(detector: PatternDetector) {
  const trajectory = new TrajectoryAnalysis({ detectors: [detector] });
  let seq = 0;
  const fold = (payload: TrajectoryPayload): void => {
    trajectory.fold(scriptRecord({ runId: 'r', seq, payload }));
    seq += 1;
  };
  const call = (tool: string, args: Readonly<Record<string, string>>, result: string, isError = false): void => {
    const callFields = { tool_call_id: `c${seq}`, tool_name: tool };
    fold({ kind: 'turn_started' });
    fold({ kind: 'tool_started', ...callFields, args });
    fold({ kind: 'tool_ended', ...callFields, result, is_error: isError });
  };
  return { trajectory, fold, call };
}

test('stallFeedback gives feedback once per level of a stall, with evidence', () => {
  const prompt = promptWith(stallFeedback());
  const { session, clock } = createFeedbackScene(NAME);
  const run = runWith(stallDetector({ maxCalls: 3 }));
  const severities: (string | undefined)[] = [];
  for (let count = 0; count < 9; count += 1) {
    run.call('read_file', { path: 'a.txt' }, 'same');
    const { produced } = evaluateFeedback({ prompt, session, nowMs: clock.nowMs(), trajectory: run.trajectory });
    severities.push(produced[0]?.severity);
  }
  const silent = undefined;
  expect(severities).toEqual([silent, silent, silent, 'caution', silent, silent, 'warning', silent, silent]);
  const firstFeedback = session.slice(Feedback).all()[0];
  expect(firstFeedback).toMatchObject({
    pattern: { level: 'warn', occurrences: 3 },
    observations: [{ category: 'stall', evidence: 'tool calls 1, 2, 3 (0-based); 3 in all' }],
  });
});

test('errorCascadeFeedback and driftFeedback render fixed sentences with counts', () => {
  const errorRun = runWith(errorCascadeDetector({ warnAt: 3 }));
  errorRun.call('build', { target: 'x' }, 'Error: no module alpha', true);
  errorRun.call('lint', { target: 'y' }, 'Error: cannot open beta', true);
  errorRun.call('deploy', { target: 'z' }, 'Error: refused gamma', true);
  const { session } = createFeedbackScene(NAME);
  expect(
    collectFeedback({ prompt: promptWith(errorCascadeFeedback()), session, trajectory: errorRun.trajectory }),
  ).toBe(
    '[Feedback - ErrorCascade]\n\nYour recent steps keep failing.\n\n• error_cascade: 3 steps in a row ended in an error.\n\n→ Stop and look for one cause behind these errors.\n→ Check the assumption that the failing steps share before you try another one.',
  );
  const driftRun = runWith(driftDetector({ windowSize: 3 }));
  driftRun.fold({ kind: 'run_started', identity: { run_id: 'r', depth: 0 }, task: 'Repair the invoice parser' });
  for (let count = 0; count < 5; count += 1)
    driftRun.call('read_file', { path: `invoice parser ${count}` }, `text ${count}`);
  for (let count = 0; count < 3; count += 1)
    driftRun.call('read_file', { path: `holiday weather ${count}` }, `sun ${count}`);
  expect(collectFeedback({ prompt: promptWith(driftFeedback()), session, trajectory: driftRun.trajectory })).toContain(
    "• drift: 3 tool calls in a row touch none of the task's subjects.",
  );
});

test.each([stallFeedback(), errorCascadeFeedback(), driftFeedback()])(
  '$name is silent without a trajectory and without its pattern',
  (provider) => {
    const prompt = promptWith(provider, { everyNCalls: 1 });
    const { session, call } = createFeedbackScene(NAME);
    call();
    expect(collectFeedback({ prompt, session })).toBeUndefined();
    const { trajectory } = runWith(stallDetector());
    expect(collectFeedback({ prompt, session, trajectory })).toBeUndefined();
  },
);

test('onPattern selects patterns by kind, level and stuck', () => {
  const run = runWith(stallDetector({ maxCalls: 2 }));
  for (let count = 0; count < 3; count += 1) run.call('read_file', { path: 'a.txt' }, 'same');
  const fires = (onPattern: FeedbackTrigger['onPattern']): boolean => {
    const provider = staticFeedback({ name: 'S', summary: 'Seen.' });
    const prompt = promptWith(provider, onPattern === undefined ? {} : { onPattern });
    const { session } = createFeedbackScene(NAME);
    return collectFeedback({ prompt, session, trajectory: run.trajectory }) !== undefined;
  };
  expect(fires({})).toBe(true);
  expect(fires({ kind: 'stall', level: 'warn', stuck: true })).toBe(true);
  expect(fires({ kind: 'drift' })).toBe(false);
  expect(fires({ level: 'strong' })).toBe(false);
  expect(fires({ stuck: false })).toBe(false);
});

test('a provider gets the pattern for which its trigger fired, each pattern once', () => {
  const tools: (string | undefined)[] = [];
  const provider: FeedbackProvider = {
    name: 'Told',
    shouldRun: () => true,
    provide: ({ triggerPattern }) => {
      tools.push(triggerPattern?.tool);
      return { summary: 'Seen.' };
    },
  };
  const prompt = promptWith(provider, { onPattern: { kind: 'identical_call' } });
  const { session } = createFeedbackScene(NAME);
  const run = runWith(identicalCallDetector());
  for (let count = 0; count < 3; count += 1) run.call('read_file', { path: 'a.txt' }, 'same');
  for (let count = 0; count < 3; count += 1) run.call('grep', { text: 'x' }, 'same');
  for (let count = 0; count < 3; count += 1) collectFeedback({ prompt, session, trajectory: run.trajectory });
  expect(tools).toEqual(['read_file', 'grep']);
});

test('onPattern fires again after a compaction', () => {
  const prompt = promptWith(stallFeedback());
  const { session } = createFeedbackScene(NAME);
  const run = runWith(stallDetector({ maxCalls: 3 }));
  const givesFeedback = (): boolean => collectFeedback({ prompt, session, trajectory: run.trajectory }) !== undefined;
  for (let count = 0; count < 4; count += 1) run.call('read_file', { path: 'a.txt' }, 'same');
  expect([givesFeedback(), givesFeedback()]).toEqual([true, false]);
  run.fold({ kind: 'compaction', trigger: 'auto' });
  expect([givesFeedback(), givesFeedback()]).toEqual([true, false]);
});

test('staticFeedback always gives the same text, checked on creation', () => {
  const provider = staticFeedback({
    name: 'Note',
    summary: 'Keep going.',
    suggestions: ['Test it.'],
    severity: 'caution',
  });
  const { session, call } = createFeedbackScene(NAME);
  call();
  expect(collectFeedback({ prompt: promptWith(provider, { everyNCalls: 1 }), session })).toBe(
    '[Feedback - Note]\n\nKeep going.\n\n→ Test it.',
  );
  expect(() => staticFeedback({ name: 'Note', summary: '' })).toThrow(
    expect.objectContaining({ code: 'invalid-definition' }),
  );
});

test('paceFeedback gives no feedback while budget and time last, or without either', () => {
  const prompt = promptWith(paceFeedback(), { everyNCalls: 1 });
  const { session, clock, call } = createFeedbackScene(NAME);
  for (let count = 0; count < 10; count += 1) {
    call();
    clock.advance(10);
  }
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  const largeBudget = { budget: { calls: 100, tokens: 1_000_000 }, usage: { tokens: 1_000 } };
  const deadline = { atMs: clock.nowMs() + 3_600_000 };
  expect(collectFeedback({ prompt, session, ...largeBudget, deadline })).toBeUndefined();
});

test('paceFeedback projects calls, tokens, cost and time to tool calls, the tightest first', () => {
  const prompt = promptWith(paceFeedback(), { everyNCalls: 1 });
  const { session, clock, call } = createFeedbackScene(NAME);
  for (let count = 0; count < 10; count += 1) {
    clock.advance(10);
    call();
  }
  // 10 calls: 1,000 tokens and 0.10 dollars and 10 s each.
  const budget = { calls: 25, tokens: 12_500, costUsd: 1.5 };
  const usage = { tokens: 10_000, costUsd: 1 };
  const deadline = { atMs: clock.nowMs() + 99_000 };
  expect(collectFeedback({ prompt, session, budget, usage, deadline })).toBe(
    [
      '[Feedback - Pace]\n\nAt this rate the token budget lasts for about 2 more tool calls.\n',
      '• pace: At this rate the cost budget lasts for about 5 more tool calls.',
      '• pace: At this rate the time lasts for about 9 more tool calls.',
      '• pace: At this rate the call budget lasts for about 15 more tool calls.\n',
      '→ Finish the most important remaining work first.\n→ Leave room to summarize what is done and what is not.',
    ].join('\n'),
  );
  const lastFeedback = session.slice(Feedback).latest();
  expect(lastFeedback?.severity).toBe('warning');
  expect(lastFeedback?.observations[0]?.evidence).toBe('1 of 1.5 used in 10 tool calls');
});

test('paceFeedback reports when nothing remains', () => {
  const prompt = promptWith(paceFeedback(), { everyNCalls: 1 });
  const { session, call } = createFeedbackScene(NAME);
  call(6);
  expect(collectFeedback({ prompt, session, budget: { calls: 6 } })).toBe(
    '[Feedback - Pace]\n\nThe call budget is used up.\n\n• pace: 6 of 6 used in 6 tool calls.\n\n→ Wrap up immediately.',
  );
});

test('paceFeedback warns about a budget of eight calls before it is used up, and once more when it is', () => {
  const prompt = promptWith(paceFeedback(), { everyNCalls: 1 });
  const { session, call } = createFeedbackScene(NAME);
  const said: string[] = [];
  for (let count = 1; count <= 12; count += 1) {
    call();
    const text = collectFeedback({ prompt, session, budget: { calls: 8 } });
    if (text !== undefined) said.push(`${count}: ${text.split('\n')[2] ?? ''}`);
  }
  expect(said).toEqual([
    '4: At this rate the call budget lasts for about 4 more tool calls.',
    '8: The call budget is used up.',
  ]);
});

test('paceFeedback warns before a budget ends, however few calls it lasts for, and says when it is used up', () => {
  const saidWith = (
    limit: { readonly tokens?: number; readonly costUsd?: number },
    callCost: number,
  ): readonly string[] => {
    const prompt = promptWith(paceFeedback(), { everyNCalls: 1 });
    const { session, call } = createFeedbackScene(NAME);
    const said: string[] = [];
    let spent = 0;
    for (let count = 1; count <= 10; count += 1) {
      call();
      spent += callCost;
      const text = collectFeedback({ prompt, session, budget: limit, usage: { tokens: spent, costUsd: spent } });
      if (text !== undefined) said.push(`${count}: ${text.split('\n')[2] ?? ''}`);
    }
    return said;
  };
  expect(saidWith({ tokens: 5_000 }, 1_100)).toEqual([
    '2: At this rate the token budget lasts for about 2 more tool calls.',
    '4: At this rate the token budget does not last for another tool call.',
    '5: The token budget is used up.',
  ]);
  expect(saidWith({ costUsd: 0.0045 }, 0.00045).at(-2)).toBe(
    '5: At this rate the cost budget lasts for about 5 more tool calls.',
  );
  expect(saidWith({ costUsd: 0.0045 }, 0.00045).at(-1)).toMatch(/^10: /);
});

test('paceFeedback refuses windows that the session does not retain', () => {
  for (const options of [{ window: 1_001 }, { minCalls: 1 }, { speakAtCallsLeft: -1 }]) {
    expect(() => paceFeedback(options)).toThrow(expect.objectContaining({ code: 'invalid-definition' }));
  }
});

test('an unknown option of a provider is refused by name, because plain JavaScript may pass one', () => {
  const misspeltOptions: object = { windw: 30 };
  expect(() => paceFeedback(misspeltOptions)).toThrow(
    expect.objectContaining({ code: 'invalid-definition', message: 'there is no option windw; did you mean window?' }),
  );
  const unknownOptions: object = { trigger: { everyNCalls: 2 } };
  expect(() => stallFeedback(unknownOptions)).toThrow(expect.objectContaining({ details: { option: 'trigger' } }));
});
