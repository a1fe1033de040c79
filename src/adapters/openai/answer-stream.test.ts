import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerOf, answerStream } from './to-events.ts';

function sse(...events: readonly unknown[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
}

function chunk(delta: object, more: object = {}): object {
  return { id: 'x', model: 'gpt-5', choices: [{ index: 0, delta, finish_reason: null, ...more }] };
}

const CHAT = sse(
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'I lo' }),
  { ...chunk({ content: 'unused' }), choices: [{ index: 1, delta: { content: 'a second choice' } }] },
  chunk({ content: 'ok – 見る.' }),
  chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'hear', arguments: '{}' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"at"' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
  chunk({}, { finish_reason: 'tool_calls' }),
  { id: 'x', model: 'gpt-5', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } },
  '[DONE]',
);

const MESSAGE = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] };
const RESPONSES = sse(
  { type: 'response.created', response: { status: 'in_progress', output: [], model: 'gpt-5' } },
  { type: 'response.output_text.delta', delta: 'Hel' },
  { type: 'response.output_text.delta', delta: 'lo.' },
  { type: 'response.output_item.done', item: MESSAGE },
  { type: 'response.completed', response: { status: 'completed', output: [MESSAGE], model: 'gpt-5' } },
).replaceAll('data:', 'event: any\ndata:');

test('a streamed chat completion is put together as if it had not been streamed', () => {
  const stream = answerStream();
  expect(stream.take(CHAT).join('')).toBe('I look – 見る.');
  expect(stream.isWhole()).toBe(true);
  expect(answerOf(stream.answer())).toEqual({
    message: {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look – 見る.' },
        { type: 'tool_call', id: 'a', name: 'look', args: { at: 1 } },
        { type: 'tool_call', id: 'b', name: 'hear', args: {} },
      ],
      stopReason: 'tool_calls',
      modelId: 'gpt-5',
      usage: { inputTokens: 5, outputTokens: 2 },
    },
    calls: [
      { id: 'a', name: 'look', args: { at: 1 }, argsText: '{"at":1}' },
      { id: 'b', name: 'hear', args: {}, argsText: '{}' },
    ],
  });
});

test('of a streamed response the last event has the whole; one that broke off has its items so far', () => {
  const stream = answerStream();
  expect(stream.take(RESPONSES)).toEqual(['Hel', 'lo.']);
  expect([stream.isWhole(), answerOf(stream.answer())?.message.content]).toEqual([true, 'Hello.']);
  const broken = answerStream();
  broken.take(RESPONSES.slice(0, RESPONSES.lastIndexOf('event: any')));
  expect([broken.isWhole(), answerOf(broken.answer())?.message.content]).toEqual([false, 'Hello.']);
});

test('of a response whose only item is not done, the words so far are there', () => {
  const stream = answerStream();
  stream.take(RESPONSES.slice(0, RESPONSES.indexOf('data: {"type":"response.output_item.done"')));
  expect(answerOf(stream.answer())?.message.content).toBe('Hello.');
});

test('however the body is cut, the same comes out', () => {
  const whole = (body: string): unknown => {
    const stream = answerStream();
    const deltas = stream.take(body).join('');
    return [deltas, stream.answer(), stream.isWhole()];
  };
  const property = fc.property(
    fc.constantFrom(CHAT, RESPONSES, CHAT.replaceAll('\n', '\r\n')),
    fc.array(fc.nat(2_000), { maxLength: 12 }),
    (body, cuts) => {
      const stream = answerStream();
      let deltas = '';
      let from = 0;
      for (const to of [...cuts.toSorted((a, b) => a - b), body.length]) {
        deltas += stream.take(body.slice(from, to)).join('');
        from = to;
      }
      expect([deltas, stream.answer(), stream.isWhole()]).toEqual(whole(body));
    },
  );
  fc.assert(property, { numRuns: 100 });
});

test('events that are no JSON, or of no known shape, are passed over', () => {
  const stream = answerStream();
  expect(stream.take('data: {"cut\n\n: a comment\n\ndata: 7\n\ndata: {"type":"ping"}\n\nretry: 3\n\n')).toEqual([]);
  expect([stream.answer(), stream.isWhole()]).toEqual([undefined, false]);
});
