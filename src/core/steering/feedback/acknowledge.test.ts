import { expect, test } from 'vitest';
import { definePrompt } from '../prompt/define-prompt.ts';
import { createFeedbackScene } from '../../../../test/support/feedback-scene.ts';
import { acknowledge, type AdviceAnswer, ACKNOWLEDGEMENT_RESPONSES, acknowledgeToolDefinition } from './acknowledge.ts';
import { Acknowledgement } from './advice-slices.ts';
import { collectFeedback } from './evaluate-feedback.ts';
import { toolUsageMonitor } from './built-in-feedback.ts';

const prompt = definePrompt({
  ns: 'agent',
  key: 'main',
  feedbackProviders: [{ provider: toolUsageMonitor(), trigger: { everyNCalls: 2 } }],
});

test('a response to a provider belongs to its latest advice', () => {
  const { session, call, clock } = createFeedbackScene(prompt.name);
  for (let count = 0; count < 5; count += 1) {
    call();
    collectFeedback({ prompt, session });
  }
  clock.advance(1);
  const outcome = acknowledge(session, { provider: 'ToolUsageMonitor', response: 'accepted', note: ' Will\ndo.' });
  const acknowledgement = {
    provider: 'ToolUsageMonitor',
    callIndex: 4,
    promptName: 'agent/main',
    response: 'accepted',
    note: 'Will do.',
    atMs: clock.nowMs(),
  };
  expect(outcome).toEqual({ status: 'recorded', acknowledgement });
  expect(session.slice(Acknowledgement).all()).toEqual([acknowledgement]);
});

test('a response with an id is recorded with that id, which takes precedence over the provider', () => {
  const { session } = createFeedbackScene(prompt.name);
  const answer: AdviceAnswer = { adviceId: 'a7-0', provider: 'Unknown', response: 'noted' };
  expect(acknowledge(session, answer, { nowMs: 9 })).toEqual({
    status: 'recorded',
    acknowledgement: { adviceId: 'a7-0', response: 'noted', atMs: 9 },
  });
});

test.each<[string, unknown]>([
  ['no object', 'yes'],
  ['no response', { adviceId: 'a1-0' }],
  ['an unknown response', { adviceId: 'a1-0', response: 'maybe' }],
  ['neither id nor provider', { response: 'noted' }],
  ['a provider that never spoke', { provider: 'Deadline', response: 'noted' }],
])('%s is refused with a reason, not thrown, and nothing is recorded', (_what, answer) => {
  const { session } = createFeedbackScene(prompt.name);
  // The point of the test: a model may send anything.
  expect(acknowledge(session, answer as AdviceAnswer)).toMatchObject({ status: 'refused', reason: expect.any(String) });
  expect(session.slice(Acknowledgement).total()).toBe(0);
});

test('the host may accept advice that the session does not contain', () => {
  const { session } = createFeedbackScene(prompt.name);
  const answer: AdviceAnswer = { provider: 'doom-loop', response: 'rejected' };
  expect(acknowledge(session, answer, { isKnown: () => true }).status).toBe('recorded');
  expect(acknowledge(session, { adviceId: 'x', response: 'noted' }, { isKnown: () => false }).status).toBe('refused');
});

test('the tool offers exactly the accepted responses', () => {
  expect(acknowledgeToolDefinition.inputSchema).toMatchObject({
    properties: { response: { enum: ACKNOWLEDGEMENT_RESPONSES } },
    required: ['response'],
  });
  expect(JSON.parse(JSON.stringify(acknowledgeToolDefinition))).toEqual(acknowledgeToolDefinition);
});
