import { expect, test } from 'vitest';

import { importDocument } from '../../../test/support/import-check.ts';
import { openaiChatImporter } from './openai-chat.ts';

const FAILURE = 'FAIL expected 200, got 401';
const input = { command: 'npm test' };
const user = { role: 'user', content: 'Fix the login test' };

/** Two failed calls and an answer, as each API writes them. */
const CONVERSATIONS: Readonly<Record<string, (id: string) => readonly object[]>> = {
  'Anthropic Messages': (id) => [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I run it.' },
        { type: 'tool_use', id, name: 'bash', input },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: FAILURE, is_error: true }] },
  ],
  'AI SDK model messages': (toolCallId) => [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'bash', input }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName: 'bash', output: { type: 'error-text', value: FAILURE } }],
    },
  ],
  'AI SDK UI messages': (toolCallId) => [
    {
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'text', text: 'I run it.' },
        { type: 'tool-bash', toolCallId, state: 'output-error', input, errorText: FAILURE },
      ],
    },
  ],
  'Bedrock Converse': (toolUseId) => [
    { role: 'assistant', content: [{ text: 'I run it.' }, { toolUse: { toolUseId, name: 'bash', input } }] },
    { role: 'user', content: [{ toolResult: { toolUseId, status: 'error', content: [{ text: FAILURE }] } }] },
  ],
  'Gemini contents': () => [
    { role: 'model', parts: [{ text: 'I run it.' }, { functionCall: { name: 'bash', args: input } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'bash', response: { error: FAILURE } } }] },
  ],
  'OpenAI chat': (id) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: JSON.stringify(input) } }],
    },
    { role: 'tool', tool_call_id: id, content: `Error: ${FAILURE}` },
  ],
};

test.each(Object.entries(CONVERSATIONS))('calls and failures of %s are read', (_, exchange) => {
  const answer = { role: 'assistant', content: 'It still fails.' };
  const messages = [user, ...exchange('t0'), ...exchange('t1'), answer];
  const { runs, diagnostics } = importDocument(openaiChatImporter, { messages });
  expect(diagnostics).toEqual([]);
  const [run] = runs;
  expect(run?.run.task).toBe('Fix the login test');
  expect(run?.calls.map(({ tool_name, args }) => [tool_name, args])).toEqual([
    ['bash', input],
    ['bash', input],
  ]);
  expect(run?.ends.map(({ is_error, result }) => [is_error, JSON.stringify(result).includes(FAILURE)])).toEqual([
    [true, true],
    [true, true],
  ]);
});

test('a denied call of the AI SDK is refused, and a block of an unknown kind is named', () => {
  const part = { type: 'tool-bash', toolCallId: 'a', state: 'output-denied', input };
  const { runs, diagnostics } = importDocument(openaiChatImporter, [
    user,
    { role: 'assistant', parts: [part, { type: 'hologram', data: 1 }] },
  ]);
  expect(runs[0]?.ends).toMatchObject([{ outcome: 'refused' }]);
  expect(diagnostics).toMatchObject([{ severity: 'note', message: 'left out: 1 blocks of type hologram' }]);
});

test('parallel calls that are written as consecutive answers are one turn', () => {
  const answer = (id: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'get', arguments: '{}' } }],
  });
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: `Error: exit code 22 (${id})` });
  const { runs, diagnostics } = importDocument(openaiChatImporter, [
    user,
    ...['a', 'b', 'c'].map(answer),
    ...['a', 'b', 'c'].map(result),
  ]);
  expect(diagnostics).toEqual([]);
  expect(runs[0]?.ends.map(({ tool_call_id, is_error }) => [tool_call_id, is_error])).toEqual([
    ['a', true],
    ['b', true],
    ['c', true],
  ]);
});

test('each step of a UI message is an answer, with its own calls and results', () => {
  const part = (id: string) => ({ type: 'tool-bash', toolCallId: id, state: 'output-available', input, output: id });
  const parts = ['a', 'b', 'c'].flatMap((id) => [{ type: 'step-start' }, part(id)]);
  const metadata = { model: 'm', usage: { inputTokens: 5, outputTokens: 1 } };
  const { runs } = importDocument(openaiChatImporter, [
    user,
    { role: 'assistant', parts: [...parts, { type: 'step-start' }, { type: 'text', text: 'Done.' }], metadata },
  ]);
  const kinds = runs[0]?.payloads.map(({ kind }) => kind) ?? [];
  expect(kinds.filter((kind) => kind === 'turn_started')).toHaveLength(4);
  expect(runs[0]?.ends.map(({ result }) => result)).toEqual(['a', 'b', 'c']);
  const order = kinds
    .filter((kind) => kind === 'turn_started' || kind === 'tool_started')
    .map((kind) => kind.slice(0, 4));
  expect(order.join(' ')).toBe('turn tool turn tool turn tool turn');
});
