import { expect, test } from 'vitest';

import { importLines } from '../../../test/support/import-check.ts';
import { kimiImporter } from './kimi.ts';

const metadata = { type: 'metadata', protocol_version: '1.10' };
const event = (type: string, payload: object = {}): { readonly type: string; readonly payload: object } => ({
  type,
  payload,
});
let atSeconds = 1_779_551_316;
const line = (type: string, payload: object = {}): object => ({
  timestamp: (atSeconds += 1),
  message: event(type, payload),
});
const call = (id: string, name: string, args: string): object => ({
  type: 'function',
  id,
  function: { name, arguments: args },
});
const result = (id: string, isError: boolean, output: string, message = ''): object => ({
  tool_call_id: id,
  return_value: { is_error: isError, output, message },
});
const tokens = { input_other: 100, output: 20, input_cache_read: 50, input_cache_creation: 0 };

test('the events of Kimi CLI are turns by step, with calls, refusals, tokens and the end', () => {
  const { diagnostics, runs } = importLines(kimiImporter, [
    metadata,
    line('TurnBegin', { user_input: [{ type: 'text', text: 'List the files' }] }),
    line('StepBegin', { n: 1 }),
    line('ContentPart', { type: 'think', think: 'I plan.', encrypted: null }),
    line('ToolCall', call('Shell:0', 'Shell', '{"command":"ls"}')),
    line('StatusUpdate', { token_usage: tokens, context_tokens: 170 }),
    line('ToolResult', result('Shell:0', false, 'a.txt')),
    line('StepBegin', { n: 2 }),
    line('ToolCall', call('Shell:1', 'Shell', '{"command":"rm x"}')),
    line('ApprovalRequest', { id: 'r1', tool_call_id: 'Shell:1', action: 'run command' }),
    line('ApprovalResponse', { request_id: 'r1', response: 'reject' }),
    line('ToolResult', result('Shell:1', true, '', 'The tool call is rejected by the user.')),
    line('StepBegin', { n: 3 }),
    line('ContentPart', { type: 'text', text: 'Done.' }),
    line('StatusUpdate', { token_usage: tokens }),
    line('TurnEnd'),
  ]);
  expect(diagnostics).toEqual([]);
  expect(runs[0]?.run.task).toBe('List the files');
  expect(runs[0]?.ends.map((end) => [end.tool_call_id, end.result, end.is_error, end.outcome])).toEqual([
    ['Shell:0', 'a.txt', false, undefined],
    ['Shell:1', 'The tool call is rejected by the user.', true, 'refused'],
  ]);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(3);
  const usages = runs[0]?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' && payload.message.role === 'assistant' ? [payload.message.usage] : [],
  );
  expect(usages).toEqual([
    { input_tokens: 150, output_tokens: 20, cache_read_tokens: 50, cache_write_tokens: 0 },
    undefined,
    { input_tokens: 150, output_tokens: 20, cache_read_tokens: 50, cache_write_tokens: 0 },
  ]);
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended', reason: 'answered' });
});

test('the events of a subagent are a child run of the session that the folder names', () => {
  const wrapped = (type: string, payload: object): object =>
    line('SubagentEvent', { parent_tool_call_id: 'Task:0', subagent_type: 'coder', event: event(type, payload) });
  const reading = kimiImporter.open({ path: '/h/.kimi/sessions/p/s1/wire.jsonl', name: 'wire.jsonl' });
  const items = [
    line('TurnBegin', { user_input: 'Go.' }),
    wrapped('TurnBegin', { user_input: 'Look.' }),
    wrapped('ToolCall', call('t1', 'Glob', '{}')),
    wrapped('SubagentEvent', { event: event('TurnEnd') }),
    line('StepInterrupted'),
  ].flatMap((value, index) => Array.from(reading.line(value, index + 1)));
  const ids = [...items, ...reading.end()].flatMap((item) =>
    item.type === 'run' ? [[item.run.id, item.run.parentId, item.run.agentName]] : [],
  );
  expect(ids).toEqual([
    ['s1', undefined, undefined],
    ['s1/agent-Task:0', 's1', 'coder'],
  ]);
});

test('a file of Kimi Code, which begins with the same line, is not taken for one of Kimi CLI', () => {
  const source = { path: 'wire.jsonl', name: 'wire.jsonl' };
  const prompt = { type: 'turn.prompt', input: [{ type: 'text', text: 'hi' }], time: 1_785_612_812_819 };
  expect(kimiImporter.recognise([metadata, prompt], source)).toBe(0);
  expect(kimiImporter.recognise([metadata], source)).toBeGreaterThan(0.9);
  expect(kimiImporter.recognise([metadata, line('TurnBegin'), prompt], source)).toBeGreaterThan(0.8);
});
