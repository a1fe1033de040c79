import { expect, test } from 'vitest';

import { importLines } from '../../../test/support/import-check.ts';
import { claudeCodeImporter } from '../claude-code/claude-code-import.ts';
import { qwenImporter } from './qwen.ts';

let count = 0;
const record = (type: string, more: object = {}): object => ({
  uuid: `u${(count += 1)}`,
  parentUuid: null,
  sessionId: 's1',
  timestamp: '2026-11-29T00:10:02.437Z',
  type,
  cwd: '/p',
  version: '0.15.10',
  ...more,
});
const user = (text: string, more: object = {}): object =>
  record('user', { message: { role: 'user', parts: [{ text }] }, ...more });
const usageMetadata = { promptTokenCount: 1_200, candidatesTokenCount: 34, cachedContentTokenCount: 200 };
const answer = (parts: readonly object[], more: object = {}): object =>
  record('assistant', { model: 'qwen3-coder-plus', message: { role: 'model', parts }, usageMetadata, ...more });
const call = (id: string, name: string, args: object = {}): object => ({ functionCall: { id, name, args } });
const shell = (code: number): string =>
  `Command: x\nDirectory: (root)\nOutput: one\nError: (none)\nExit Code: ${code}\nSignal: 0\nProcess Group PGID: 3933`;
const result = (id: string, response: object, status = 'success'): object =>
  record('tool_result', {
    message: { role: 'user', parts: [{ functionResponse: { id, name: 'x', response } }] },
    toolCallResult: { callId: id, status },
  });

test('a chat of Qwen Code has its calls, errors, thoughts and tokens, and is not taken for Claude Code', () => {
  const lines = [
    user('Go.'),
    record('system', { subtype: 'ui_telemetry', systemPayload: {} }),
    answer([
      { text: 'I think.', thought: true },
      { text: 'I look.' },
      call('c1', 'run_shell_command', { command: 'x' }),
    ]),
    result('c1', { output: shell(0) }),
    answer([call('c2', 'run_shell_command'), call('c3', 'nope_tool')]),
    result('c2', { output: shell(4) }),
    result('c3', { error: 'Tool "nope_tool" not found in registry.' }, 'error'),
    record('system', { subtype: 'chat_compression', systemPayload: {} }),
    answer([{ text: 'Done.' }]),
  ];
  expect(qwenImporter.recognise(lines, { path: 's1.jsonl', name: 's1.jsonl' })).toBeGreaterThan(
    claudeCodeImporter.recognise(lines, { path: 's1.jsonl', name: 's1.jsonl' }),
  );
  const { diagnostics, runs } = importLines(qwenImporter, lines);
  expect(runs).toHaveLength(1);
  expect(runs[0]?.run).toMatchObject({ id: 's1', conversationId: 's1', task: 'Go.', format: 'qwen-code' });
  expect(runs[0]?.ends.map((end) => [end.tool_call_id, end.is_error])).toEqual([
    ['c1', false],
    ['c2', true],
    ['c3', true],
  ]);
  expect(runs[0]?.payloads.map(({ kind }) => kind)).toContain('compaction');
  const answers = runs[0]?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' && payload.message.role === 'assistant' ? [payload.message] : [],
  );
  expect(answers?.[0]).toMatchObject({
    content: expect.arrayContaining([{ type: 'reasoning', text: 'I think.' }]),
    model_id: 'qwen3-coder-plus',
    usage: { input_tokens: 1_200, output_tokens: 34, cache_read_tokens: 200 },
  });
  expect(answers).toHaveLength(3);
  expect(diagnostics).toEqual([expect.objectContaining({ severity: 'note' })]);
});

test('a refused request ends a chat, unless something follows; an overloaded server is asked again', () => {
  const failure = (status_code: number, error_message: string): object =>
    record('system', {
      subtype: 'ui_telemetry',
      systemPayload: { uiEvent: { 'event.name': 'qwen-code.api_error', status_code, error_message } },
    });
  const endOf = (...lines: readonly object[]) =>
    importLines(qwenImporter, [user('Go.'), ...lines]).runs[0]?.payloads.find(({ kind }) => kind === 'run_ended');
  const refused = failure(401, '401 Incorrect API key provided.');
  expect(endOf(refused)).toMatchObject({ outcome: 'error', reason: 'login' });
  expect(endOf(refused, answer([{ text: 'Done.' }]))).not.toMatchObject({ outcome: 'error' });
  expect(endOf(failure(503, 'overloaded'))).toBeUndefined();
});

test('records of a subagent are a child run, and what a branch copies is not its own', () => {
  const { diagnostics, runs } = importLines(qwenImporter, [
    user('Old.', { forkedFrom: { sessionId: 's0', messageUuid: 'x' } }),
    user('Go.'),
    user('Look.', { agentId: 'explore-7f3c', agentName: 'Explore', isSidechain: true }),
    answer([call('c1', 'ls')], { agentId: 'explore-7f3c', isSidechain: true }),
    user('The task is done.', { subtype: 'notification', provenance: 'system' }),
    answer([{ text: 'Done.' }]),
  ]);
  expect(runs.map(({ run }) => [run.id, run.parentId, run.agentName, run.task])).toEqual([
    ['s1', undefined, undefined, 'Go.'],
    ['s1/agent-explore-7f3c', 's1', 'Explore', 'Look.'],
  ]);
  expect(diagnostics[0]?.message).toContain('copied');
});

test('a session of Claude Code, which has records of the system too, is not taken for a chat', () => {
  const lines = [
    record('user', { message: { role: 'user', content: 'Go.' } }),
    record('system', { subtype: 'stop_hook_summary', hookCount: 1 }),
  ];
  expect(qwenImporter.recognise(lines, { path: 's1.jsonl', name: 's1.jsonl' })).toBe(0);
});
