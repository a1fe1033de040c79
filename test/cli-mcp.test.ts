import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';

import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { isKnownEvent, readHookEvent } from '../src/hosts/claude-code/hook-event.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { BIN } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';
import { storeFileOf } from './user-state.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

/** Plays events of a session into the store of a project. */
async function play(project: string, events: readonly object[]): Promise<readonly TrajectoryPayload[]> {
  const store = sqliteStore(storeFileOf({ project, env: { HOME: project } }));
  const sessions = new ClaudeSessions({
    store,
    config: { steering: standardSteering(), deadlineFrom: 'session', deadline: { minutes: 30 } },
    projectFolder: project,
    redactor: NO_REDACTION,
    clock: { nowMs: Date.now },
    build: 'test',
  });
  for (const json of events) {
    const event = readHookEvent(Buffer.from(JSON.stringify({ session_id: 's1', ...json })));
    if (event === undefined || !isKnownEvent(event)) throw new Error('an event cannot be read');
    await sessions.answer(event.known.input, 's1', { hasBackgroundWork: false });
  }
  const payloads: TrajectoryPayload[] = [];
  for await (const { payload } of store.readRun('s1')) payloads.push(payload);
  await store.close();
  return payloads;
}

const calls = (tool_name: string, tool_input: object, ids: readonly string[]): readonly object[] =>
  ids.flatMap((tool_use_id) => {
    const call = { tool_name, tool_input, tool_use_id };
    return [
      { hook_event_name: 'PreToolUse', ...call },
      { hook_event_name: 'PostToolUse', ...call, tool_response: 'up to date' },
      { hook_event_name: 'PostToolBatch', tool_calls: [] },
    ];
  });

const PROMPT = { hook_event_name: 'UserPromptSubmit', prompt: 'Fix the build' };
const LOOP = calls('Bash', { command: 'npm test' }, ['a', 'b', 'c']);

async function newProject(): Promise<string> {
  const folder = testFolder();
  const project = join(folder, 'project');
  await mkdir(join(project, '.git'), { recursive: true });
  return project;
}

test('a client of the official SDK lists the tools and asks how the run stands', async () => {
  const project = await newProject();
  await play(project, [PROMPT, ...LOOP]);
  const client = new Client({ name: 'test', version: '1' });
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    HOME: project,
  };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [BIN, 'mcp'], cwd: project, env }));
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['acknowledge_advice', 'run_status', 'time_left']);
  const ask = async (name: string): Promise<unknown> => {
    const answer = await client.callTool({ name, arguments: {} });
    return answer['content'];
  };
  expect(await ask('run_status')).toEqual([{ type: 'text', text: expect.stringMatching(/^3 calls, .*minutes left/) }]);
  expect(await ask('time_left')).toEqual([{ type: 'text', text: expect.stringMatching(/^\d+ minutes left\.$/) }]);
  expect(await ask('acknowledge_advice')).toEqual([{ type: 'text', text: 'Noted.' }]);
});

test.each(['mcp__coxswain__acknowledge_advice', 'coxswain-acknowledge_advice', 'mcp_coxswain_acknowledge_advice'])(
  'the hook that sees a call to %s records the answer to the advice',
  async (tool) => {
    const answer = { response: 'accepted', note: 'I will edit first.' };
    const payloads = await play(await newProject(), [PROMPT, ...LOOP, ...calls(tool, answer, ['d'])]);
    expect(payloads.filter(({ kind }) => kind === 'advice_acknowledged')).toHaveLength(1);
  },
);

test('a tool of somebody else with a like name is only a call', async () => {
  const payloads = await play(await newProject(), [
    PROMPT,
    ...LOOP,
    ...calls('mcp__other__acknowledge_advice', { response: 'accepted' }, ['d']),
  ]);
  expect(payloads.filter(({ kind }) => kind === 'advice_acknowledged')).toEqual([]);
});
