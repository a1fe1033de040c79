import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { writeServeSettings } from '../claude-code/serve-settings.ts';
import { createBridge, type PluginProgram } from './event-bridge.ts';
import { opencodePlugin } from './opencode-plugin.ts';
import { piExtension } from './pi-extension.ts';

let project: string;
let program: PluginProgram;
let log: string;

/** A hook that logs its input and answers with the name of the event. */
beforeEach(() => {
  const folder = testFolder();
  project = join(folder, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  log = join(folder, 'log');
  const hook = join(folder, 'hook.cjs');
  writeFileSync(
    hook,
    `let text = '';
process.stdin.on('data', (more) => (text += more)).on('end', () => {
  require('node:fs').appendFileSync(${JSON.stringify(log)}, text + '\\n');
  process.stdout.write(JSON.stringify({ text: 'on ' + JSON.parse(text).hook_event_name }));
});`,
  );
  program = { node: process.execPath, hook };
});

const logged = (): readonly Readonly<Record<string, unknown>>[] =>
  readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));

const names = (): readonly unknown[] => logged().map((event) => event['hook_event_name']);

/** A server of the project that answers each event with the status. @returns the tokens received */
async function serve(status: number): Promise<readonly string[]> {
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    tokens.push(String(request.headers.authorization));
    request.resume().on('end', () => response.writeHead(status).end(status === 200 ? '{"text":"served"}' : ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  writeServeSettings(project, { port, token: 'a token that is long enough for a test', program: ['node'] });
  return tokens;
}

test('events go to the server of the project, except those that start it, which a process takes', async () => {
  const tokens = await serve(200);
  const bridge = createBridge('pi', project, program);
  expect(await bridge.send({ hook_event_name: 'UserPromptSubmit', session_id: 's' })).toBe('on UserPromptSubmit');
  expect(await bridge.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBe('served');
  expect(tokens).toEqual(['Bearer a token that is long enough for a test']);
  expect(names()).toEqual(['UserPromptSubmit']);
});

test.each([401, 500])('an event that the server does not acknowledge (%i) is taken by a process', async (status) => {
  await serve(status);
  const bridge = createBridge('pi', project, program);
  expect(await bridge.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBe('on PreToolUse');
  expect(logged()).toEqual([{ host: 'pi', cwd: project, hook_event_name: 'PreToolUse', session_id: 's' }]);
});

test('a hook that is missing or prints no JSON gives no text and causes no error', async () => {
  const missing = createBridge('pi', project, { ...program, node: join(project, 'gone') });
  expect(await missing.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBeUndefined();
  writeFileSync(program.hook, 'console.log("Warning: no JSON");');
  const noisy = createBridge('pi', project, program);
  expect(await noisy.send({ hook_event_name: 'PreToolUse', session_id: 's' })).toBeUndefined();
});

test('opencode: advice goes into the result of a call or a message of the next request, and failed calls are read from that request', async () => {
  const hooks = await opencodePlugin({ directory: project }, program);
  const input = { sessionID: 'ses_1', tool: 'bash', callID: 'c1', args: { command: 'ls' } };
  await hooks['chat.message']?.({ sessionID: 'ses_1' }, { parts: [{ type: 'text', text: 'list' }] });
  await hooks['tool.execute.before']?.(input, { args: input.args });
  const output = { output: 'cat: nope', metadata: { exit: 1 } };
  await hooks['tool.execute.after']?.(input, output);
  expect(output.output).toBe('cat: nope\n\non PostToolUse');
  const state = { status: 'error', input: { filePath: 'missing' }, error: 'File not found' };
  const info = { id: 'msg_1', role: 'assistant', sessionID: 'ses_1' };
  const messages: unknown[] = [{ info, parts: [{ type: 'tool', tool: 'read', callID: 'c2', state }] }];
  await hooks['experimental.chat.messages.transform']?.({}, { messages });
  const answer = { ...info, tokens: { input: 100, output: 20, reasoning: 4 }, cost: 0.5, modelID: 'm' };
  for (const time of [{ created: 1 }, { created: 1, completed: 7 }, { created: 1, completed: 7 }]) {
    const properties = { info: { ...answer, time }, sessionID: 'ses_1' };
    await hooks.event?.({ event: { type: 'message.updated', properties } });
  }
  await hooks.event?.({ event: { type: 'session.idle', properties: { sessionID: 'ses_1' } } });
  await hooks.dispose?.();
  expect(names()).toEqual([
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
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
  expect(logged()[4]).toMatchObject({ tool_name: 'read', error: 'File not found', is_mute: true });
  const usage = { input_tokens: 100, output_tokens: 24, reasoning_tokens: 4, cost_usd: 0.5 };
  expect(logged()[6]).toMatchObject({ usages: [{ at_ms: 7, model: 'm', usage }] });
  expect(messages).toHaveLength(2);
  expect(messages[1]).toMatchObject({
    info: { role: 'user', sessionID: 'ses_1' },
    parts: [{ type: 'text', text: 'on UserPromptSubmit\n\non PreToolUse\n\non PostToolBatch' }],
  });
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
  const usage = { input_tokens: 100, output_tokens: 20, cache_read_tokens: 5, cost_usd: 0.5 };
  expect(logged()[4]).toMatchObject({ usages: [{ model: 'm', usage }] });
  expect(logged()[3]).toMatchObject({ tool_name: 'nope', tool_input: { a: 1 }, is_error: true, is_mute: true });
});
