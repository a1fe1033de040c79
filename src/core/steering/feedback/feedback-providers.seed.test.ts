// One test for each behaviour that the specification of feedback providers states.
import { expect, test } from 'vitest';
import { deadlineAfter } from '../../base/deadline.ts';
import { definePrompt, type PromptDefinition } from '../prompt/define-prompt.ts';
import type { FeedbackContext, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { Filesystem } from '../prompt/prompt-resources.ts';
import type { PromptTemplate } from '../prompt/prompt-template.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';
import { createFeedbackScene } from '../../../../test/support/feedback-scene.ts';
import { collectFeedback, runFeedbackProviders } from './evaluate-feedback.ts';
import { createFeedbackContext } from './advice-context.ts';
import { deadlineFeedback, toolUsageMonitor } from './built-in-feedback.ts';
import { Feedback, FeedbackEvent } from './advice-slices.ts';
import { prepareFeedback } from './speaker.ts';

function promptWith(definition: Omit<PromptDefinition, 'ns' | 'key'>, key = 'main'): PromptTemplate {
  return definePrompt({ ns: 'agent', key, ...definition });
}

const NAME = 'agent/main';

function createProvider(name: string, summary = `${name} speaks.`): FeedbackProvider {
  return { name, shouldRun: () => true, provide: () => ({ summary }) };
}

test('a provider is a plain object written in a few lines', () => {
  const usage: FeedbackProvider = {
    name: 'ToolUsageMonitor',
    shouldRun: () => true,
    provide: (context) => ({ summary: `Progress check: ${context.toolCallCount} tool calls made.`, severity: 'info' }),
  };
  const prompt = promptWith({ feedbackProviders: [{ provider: usage, trigger: { everyNCalls: 2 } }] });
  const { session, call } = createFeedbackScene(NAME);
  call(2);
  expect(collectFeedback({ prompt, session })).toBe(
    '[Feedback - ToolUsageMonitor]\n\nProgress check: 2 tool calls made.',
  );
});

test('everyNCalls: the provider runs after N tool calls since the last feedback', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNCalls: 10 } }] });
  const { session, call } = createFeedbackScene(NAME);
  const feedbackAt: number[] = [];
  for (let count = 1; count <= 35; count += 1) {
    call();
    if (collectFeedback({ prompt, session }) !== undefined) feedbackAt.push(count);
  }
  expect(feedbackAt).toEqual([10, 20, 30]);
});

test('everyNSeconds: the provider runs at once without prior feedback, then N seconds after the last', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNSeconds: 30 } }] });
  const { session, clock } = createFeedbackScene(NAME);
  const givesFeedback = (): boolean => collectFeedback({ prompt, session }) !== undefined;
  expect(givesFeedback()).toBe(true);
  clock.advance(29.999);
  expect(givesFeedback()).toBe(false);
  clock.advance(0.001);
  expect(givesFeedback()).toBe(true);
  expect(givesFeedback()).toBe(false);
});

test('conditions are OR-ed: either one is enough', () => {
  const trigger = { everyNCalls: 3, everyNSeconds: 60 };
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger }] });
  const { session, clock, call } = createFeedbackScene(NAME);
  const givesFeedback = (): boolean => collectFeedback({ prompt, session }) !== undefined;
  expect(givesFeedback()).toBe(true);
  call(2);
  expect(givesFeedback()).toBe(false);
  call();
  expect(givesFeedback()).toBe(true);
  clock.advance(60);
  expect(givesFeedback()).toBe(true);
});

test('a trigger without a condition never fires', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: {} }] });
  const { session, clock, call } = createFeedbackScene(NAME);
  call(500);
  clock.advance(1e6);
  expect(collectFeedback({ prompt, session })).toBeUndefined();
});

test('shouldRun filters further, and is asked only after the trigger fired', () => {
  let shouldRunCalls = 0;
  const reluctantProvider: FeedbackProvider = {
    ...createProvider('Shy'),
    shouldRun: () => {
      shouldRunCalls += 1;
      return false;
    },
  };
  const prompt = promptWith({ feedbackProviders: [{ provider: reluctantProvider, trigger: { everyNCalls: 2 } }] });
  const { session, call } = createFeedbackScene(NAME);
  call();
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  expect(shouldRunCalls).toBe(0);
  call();
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  expect(shouldRunCalls).toBe(1);
});

