import { expect, test } from 'vitest';

import { answerOfChunks } from './coxswain-mastra.ts';

function answerWith(usage: unknown): unknown {
  const finish = { type: 'finish', payload: { stepResult: { reason: 'stop' }, output: { usage } } };
  return answerOfChunks([{ type: 'text-delta', payload: { text: 'Done.' } }, finish], 'gpt-5')?.message;
}

test('zeros, which Mastra states without counts from the provider, are unknown tokens', () => {
  expect(answerWith({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })).toEqual({
    role: 'assistant',
    content: 'Done.',
    modelId: 'gpt-5',
    stopReason: 'stop',
  });
  expect(answerWith({ inputTokens: 10, outputTokens: 5 })).toMatchObject({
    usage: { inputTokens: 10, outputTokens: 5 },
  });
});

test('an answer without an end broke off', () => {
  expect(answerOfChunks([{ type: 'text-delta', payload: { text: 'Do' } }], 'gpt-5')).toBeUndefined();
});
