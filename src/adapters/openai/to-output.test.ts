import { expect, test } from 'vitest';
import { requestOf, runnerText, toolOutput, withGuidance } from './openai-steering.ts';

function guided(body: Readonly<Record<string, unknown>>): ReturnType<typeof withGuidance> {
  const request = requestOf(body);
  if (request === undefined) throw new Error('no request');
  return withGuidance(body, request, { text: 'Think.', role: 'system' });
}

test('guidance is one message more at the end; the body before it stays as it is, byte for byte', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Go.' }], tools: [] };
  const { body: edited, channel } = guided(body);
  expect(channel).toBe('request');
  const added = ',{"role":"system","content":"Think."}';
  expect(JSON.stringify(edited)).toBe(JSON.stringify(body).replace('"Go."}', `"Go."}${added}`));
  expect(guided({ input: 'Go.', store: false }).body).toEqual({
    input: [
      { role: 'user', content: 'Go.' },
      { role: 'system', content: 'Think.' },
    ],
    store: false,
  });
});

test('where the provider keeps the input, guidance goes into the instructions', () => {
  const chained = guided({ input: 'Go.', instructions: 'Be kind.', previous_response_id: 'r' });
  expect(chained).toEqual({
    body: { input: 'Go.', instructions: 'Be kind.\n\nThink.', previous_response_id: 'r' },
    channel: 'instructions',
  });
  expect(guided({ input: 'Go.' }).body).toEqual({ input: 'Go.', instructions: 'Think.' });
});

test('a tool message has the feedback after a blank line, also when it is empty', () => {
  const call = { type: 'function', id: 'a', function: { name: 'look', arguments: '{}' } } as const;
  expect(toolOutput(call, 'quiet', undefined)).toEqual({ role: 'tool', tool_call_id: 'a', content: 'quiet' });
  expect(toolOutput(call, '', 'FB')).toEqual({ role: 'tool', tool_call_id: 'a', content: '\n\nFB' });
  expect(toolOutput(call, undefined, 'FB')).toMatchObject({ content: '\n\nFB' });
  expect(toolOutput(call, { ok: 1 }, 'FB')).toMatchObject({ content: '{"ok":1}\n\nFB' });
  const parts = [{ type: 'text', text: 'quiet' }];
  expect(toolOutput(call, parts, 'FB')).toMatchObject({ content: [...parts, { type: 'text', text: 'FB' }] });
});

test('an output item has the feedback as one part more, and names the program that called', () => {
  const call = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' } as const;
  expect(toolOutput(call, 'quiet', undefined)).toEqual({ type: 'function_call_output', call_id: 'a', output: 'quiet' });
  expect(toolOutput(call, '', 'FB')).toMatchObject({
    output: [
      { type: 'input_text', text: '' },
      { type: 'input_text', text: 'FB' },
    ],
  });
  const caller = { type: 'program', caller_id: 'p' };
  const called = { ...call, caller };
  expect(toolOutput(called, 'quiet', undefined)).toMatchObject({ caller });
  // A list of values is a value, not parts.
  expect(toolOutput(call, [1, 2], undefined)).toMatchObject({ output: '[1,2]' });
});

test('a result becomes the text that runTools makes of it', () => {
  expect([runnerText('a'), runnerText(undefined), runnerText({ a: 1 }), runnerText(null), runnerText(() => 1)]).toEqual(
    ['a', 'undefined', '{"a":1}', 'null', 'undefined'],
  );
});