test('the first matching provider wins and subsequent providers are not evaluated', () => {
  let isEvaluated = false;
  const laterProvider: FeedbackProvider = {
    ...createProvider('Later'),
    shouldRun: () => {
      isEvaluated = true;
      return true;
    },
  };
  const trigger = { everyNCalls: 1 };
  const reluctantProvider = { ...createProvider('Unwilling'), shouldRun: () => false };
  const prompt = promptWith({
    feedbackProviders: [
      { provider: reluctantProvider, trigger },
      { provider: createProvider('First'), trigger },
      { provider: laterProvider, trigger },
    ],
  });
  const { session, call } = createFeedbackScene(NAME);
  call();
  expect(collectFeedback({ prompt, session })).toBe('[Feedback - First]\n\nFirst speaks.');
  expect(isEvaluated).toBe(false);
});

test('the runner sets provider, time, call index and prompt name, and stores the feedback in the session slice', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNCalls: 3 } }] });
  const { session, clock, call } = createFeedbackScene(NAME);
  const events: unknown[] = [];
  session.subscribe(FeedbackEvent, (event) => events.push(event.data));
  call(3);
  collectFeedback({ prompt, session });
  const stored = {
    providerName: 'A',
    summary: 'A speaks.',
    observations: [],
    suggestions: [],
    severity: 'info',
    atMs: clock.nowMs(),
    callIndex: 3,
    promptName: NAME,
  };
  expect(session.slice(Feedback).latest()).toEqual(stored);
  expect(session.slice(Feedback).all()).toEqual([stored]);
  expect(events).toEqual([stored]);
});

test('counts, history and triggers are scoped to the current prompt', () => {
  const feedbackProviders = [{ provider: createProvider('A'), trigger: { everyNCalls: 2 } }];
  const main = promptWith({ feedbackProviders });
  const other = promptWith({ feedbackProviders }, 'other');
  const { session, call, clock } = createFeedbackScene(NAME);
  call(2);
  expect(collectFeedback({ prompt: other, session })).toBeUndefined();
  expect(collectFeedback({ prompt: main, session })).toBeDefined();
  call(1, { promptName: other.name });
  const seen = createFeedbackContext({ prompt: other, session, nowMs: clock.nowMs() });
  expect(seen).toMatchObject({ promptName: 'agent/other', toolCallCount: 1, lastFeedback: undefined });
  expect(seen.toolCallsSinceLastFeedback()).toBe(1);
  expect(seen.recentToolCalls(5)).toHaveLength(1);
  const mine = createFeedbackContext({ prompt: main, session, nowMs: clock.nowMs() });
  expect(mine).toMatchObject({ toolCallCount: 2, lastFeedback: { callIndex: 2, promptName: NAME } });
  expect(mine.toolCallsSinceLastFeedback()).toBe(0);
});

test('a tool call that names no prompt counts under every prompt', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNCalls: 2 } }] });
  const { session, call } = createFeedbackScene('');
  call(2);
  expect(collectFeedback({ prompt, session })).toBeDefined();
});

test('the context gives session, prompt, resources, filesystem, deadline, counts and recent calls', () => {
  let seen: FeedbackContext | undefined;
  const recordingProvider: FeedbackProvider = {
    name: 'Curious',
    shouldRun: () => true,
    provide: (context) => {
      seen = context;
      return { summary: 'Seen.' };
    },
  };
  const prompt = promptWith({
    feedbackProviders: [{ provider: recordingProvider, trigger: { everyNCalls: 3 } }],
    resources: [Filesystem({ exists: () => true })],
  });
  const { session, clock, call } = createFeedbackScene(NAME);
  const deadline = deadlineAfter(clock.nowMs(), { minutes: 1 });
  call(3);
  collectFeedback({ prompt, session, deadline, budget: { calls: 9 }, usage: { calls: 3 } });
  call(1, { name: 'grep', success: false });
  call(2);
  collectFeedback({ prompt, session, deadline });
  expect(seen).toMatchObject({ promptName: NAME, deadline, nowMs: clock.nowMs(), toolCallCount: 6 });
  expect(seen?.session).toBe(session);
  expect(seen?.prompt).toBe(prompt);
  expect(seen?.resources).toBe(prompt.resources);
  expect(seen?.filesystem?.exists('x')).toBe(true);
  expect(seen?.lastFeedback).toMatchObject({ providerName: 'Curious', callIndex: 3 });
  expect(seen?.toolCallsSinceLastFeedback()).toBe(3);
  expect(seen?.recentToolCalls(3).map(({ name }) => name)).toEqual(['grep', 'read_file', 'read_file']);
  expect(seen?.recentToolCalls(100)).toHaveLength(6);
  expect(seen?.recentToolCalls(0)).toEqual([]);
});

