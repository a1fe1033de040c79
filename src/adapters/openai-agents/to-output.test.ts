import { expect, test } from 'vitest';
import { carriesFeedback, mayEndWith, withFeedback, withGuidance } from './coxswain-agents.ts';

const TOOL = { type: 'function', name: 'look', invoke: async () => '' } as const;

test('guidance is one item more at the end; the list of the SDK stays as it is', () => {
  const input = [{ type: 'message', role: 'user', content: 'Go.' }];
  const { request, channel } = withGuidance({ input }, input, 'Think.');
  expect([channel, request.input]).toEqual([
    'request',
    [...input, { type: 'message', role: 'system', content: 'Think.' }],
  ]);
  expect(input.length).toBe(1);
});

test('where the provider keeps the conversation, guidance goes into the instructions', () => {
  const request = { input: [], previousResponseId: 'r', systemInstructions: 'Be kind.' };
  expect(withGuidance(request, [], 'Think.')).toEqual({
    request: { ...request, systemInstructions: 'Be kind.\n\nThink.' },
    channel: 'instructions',
  });
});

test.each([
  ['a text', 'quiet', 'quiet\n\nFB'],
  ['an empty text', '', '\n\nFB'],
  ['nothing', undefined, 'undefined\n\nFB'],
  ['null', null, 'null\n\nFB'],
  ['a number', Number.NaN, 'NaN\n\nFB'],
  ['a value', { a: [1] }, '{"a":[1]}\n\nFB'],
  ['a list of values', [1, 2], '[1,2]\n\nFB'],
])('after %s stands a blank line and the feedback, as the SDK would write the result', (_what, result, text) => {
  expect([carriesFeedback(TOOL, result), withFeedback(result, 'FB')]).toEqual([true, text]);
});

test('after parts stands one part more', () => {
  const image = { type: 'image', image: 'data:,' };
  const feedback = { type: 'text', text: 'FB' };
  expect(withFeedback(image, 'FB')).toEqual([image, feedback]);
  expect(withFeedback([image, { type: 'text', text: 'a' }], 'FB')).toEqual([
    image,
    { type: 'text', text: 'a' },
    feedback,
  ]);
  expect([carriesFeedback(TOOL, image), carriesFeedback(TOOL, [image])]).toEqual([true, true]);
});

test.each([
  ['bytes', new Uint8Array(3)],
  ['a buffer made JSON', { type: 'Buffer', data: [1] }],
  ['bytes within a value', { a: { b: new Uint8Array(1) } }],
  ['a date', new Date(0)],
  ['a big number', { a: 1n }],
  ['a function', () => 1],
])('%s carries none: the SDK writes it its own way', (_what, result) => {
  expect(carriesFeedback(TOOL, result)).toBe(false);
});

test('a cycle and a schema carry none', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(carriesFeedback(TOOL, cycle)).toBe(false);
  expect(carriesFeedback({ ...TOOL, outputSchema: {} }, 'quiet')).toBe(false);
});

test('a result may end the run where the agent says so', () => {
  const agent = (toolUseBehavior?: unknown) => ({ name: 'a', toolUseBehavior });
  expect(mayEndWith(undefined, 'look')).toBe(false);
  expect(mayEndWith(agent('run_llm_again'), 'look')).toBe(false);
  expect(mayEndWith(agent('stop_on_first_tool'), 'look')).toBe(true);
  expect(mayEndWith(agent({ stopAtToolNames: ['look'] }), 'look')).toBe(true);
  expect(mayEndWith(agent({ stopAtToolNames: ['look'] }), 'hear')).toBe(false);
  expect(
    mayEndWith(
      agent(() => ({})),
      'look',
    ),
  ).toBe(true);
});
