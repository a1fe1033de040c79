import { expect, test } from 'vitest';

import { definePrompt } from '../prompt/define-prompt.ts';
import { createFeedbackScene } from '../../../../test/support/feedback-scene.ts';
import { createSession } from '../../session/create-session.ts';
import { createFakeClock } from '../../../testing/fake-clock.ts';
import { collectFeedback } from './evaluate-feedback.ts';
import { createFeedbackContext } from './advice-context.ts';
import { deadlineFeedback, type DeadlineFeedbackOptions } from './built-in-feedback.ts';

/** Feedback with a call every five seconds, from the start to a minute after the deadline. */
function feedbackUntil(minutes: number, options: DeadlineFeedbackOptions): readonly string[] {
  const prompt = definePrompt({
    ns: 'agent',
    key: 'work',
    feedbackProviders: [{ provider: deadlineFeedback(options), trigger: { everyNSeconds: 30 } }],
  });
  const { session, clock } = createFeedbackScene('agent/work');
  const deadline = { atMs: clock.nowMs() + minutes * 60_000 };
  const texts: string[] = [];
  for (let seconds = 0; seconds <= (minutes + 1) * 60; seconds += 5) {
    const text = collectFeedback({ prompt, session, deadline });
    if (text !== undefined) texts.push(text.split('\n')[2] ?? '');
    clock.advance(5);
  }
  return texts;
}

test('with halving, feedback is given first, each time the remaining time has halved, and when the warning begins', () => {
  expect(feedbackUntil(45, { spacing: 'halving' })).toEqual([
    'You have 45 minutes remaining.',
    'You have 22 minutes remaining.',
    'You have 11 minutes remaining.',
    'You have 5 minutes remaining.',
    'You have 2 minutes remaining.',
    'You have 2 minutes remaining.',
    'You have 60 seconds remaining.',
    'You have 30 seconds remaining.',
    'You have reached the time deadline.',
    'You have reached the time deadline.',
    'You have reached the time deadline.',
  ]);
});

test('without halving, feedback is given whenever the trigger fires', () => {
  expect(feedbackUntil(45, {})).toHaveLength(93);
});

test('after the deadline changed, feedback is given, however far away the deadline is', () => {
  const prompt = definePrompt({
    ns: 'agent',
    key: 'work',
    feedbackProviders: [{ provider: deadlineFeedback({ spacing: 'halving' }), trigger: { everyNSeconds: 30 } }],
  });
  const { session, clock } = createFeedbackScene('agent/work');
  const first = { atMs: clock.nowMs() + 600_000 };
  expect(collectFeedback({ prompt, session, deadline: first })).toContain('10 minutes');
  clock.advance(60);
  expect(collectFeedback({ prompt, session, deadline: first })).toBeUndefined();
  const second = { atMs: clock.nowMs() + 540_000, setAtMs: clock.nowMs() };
  expect(collectFeedback({ prompt, session, deadline: second })).toContain('9 minutes');
});

test('less than a second is 0 seconds', () => {
  const prompt = definePrompt({ ns: 'a', key: 'b' });
  const session = createSession({ clock: createFakeClock() });
  const context = createFeedbackContext({ prompt, session, nowMs: 0, deadline: { atMs: 340 } });
  expect(deadlineFeedback().provide(context).summary).toBe('You have 0 seconds remaining.');
});
