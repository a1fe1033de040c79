import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { definePrompt } from '../src/core/steering/prompt/define-prompt.ts';
import type { FeedbackProvider } from '../src/core/steering/prompt/feedback-provider.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';

const mine: FeedbackProvider = {
  name: 'Mine',
  shouldRun: () => true,
  provide: ({ toolCallCount }) => ({ summary: `I have seen ${toolCallCount} calls.` }),
};

test('a provider of the user beside the standard set silences nothing of it, and is not silenced', () => {
  const steering = standardSteering({ add: [{ provider: mine, trigger: { everyNCalls: 1 } }] });
  const cox = createCoxswain({ ...steering, clock: createFakeClock() });
  const run = cox.startRun({ prompt: definePrompt({ ns: 'test', key: 'plain' }) });
  const texts: string[] = [];
  for (let at = 0; at < 8; at += 1) {
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId: `${at}`, toolName: 'bash', args: { command: 'make' } });
    run.emit({ type: 'tool_execution_end', toolCallId: `${at}`, toolName: 'bash', result: 'No rule', isError: true });
    texts.push(run.feedback() ?? '');
  }
  expect(texts.filter((text) => text.includes('[Feedback - Mine]'))).toHaveLength(8);
  expect(texts.filter((text) => text.includes('[Feedback - Pattern]'))).not.toHaveLength(0);
});
