import { expect, test } from 'vitest';
import type { PromptMessage } from './sdk-shapes.ts';
import { plainOutput, withMessage, withResults, withText } from './to-output.ts';

test.each([
  ['a text', { type: 'text', value: 'ok' }, { type: 'text', value: 'ok\n\nSAY' }],
  ['an empty text', { type: 'text', value: '' }, { type: 'text', value: 'SAY' }],
  ['JSON', { type: 'json', value: { sum: 5 } }, { type: 'text', value: '{"sum":5}\n\nSAY' }],
  ['JSON null', { type: 'json', value: null }, { type: 'text', value: 'null\n\nSAY' }],
  ['an error', { type: 'error-text', value: 'no' }, { type: 'error-text', value: 'no\n\nSAY' }],
  ['a JSON error', { type: 'error-json', value: { code: 1 } }, { type: 'error-text', value: '{"code":1}\n\nSAY' }],
  [
    'content',
    { type: 'content', value: [{ type: 'file', mediaType: 'image/png', data: 'AA==' }] },
    {
      type: 'content',
      value: [
        { type: 'file', mediaType: 'image/png', data: 'AA==' },
        { type: 'text', text: 'SAY' },
      ],
    },
  ],
  ['a denial', { type: 'execution-denied', reason: 'not now' }, { type: 'execution-denied', reason: 'not now\n\nSAY' }],
  [
    'a denial without a reason',
    { type: 'execution-denied' },
    { type: 'execution-denied', reason: 'Tool call execution denied.\n\nSAY' },
  ],
])('advice comes after %s, whose kind stays what it is', (_what, output, expected) => {
  expect(withText(output, 'SAY')).toEqual(expected);
});

test('options of a result stay', () => {
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  expect(withText({ type: 'json', value: 1, providerOptions }, 'SAY')).toEqual({
    type: 'text',
    value: '1\n\nSAY',
    providerOptions,
  });
});

test.each([
  [undefined],
  ['text'],
  [{ type: 'hologram', value: 1 }],
  [{ type: 'text', value: 7 }],
  [{ type: 'content' }],
])('a shape that has no place for a text gets none: %j', (output) => {
  expect(withText(output, 'SAY')).toBeUndefined();
});

test('a plain result is a text or JSON, as the SDK has it', () => {
  expect(plainOutput('ok')).toEqual({ type: 'text', value: 'ok' });
  expect(plainOutput(undefined)).toEqual({ type: 'json', value: null });
  expect(plainOutput(() => 1)).toEqual({ type: 'json', value: null });
  expect(plainOutput({ at: new Date(0), gone: undefined })).toEqual({
    type: 'json',
    value: { at: '1970-01-01T00:00:00.000Z' },
  });
  expect(() => plainOutput(1n)).toThrow('BigInt');
});

const prompt: readonly PromptMessage[] = [
  { role: 'system', content: 'be good' },
  { role: 'user', content: [{ type: 'text', text: 'go' }] },
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'run', input: {} }] },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'a', toolName: 'run', output: { type: 'text', value: '1' } },
      { type: 'tool-approval-response', approvalId: 'x', approved: true },
      { type: 'tool-result', toolCallId: 'b', toolName: 'run', output: { type: 'text', value: '2' } },
    ],
  },
];

test('guidance is one message at the end, and what comes before it stays the very same', () => {
  const changed = withMessage(prompt, 'SAY');
  expect(changed.slice(0, -1).every((message, index) => message === prompt[index])).toBe(true);
  expect(changed.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'SAY' }] });
});

test('a result is changed in its place, and everything else stays the very same', () => {
  const changed = withResults(prompt, (id, output) => (id === 'b' ? withText(output, 'SAY') : undefined));
  expect(changed.slice(0, 3).every((message, index) => message === prompt[index])).toBe(true);
  expect(changed[3]).toEqual({
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'a', toolName: 'run', output: { type: 'text', value: '1' } },
      { type: 'tool-approval-response', approvalId: 'x', approved: true },
      { type: 'tool-result', toolCallId: 'b', toolName: 'run', output: { type: 'text', value: '2\n\nSAY' } },
    ],
  });
});

test('a prompt in which nothing changes is the same list', () => {
  expect(withResults(prompt, () => undefined)).toBe(prompt);
});

test('of an id that occurs twice the last result is meant', () => {
  const again = [...prompt, ...prompt.slice(2)];
  const changed = withResults(again, (id, output) => (id === 'a' ? withText(output, 'SAY') : undefined));
  expect(changed[3]).toBe(prompt[3]);
  expect(JSON.stringify(changed[5])).toContain('1\\n\\nSAY');
});