test('a window larger than what is retained is refused, not answered wrongly', () => {
  const { session, clock } = createFeedbackScene(NAME);
  const context = createFeedbackContext({ prompt: promptWith({}), session, nowMs: clock.nowMs() });
  for (const window of [ToolInvoked.retain + 1, -1, 1.5]) {
    expect(() => context.recentToolCalls(window)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    expect(() => context.errorRate(window)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  }
});

test('deadlineFeedback does not run when no deadline is configured', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: deadlineFeedback(), trigger: { everyNCalls: 1 } }] });
  const { session, call } = createFeedbackScene(NAME);
  call();
  expect(collectFeedback({ prompt, session })).toBeUndefined();
});

test.each([
  [480, '[Feedback - Deadline]\n\nYou have 8 minutes remaining.'],
  [121, '[Feedback - Deadline]\n\nYou have 2 minutes remaining.'],
  [
    90,
    '[Feedback - Deadline]\n\nYou have 90 seconds remaining.\n\n→ Prioritize completing critical remaining work.\n→ Consider summarizing progress and remaining tasks.',
  ],
  [0, '[Feedback - Deadline]\n\nYou have reached the time deadline.\n\n→ Wrap up immediately.'],
  [-5, '[Feedback - Deadline]\n\nYou have reached the time deadline.\n\n→ Wrap up immediately.'],
])('deadlineFeedback with %d seconds left', (seconds, text) => {
  const provider = deadlineFeedback({ warningThresholdSeconds: 120 });
  const prompt = promptWith({ feedbackProviders: [{ provider, trigger: { everyNSeconds: 30 } }] });
  const { session, clock } = createFeedbackScene(NAME);
  expect(collectFeedback({ prompt, session, deadline: { atMs: clock.nowMs() + seconds * 1_000 } })).toBe(text);
});

test('toolUsageMonitor reports the count, and asks for a review above the maximum', () => {
  const provider = toolUsageMonitor({ maxCallsWithoutProgress: 15 });
  const prompt = promptWith({ feedbackProviders: [{ provider, trigger: { everyNCalls: 10 } }] });
  const { session, call } = createFeedbackScene(NAME);
  call(10);
  expect(collectFeedback({ prompt, session })).toBe(
    '[Feedback - ToolUsageMonitor]\n\nProgress check: 10 tool calls made.',
  );
  call(10);
  expect(collectFeedback({ prompt, session })).toBe(
    "[Feedback - ToolUsageMonitor]\n\nYou have made 20 tool calls.\n\n→ Review what you've accomplished so far.\n→ Check if you're making progress toward the goal.",
  );
  expect(
    session
      .slice(Feedback)
      .all()
      .map(({ severity }) => severity),
  ).toEqual(['info', 'caution']);
});

test('runFeedbackProviders runs against a context of one’s own', () => {
  const { session, clock } = createFeedbackScene(NAME);
  const prompt = promptWith({});
  prepareFeedback(session, prompt);
  const context: FeedbackContext = {
    ...createFeedbackContext({ prompt, session, nowMs: clock.nowMs() }),
    deadline: { atMs: clock.nowMs() + 480_000 },
  };
  const configs = [{ provider: deadlineFeedback(), trigger: { everyNSeconds: 30 } }];
  expect(runFeedbackProviders(configs, context)).toBe('[Feedback - Deadline]\n\nYou have 8 minutes remaining.');
  expect(runFeedbackProviders(configs, context)).toBeUndefined();
});

test('feedback dispatched before anything was collected counts for triggers', () => {
  const prompt = promptWith({ feedbackProviders: [{ provider: createProvider('A'), trigger: { everyNSeconds: 30 } }] });
  const { session, clock } = createFeedbackScene(NAME, [Feedback]);
  session.dispatch(
    FeedbackEvent({
      providerName: 'A',
      summary: 'Said earlier.',
      observations: [],
      suggestions: [],
      severity: 'info',
      atMs: clock.nowMs() - 10_000,
      callIndex: 0,
      promptName: NAME,
    }),
  );
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  clock.advance(20);
  expect(collectFeedback({ prompt, session })).toBeDefined();
});
