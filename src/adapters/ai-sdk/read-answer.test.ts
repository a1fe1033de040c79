import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readModelAnswer, readArgs, readUsage } from './read-answer.ts';

const answer = {
  content: [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'I ' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'run', input: '{"command":"ls"}' },
    { type: 'tool-call', toolCallId: 'c2', toolName: 'web_search', input: '{}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 'c2', toolName: 'web_search', result: ['a'], isError: true },
    { type: 'text', text: 'look.' },
    { type: 'hologram' },
  ],
  finishReason: { unified: 'tool-calls', raw: 'tool_use' },
  usage: {
    inputTokens: { total: 10, noCache: 6, cacheRead: 3, cacheWrite: 1 },
    outputTokens: { total: 5, text: 4, reasoning: 1 },
  },
  response: { modelId: 'model-of-today' },
  warnings: [],
};

test('an answer is read: text, calls, who ran them, usage, reason, model', () => {
  expect(readModelAnswer(answer)).toEqual({
    parts: answer.content,
    text: 'I look.',
    calls: [{ id: 'c1', name: 'run', args: { command: 'ls' } }],
    providerCalls: [{ id: 'c2', name: 'web_search', args: {} }],
    providerResults: [{ id: 'c2', name: 'web_search', result: ['a'], isError: true }],
    finishReason: 'tool-calls',
    modelId: 'model-of-today',
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 1, reasoningTokens: 1 },
    unknownTypes: ['hologram'],
  });
});

test('an older specification has plain numbers and a plain reason', () => {
  const older = { ...answer, finishReason: 'stop', usage: { inputTokens: 7, outputTokens: 2, cachedInputTokens: 1 } };
  expect(readModelAnswer(older)).toMatchObject({
    finishReason: 'stop',
    usage: { inputTokens: 7, outputTokens: 2, cacheReadTokens: 1 },
  });
});

test.each([[undefined], [null], ['text'], [{}], [{ content: 'text' }]])(
  'anything but an answer is undefined: %j',
  (result) => {
    expect(readModelAnswer(result)).toBeUndefined();
  },
);

test('whatever an answer holds, reading it does not throw', () => {
  fc.assert(
    fc.property(fc.array(fc.object()), fc.anything(), fc.anything(), (content, usage, finishReason) => {
      expect(readModelAnswer({ content, usage, finishReason, response: usage })?.parts.length).toBe(content.length);
    }),
  );
});

test('arguments are JSON text; other text stays as it is', () => {
  expect(readArgs('{"a":1}')).toEqual({ a: 1 });
  expect(readArgs('')).toEqual({});
  expect(readArgs('{"a":')).toBe('{"a":');
  expect(readArgs({ a: 1 })).toEqual({ a: 1 });
});

test('usage without counts is undefined', () => {
  expect(readUsage(undefined)).toBeUndefined();
  expect(readUsage({ inputTokens: { total: undefined }, outputTokens: { total: Number.NaN } })).toBeUndefined();
  expect(readUsage({ inputTokens: -1, outputTokens: 2 })).toEqual({ outputTokens: 2 });
});
