import { expect, test } from 'vitest';
import { PendingAnswer } from './claude-thread.ts';

const CALL = { type: 'tool_call', id: 't1', name: 'Bash', args: {} } as const;

test('parts that came by now are told as one message, with what is known of the answer', () => {
  const answer = new PendingAnswer('m1');
  answer.add({
    blocks: [{ type: 'text', text: 'First.' }],
    modelId: 'claude',
    usage: { inputTokens: 9, outputTokens: 1 },
  });
  answer.add({ blocks: [CALL] });
  answer.add({ blocks: [], usage: { outputTokens: 20 }, stopReason: 'tool_use' });
  expect([answer.text, answer.isReported]).toEqual(['First.', false]);
  expect(answer.tell()).toEqual({
    type: 'message_end',
    message: {
      role: 'assistant',
      content: [{ type: 'text', text: 'First.' }, CALL],
      modelId: 'claude',
      stopReason: 'tool_use',
      usage: { inputTokens: 9, outputTokens: 20 },
    },
  });
  expect(answer.isReported).toBe(true);
});

test('what comes after is told as a further message, with only the use that came on top', () => {
  const answer = new PendingAnswer('m1');
  answer.add({ blocks: [CALL], usage: { inputTokens: 9, outputTokens: 1, cacheReadTokens: 0 } });
  answer.tell();
  answer.add({ blocks: [{ type: 'text', text: 'More.' }], usage: { outputTokens: 20 } });
  expect(answer.tell()).toMatchObject({ message: { content: 'More.', usage: { outputTokens: 19 } } });
  answer.add({ blocks: [{ type: 'text', text: 'And more.' }] });
  const last = answer.tell();
  expect(last.type === 'message_end' && 'usage' in last.message).toBe(false);
});
