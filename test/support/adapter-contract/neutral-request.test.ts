import { expect, test } from 'vitest';

import { neutralAnthropicRequest, neutralChatRequest, neutralResponsesRequest } from './neutral-request.ts';

test("a Messages request is read part by part, results with the call's id and flag", () => {
  const raw = JSON.stringify({
    system: [{ type: 'text', text: 'Be kind.' }],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'gone' }], is_error: true },
          { type: 'text', text: 'a note' },
        ],
      },
    ],
  });
  expect(neutralAnthropicRequest(raw)).toEqual({
    raw,
    messages: [
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: 'go' },
      { role: 'assistant', text: 'I look.' },
      { role: 'assistant', toolCallId: 'a', text: 'look {"at":1}' },
      { role: 'tool', toolCallId: 'a', text: 'gone', isError: true },
      { role: 'user', text: 'a note' },
    ],
  });
});

test('a chat request is read message by message, calls after the text they came with', () => {
  const call = (id: string): object => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
  const raw = JSON.stringify({
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'assistant', content: null, tool_calls: [call('a')] },
      { role: 'assistant', content: 'And again.', tool_calls: [call('b')] },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
    ],
  });
  expect(neutralChatRequest(raw).messages).toEqual([
    { role: 'system', text: 'Be kind.' },
    { role: 'assistant', toolCallId: 'a', text: 'look {}' },
    { role: 'assistant', text: 'And again.' },
    { role: 'assistant', toolCallId: 'b', text: 'look {}' },
    { role: 'tool', toolCallId: 'b', text: 'one\ntwo' },
  ]);
});

test('a Responses request is read item by item, whatever form its input has', () => {
  expect(neutralResponsesRequest('{"instructions":"Be kind.","input":"go"}').messages).toEqual([
    { role: 'system', text: 'Be kind.' },
    { role: 'user', text: 'go' },
  ]);
  const raw = JSON.stringify({
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'plain' },
      { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'part' }] },
      { type: 'reasoning', id: 'r' },
    ],
  });
  expect(neutralResponsesRequest(raw).messages).toEqual([
    { role: 'user', text: 'go' },
    { role: 'assistant', toolCallId: 'a', text: 'look {}' },
    { role: 'tool', toolCallId: 'a', text: 'plain' },
    { role: 'tool', toolCallId: 'b', text: 'part' },
    { role: 'reasoning', text: '{"type":"reasoning","id":"r"}' },
  ]);
});
