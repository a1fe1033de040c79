import { expect, test } from 'vitest';
import { readModelAnswer } from './read-answer.ts';
import type { PromptMessage } from './sdk-shapes.ts';
import {
  assistantMessage,
  brokenMessage,
  readOutput,
  requestPrepared,
  resultsIn,
  systemTextOf,
  unansweredMessages,
} from './to-events.ts';

const user = (text: string): PromptMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const result = { type: 'tool-result', toolCallId: 'c1', toolName: 'run', output: { type: 'text', value: 'ok' } };
const prompt: readonly PromptMessage[] = [
  { role: 'system', content: 'be good' },
  { role: 'system', content: 'be brief' },
  user('first'),
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'run', input: {} }] },
  { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }, result] },
];

test('an answer becomes one message with its parts, its end, its model and its usage', () => {
  const answer = readModelAnswer({
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'run', input: '{"a":1}' },
      { type: 'file', mediaType: 'image/png', data: 'A'.repeat(9_999) },
    ],
    finishReason: { unified: 'tool-calls' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
  });
  expect(answer && assistantMessage(answer, 'asked-model')).toEqual({
    role: 'assistant',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_call', id: 'c1', name: 'run', args: { a: 1 } },
      {
        type: 'other',
        value: { type: 'file', mediaType: 'image/png', data: expect.objectContaining({ bytes: 7_499 }) },
      },
    ],
    stopReason: 'tool-calls',
    modelId: 'asked-model',
    usage: { inputTokens: 1, outputTokens: 2 },
  });
});

test('an answer that broke off keeps what there was of it', () => {
  const broke = { stopReason: 'aborted', errorMessage: 'no more', modelId: 'm' } as const;
  const partial = readModelAnswer({ content: [{ type: 'text', text: 'I l' }], response: { modelId: 'real' } });
  expect(brokenMessage(partial, broke)).toEqual({
    role: 'assistant',
    content: [{ type: 'text', text: 'I l' }],
    ...broke,
  });
  expect(brokenMessage(undefined, broke)).toEqual({ role: 'assistant', content: '', ...broke });
});

test('instructions are the system messages, joined', () => {
  expect(systemTextOf(prompt)).toBe('be good\n\nbe brief');
});

test('unanswered user messages are at the end', () => {
  expect(unansweredMessages(prompt)).toEqual([]);
  expect(unansweredMessages([...prompt, user('second'), user('third')])).toEqual([
    { role: 'user', content: 'second' },
    { role: 'user', content: 'third' },
  ]);
  expect(unansweredMessages([user('first')])).toEqual([{ role: 'user', content: 'first' }]);
});

test('results of tools are found in the messages of tools', () => {
  expect(resultsIn(prompt)).toEqual([{ id: 'c1', name: 'run', output: result.output }]);
});

test.each([
  [
    { type: 'text', value: 'ok' },
    { result: 'ok', isError: false },
  ],
  [
    { type: 'json', value: { a: 1 } },
    { result: { a: 1 }, isError: false },
  ],
  [
    { type: 'error-text', value: 'no' },
    { result: 'no', isError: true },
  ],
  [
    { type: 'error-json', value: [1] },
    { result: [1], isError: true },
  ],
  [
    { type: 'execution-denied', reason: 'not now' },
    { result: 'not now', isError: true, outcome: 'refused' },
  ],
  [{ type: 'execution-denied' }, { result: 'denied', isError: true, outcome: 'refused' }],
  ['what is this', { result: 'what is this', isError: false }],
])('a result in the SDK’s form is recorded as it is meant: %j', (output, expected) => {
  expect(readOutput(output)).toEqual(expected);
});

test('a request is reported with its instructions, messages and tools', () => {
  const request = { prompt, tools: [{ type: 'function', name: 'run' }] };
  expect(requestPrepared(request, 3, 'm')).toEqual({
    type: 'provider_request_prepared',
    iteration: 3,
    modelId: 'm',
    systemPrompt: 'be good\n\nbe brief',
    messages: prompt,
    tools: [{ name: 'run' }],
  });
});
