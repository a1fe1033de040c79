import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { loggedFaults } from '../../../test/user-state.ts';
import { createBridge, type PluginProgram } from './event-bridge.ts';
import { EventProcess } from './event-process.ts';
import { opencodePlugin } from './opencode-plugin.ts';
import { piExtension } from './pi-extension.ts';

let project: string;
let program: PluginProgram;
let log: string;

/** A hook that logs each event and answers with its name. It ends at an event `end`, and does not answer one named `hang`. */
beforeEach(() => {
  const folder = testFolder();
  project = join(folder, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  log = join(folder, 'log');
  const hook = join(folder, 'hook.cjs');
  writeFileSync(
    hook,
    `console.log('started ' + process.argv.slice(2).join(' '));
require('node:fs').appendFileSync(${JSON.stringify(`${log}-starts`)}, process.pid + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
  const { hook_event_name: name } = JSON.parse(text);
  require('node:fs').appendFileSync(${JSON.stringify(log)}, text + '\\n');
  if (name === 'end') process.exit(1);
  if (name !== 'hang') console.log(JSON.stringify({ coxswain_answer: { text: 'on ' + name } }));
});`,
  );
  program = { node: process.execPath, hook };
});

const starts = (): readonly number[] => readFileSync(`${log}-starts`, 'utf8').trim().split('\n').map(Number);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const logged = (): readonly Readonly<Record<string, unknown>>[] =>
  readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));

const names = (): readonly unknown[] => logged().map((event) => event['hook_event_name']);

