import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { expect, test } from 'vitest';

import { importDocument, importLines } from '../../../test/support/import-check.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { importSource } from '../import-source.ts';
import { readRuns } from '../read-runs.ts';
import { gooseDocumentImporter, gooseLinesImporter } from './goose.ts';

const value = { name: 'developer__shell', arguments: { command: 'pytest -q' } };
const request = (id: string, toolCall: object): object => ({ type: 'toolRequest', id, toolCall });
const response = (id: string, toolResult: unknown): object => ({ type: 'toolResponse', id, toolResult });
const text = (words: string): object => ({ type: 'text', text: words });
const message = (role: string, content: readonly object[], metadata: object = {}): object => ({
  role,
  created: 1_772_355_600,
  content,
  metadata,
});
const MESSAGES = [
  message('user', [text('run the tests')]),
  message('assistant', [request('c1', { status: 'success', value })], { inference: { requestedModel: 'm1' } }),
  message('user', [response('c1', { status: 'success', value: { content: [text('3 passed')], isError: false } })]),
  message('assistant', [request('c2', { Ok: value }), request('c3', value)]),
  message('user', [response('c2', { status: 'error', error: 'The user has declined to run this tool.' })]),
  message('user', [response('c3', { status: 'success', value: { content: [text('1 failed')], isError: true } })]),
  message('user', [text('What was done so far')], { userVisible: false, agentVisible: true }),
  message('assistant', [{ type: 'thinking', thinking: 'all green', signature: 's' }, text('All tests pass.')]),
];
const ENDS = [
  ['c1', '3 passed', false],
  ['c2', 'The user has declined to run this tool.', true],
  ['c3', '1 failed', true],
];

test('a file and an export of goose have the same calls, errors and turns', () => {
  const header = { id: '20260301_1', description: 'Fix flaky test', working_dir: '/p' };
  const lines = importLines(gooseLinesImporter, [header, ...MESSAGES]);
  const document = importDocument(gooseDocumentImporter, { ...header, conversation: MESSAGES });
  for (const { runs, diagnostics } of [lines, document]) {
    expect(diagnostics).toEqual([]);
    expect(runs[0]?.run.task).toBe('run the tests');
    expect(runs[0]?.ends.map((end) => [end.tool_call_id, end.result, end.is_error])).toEqual(ENDS);
    expect(runs[0]?.calls.map((call) => [call.tool_name, call.args])).toEqual(
      ENDS.map(() => [value.name, value.arguments]),
    );
    const users = runs[0]?.payloads.filter(
      (payload) => payload.kind === 'message_appended' && payload.message.role === 'user',
    );
    expect(users).toHaveLength(1);
  }
  expect(document.runs[0]?.run.id).toBe('20260301_1');
});

test('the database of goose is read with the tokens of each session', async () => {
  const path = join(testFolder(), 'sessions.db');
  const database = new DatabaseSync(path);
  database.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TEXT,
      accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT,
      created_timestamp INTEGER, metadata_json TEXT);
    INSERT INTO sessions VALUES ('g1', 'n', '/p', '2026-10-07T10:00:00Z', 1200, 34)`);
  const insert = database.prepare(
    "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('g1', ?, ?, ?, ?)",
  );
  for (const one of MESSAGES as readonly { role: string; content: object; created: number; metadata: object }[])
    insert.run(one.role, JSON.stringify(one.content), one.created, JSON.stringify(one.metadata));
  insert.run('assistant', 'no JSON', 1, null);
  database.close();
  const ends: unknown[] = [];
  let usage: unknown;
  for await (const item of readRuns(importSource(path), { source: path })) {
    if (item.type !== 'record') continue;
    const { payload } = item.record;
    expect(item.run.id).toBe('g1');
    if (payload.kind === 'tool_ended') ends.push([payload.tool_call_id, payload.result, payload.is_error]);
    if (payload.kind === 'message_appended' && payload.message.role === 'assistant')
      usage = payload.message.usage ?? usage;
  }
  expect(ends).toEqual(ENDS);
  expect(usage).toEqual({ input_tokens: 1_200, output_tokens: 34 });
});