test('one process takes all events, and ends when the bridge is closed', async () => {
  const bridge = createBridge('pi', project, program);
  expect(await bridge.send({ hook_event_name: 'UserPromptSubmit', session_id: 's' })).toBe('on UserPromptSubmit');
  expect(await bridge.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBe('on PreToolUse');
  expect(logged()[1]).toEqual({ host: 'pi', cwd: project, hook_event_name: 'PreToolUse', session_id: 's' });
  await bridge.close();
  const [pid = 0, ...more] = starts();
  expect(more).toEqual([]);
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(await bridge.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBe('on PreToolUse');
  expect(starts()).toHaveLength(2);
  await bridge.close();
});

test('events that arrive at once are taken in their order', async () => {
  const bridge = createBridge('pi', project, program);
  const sent = ['A', 'B', 'C'].map(async (hook_event_name) => bridge.send({ hook_event_name, session_id: 's' }));
  expect(await Promise.all(sent)).toEqual(['on A', 'on B', 'on C']);
  expect(names()).toEqual(['A', 'B', 'C']);
  await bridge.close();
});

test('a process that ended is replaced by another one, which takes the event', async () => {
  const bridge = createBridge('pi', project, program);
  await bridge.send({ hook_event_name: 'PreToolUse', session_id: 's' });
  process.kill(starts()[0] ?? 0, 'SIGKILL');
  expect(await bridge.send({ hook_event_name: 'PostToolUse', session_id: 's' })).toBe('on PostToolUse');
  expect(names()).toEqual(['PreToolUse', 'PostToolUse']);
  await bridge.close();
});

test('an event at which the process ends is sent twice, and after three such ends no process starts until the next prompt', async () => {
  const bridge = createBridge('pi', project, program);
  expect(await bridge.send({ hook_event_name: 'end', session_id: 's' })).toBeUndefined();
  expect(names()).toEqual(['end', 'end']);
  expect(await bridge.send({ hook_event_name: 'end', session_id: 's' })).toBeUndefined();
  expect(await bridge.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBeUndefined();
  expect(starts()).toHaveLength(3);
  expect(loggedFaults({ project, env: process.env })).toContain('nothing is recorded until the next prompt');
  expect(await bridge.send({ hook_event_name: 'UserPromptSubmit', session_id: 's' })).toBe('on UserPromptSubmit');
  expect(await bridge.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBe('on PreToolUse');
  await bridge.close();
});

test('a process that does not answer in time is killed, and the next one gets its event', async () => {
  const hook = new EventProcess(program, project);
  expect(await hook.take('{"hook_event_name":"hang"}', 2_500)).toBeUndefined();
  expect(names()).toEqual(['hang', 'hang']);
  for (const pid of starts()) await expect.poll(() => isAlive(pid)).toBe(false);
});

test('a program that is missing or prints no answer gives no text and causes no error', async () => {
  const missing = createBridge('pi', project, { ...program, node: join(project, 'gone') });
  expect(await missing.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBeUndefined();
  writeFileSync(program.hook, 'console.log("Warning: no JSON");');
  const noisy = createBridge('pi', project, program);
  expect(await noisy.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBeUndefined();
});

test('opencode: advice goes into the result of a call or a message of the next request, and other events have what its database has not', async () => {
  const hooks = await opencodePlugin({ directory: project }, program);
  const input = { sessionID: 'ses_1', tool: 'bash', callID: 'c1', args: { command: 'ls' } };
  await hooks['chat.message']?.({ sessionID: 'ses_1' }, { parts: [{ type: 'text', text: 'list' }] });
  await hooks['tool.execute.before']?.(input, { args: input.args });
  const output = { output: 'cat: nope', metadata: { exit: 1 } };
  await hooks['tool.execute.after']?.(input, output);
  expect(output.output).toBe('cat: nope\n\non PostToolUse');
  const info = { id: 'msg_1', role: 'assistant', sessionID: 'ses_1' };
  const messages: unknown[] = [{ info, parts: [] }];
  await hooks['experimental.chat.messages.transform']?.({}, { messages });
  await hooks.event?.({ event: { type: 'session.idle', properties: { sessionID: 'ses_1' } } });
  await hooks.dispose?.();
  expect(names()).toEqual([
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolBatch',
    'Stop',
    'SessionEnd',
  ]);
  expect(logged()[3]).toMatchObject({
    host: 'opencode',
    tool_response: 'cat: nope',
    is_error: true,
    tool_use_id: 'c1',
  });
  expect(messages).toHaveLength(2);
  expect(messages[1]).toMatchObject({
    info: { role: 'user', sessionID: 'ses_1' },
    parts: [{ type: 'text', text: 'on UserPromptSubmit\n\non PreToolUse\n\non PostToolBatch' }],
  });
});

test('opencode: a call of an unknown tool is a failed call of that tool', async () => {
  const hooks = await opencodePlugin({ directory: project }, program);
  const args = { tool: 'nope', error: 'Model tried to call unavailable tool' };
  const input = { sessionID: 'ses_1', tool: 'invalid', callID: 'c1', args };
  await hooks['tool.execute.after']?.(input, { output: 'The arguments are invalid', metadata: {} });
  await hooks.dispose?.();
  expect(logged()[0]).toMatchObject({ tool_name: 'nope', tool_use_id: 'c1', is_error: true });
});

test('pi: advice goes into the result of a call, also a failed one, or a message of the next request', async () => {
  type Handler = Parameters<Parameters<typeof piExtension>[0]['on']>[1];
  const handlers = new Map<string, Handler>();
  const before = process.cwd();
  process.chdir(project);
  piExtension({ on: (name, handler) => void handlers.set(name, handler) }, program);
  process.chdir(before);
  const context = { sessionManager: { getSessionId: () => 's1' }, model: { id: 'm' } };
  const fire = async (name: string, event: object): Promise<unknown> =>
    // The handlers check the members they read.
    handlers.get(name)?.(event as Readonly<Record<string, unknown>>, context);
  await fire('before_agent_start', { prompt: 'list' });
  const call = { toolName: 'bash', toolCallId: 'c1', input: { command: 'cat nope' } };
  await fire('tool_call', call);
  const content = [{ type: 'text', text: 'Command exited with code 1' }];
  expect(await fire('tool_result', { ...call, content, isError: true })).toEqual({
    content: [...content, { type: 'text', text: 'on PostToolUse' }],
  });
  await fire('tool_execution_end', { toolName: 'bash', toolCallId: 'c1', isError: true });
  await fire('tool_execution_start', { toolName: 'nope', toolCallId: 'c2', args: { a: 1 } });
  await fire('tool_execution_end', { toolName: 'nope', toolCallId: 'c2', result: { content }, isError: true });
  const counts = { input: 100, output: 20, cacheRead: 5, cacheWrite: 0, cost: { total: 0.5 } };
  await fire('turn_end', { message: { role: 'assistant', content: [], model: 'm', usage: counts } });
  expect(await fire('context', { messages: [1] })).toMatchObject({
    messages: [1, { role: 'user', content: [{ text: 'on UserPromptSubmit\n\non PreToolUse\n\non PostToolBatch' }] }],
  });
  expect(names()).toEqual(['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUse', 'PostToolBatch']);
  const usage = { input_tokens: 105, output_tokens: 20, cache_read_tokens: 5, cost_usd: 0.5 };
  expect(logged()[4]).toMatchObject({ usages: [{ model: 'm', usage }] });
  expect(logged()[3]).toMatchObject({ tool_name: 'nope', tool_input: { a: 1 }, is_error: true, is_mute: true });
});
