import { expect, test } from 'vitest';

import { claudeHooks } from '../src/adapters/claude/claude-hooks.ts';
import { observed } from '../src/adapters/claude/observed.ts';
import { coxswainAgents } from '../src/adapters/openai-agents/coxswain-agents.ts';
import type { RunnerShape } from '../src/adapters/openai-agents/sdk-shapes.ts';
import { newsOfMessages } from '../src/adapters/langchain/coxswain-middleware.ts';
import { claudeCodeImporter } from '../src/formats/claude-code/claude-code-import.ts';
import { codexExecImporter, codexRolloutImporter } from '../src/formats/codex/codex.ts';
import { copilotImporter } from '../src/formats/copilot/copilot.ts';
import { geminiChatImporter } from '../src/formats/gemini/gemini.ts';
import { opencodeImporter } from '../src/formats/opencode/opencode.ts';
import { openhandsLineImporter } from '../src/formats/openhands/openhands.ts';
import { piImporter } from '../src/formats/pi/pi.ts';
import { Conversation } from '../src/adapters/host/conversation.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { REFUSAL_ADVICE } from '../src/core/steering/prompt/refusal.ts';
import { playHost, SESSION, START_MS, type HostStep } from './support/host-scripts.ts';
import { importDocument, importLines } from './support/import-check.ts';
import { recordedRun } from './support/recorded-run.ts';

type Ended = Extract<TrajectoryPayload, { readonly kind: 'tool_ended' }>;

/** The words of a person or a gate, which no table can know. */
const OWN_WORDS = 'Not in this folder, please.';
const timestamp = '2026-11-23T04:00:00.000Z';

const endsOf = (payloads: readonly TrajectoryPayload[] = []): readonly Ended[] =>
  payloads.filter((payload) => payload.kind === 'tool_ended');
const outcomesOf = (payloads: readonly TrajectoryPayload[] = []): readonly (readonly [boolean, string | undefined])[] =>
  endsOf(payloads).map(({ is_error: isError, outcome }) => [isError, outcome]);

const REFUSED = [true, 'refused'] as const;
const CANCELLED = [true, 'cancelled'] as const;
const FAILED = [true, undefined] as const;
const OK = [false, undefined] as const;

/* Importers */

const inClaude = (type: string, content: unknown): object => ({
  type,
  uuid: crypto.randomUUID(),
  sessionId: 's1',
  timestamp,
  message: { role: type, id: 'm1', model: 'm', content },
});
const use = (id: string): object => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } });
const toolResult = (id: string, content: string, is_error = true): object => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  is_error,
});

test('a transcript of Claude Code tells refused, cancelled and failed calls apart', () => {
  const { runs } = importLines(claudeCodeImporter, [
    inClaude('user', 'Go.'),
    inClaude('assistant', [use('a'), use('b'), use('c'), use('d'), use('e')]),
    { type: 'system', subtype: 'permission_denied', tool_use_id: 'e', tool_name: 'Bash', session_id: 's1', uuid: 'd1' },
    inClaude('user', [
      toolResult('a', 'Permission to use Bash with command a has been denied.'),
      toolResult('b', '<tool_use_error>Sibling tool call errored</tool_use_error>'),
      toolResult('c', 'Exit code 1\nPermission denied'),
      toolResult('d', 'Permission to use Bash has been denied.', false),
      toolResult('e', OWN_WORDS),
    ]),
  ]);
  expect(outcomesOf(runs[0]?.payloads)).toEqual([REFUSED, CANCELLED, FAILED, OK, REFUSED]);
});

test('a rollout of Codex has no flags; its refusals are told by their words, and not if a command printed them', () => {
  const item = (payload: object): object => ({ timestamp, type: 'response_item', payload });
  const call = (id: string): object =>
    item({ type: 'function_call', name: 'exec_command', arguments: '{}', call_id: id });
  const output = (id: string, text: string): object =>
    item({ type: 'function_call_output', call_id: id, output: text });
  const declined = { type: 'item_completed', item: { type: 'CommandExecution', id: 'd', status: 'declined' } };
  const ended = { type: 'exec_command_end', call_id: 'e', exit_code: 0 };
  const { runs } = importLines(codexRolloutImporter, [
    { timestamp, type: 'session_meta', payload: { id: 't1', cwd: '/p' } },
    item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] }),
    ...['a', 'b', 'c', 'd', 'e'].map(call),
    output('a', 'exec command rejected by user'),
    output('b', 'aborted by user after 2.1s'),
    output('c', '{"output":"exec command rejected by user","metadata":{"exit_code":0,"duration_seconds":0.1}}'),
    { timestamp, type: 'event_msg', payload: declined },
    output('d', OWN_WORDS),
    { timestamp, type: 'event_msg', payload: ended },
    output('e', 'exec command rejected by user'),
  ]);
  expect(outcomesOf(runs[0]?.payloads)).toEqual([REFUSED, CANCELLED, OK, REFUSED, OK]);
});

test('a declined item of codex exec was refused', () => {
  const command = { id: 'i1', type: 'command_execution', command: 'rm x', aggregated_output: OWN_WORDS, exit_code: -1 };
  const { runs } = importLines(codexExecImporter, [
    { type: 'thread.started', thread_id: 't1' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { ...command, status: 'declined' } },
    { type: 'item.completed', item: { ...command, id: 'i2', status: 'failed', exit_code: 1 } },
  ]);
  expect(outcomesOf(runs[0]?.payloads)).toEqual([REFUSED, FAILED]);
});

test('a chat of Gemini CLI tells what its user refused from what it cancelled', () => {
  const called = (id: string, status: string, error: string): object => ({
    id,
    name: 'shell',
    args: {},
    status,
    result: [{ functionResponse: { id, response: { error } } }],
  });
  const { runs } = importLines(geminiChatImporter, [
    { sessionId: 's1', projectHash: 'p', startTime: timestamp, kind: 'main' },
    { id: 'u', timestamp, type: 'user', content: [{ text: 'Go.' }] },
    {
      id: 'g',
      timestamp,
      type: 'gemini',
      content: '',
      toolCalls: [
        called('a', 'cancelled', '[Operation Cancelled] Reason: User denied execution.'),
        called('b', 'cancelled', '[Operation Cancelled] Reason: User cancelled operation'),
        called('c', 'error', 'Tool execution denied by policy.'),
        called('d', 'error', 'File not found'),
      ],
    },
  ]);
  expect(outcomesOf(runs[0]?.payloads)).toEqual([REFUSED, CANCELLED, REFUSED, FAILED]);
});

test('events of Copilot state the code of a refusal', () => {
  let events = 0;
  const event = (type: string, data: object): object => ({ id: `e${(events += 1)}`, timestamp, type, data });
  const completed = (toolCallId: string, error: object): object =>
    event('tool.execution_complete', { toolCallId, success: false, error });
  const { runs } = importLines(copilotImporter, [
    event('session.start', { sessionId: 's1', version: 1, producer: 'copilot-agent', startTime: timestamp }),
    event('user.message', { content: 'Go.' }),
    event('assistant.message', {
      messageId: 'm1',
      content: '',
      toolRequests: ['a', 'b', 'c'].map((toolCallId) => ({ toolCallId, name: 'bash', arguments: {} })),
    }),
    completed('a', { code: 'rejected', message: OWN_WORDS }),
    completed('b', { code: 'denied', message: OWN_WORDS }),
    completed('c', { code: 'failure', message: 'no such file' }),
  ]);
  expect(outcomesOf(runs[0]?.payloads)).toEqual([REFUSED, REFUSED, FAILED]);
});

test('sessions of opencode, pi and OpenHands have refusals', () => {
  const tool = (callID: string, error: string): object => ({
    type: 'tool',
    tool: 'bash',
    callID,
    state: { status: 'error', input: {}, error, time: { start: 1, end: 2 } },
  });
  const opencode = importDocument(opencodeImporter, {
    info: { id: 'ses_1' },
    messages: [
      { info: { id: 'm1', role: 'user', time: { created: 1 } }, parts: [{ type: 'text', text: 'Go.' }] },
      {
        info: { id: 'm2', role: 'assistant', time: { created: 1 } },
        parts: [tool('a', 'The user rejected permission to use this specific tool call.'), tool('b', 'no such file')],
      },
    ],
  });
  expect(outcomesOf(opencode.runs[0]?.payloads)).toEqual([REFUSED, FAILED]);

  const entry = (id: string, parentId: string | null, message: object): object => ({
    type: 'message',
    id,
    parentId,
    message,
  });
  const text = (words: string): readonly object[] => [{ type: 'text', text: words }];
  const pi = importLines(piImporter, [
    { type: 'session', version: 3, id: 's1', timestamp, cwd: '/p' },
    entry('a', null, { role: 'user', content: text('Go.') }),
    entry('b', 'a', {
      role: 'assistant',
      stopReason: 'toolUse',
      content: ['c1', 'c2'].map((id) => ({ type: 'toolCall', id, name: 'bash', arguments: {} })),
    }),
    entry('c', 'b', {
      role: 'toolResult',
      toolCallId: 'c1',
      isError: true,
      content: text('Tool execution was blocked'),
    }),
    entry('d', 'c', { role: 'toolResult', toolCallId: 'c2', isError: true, content: text('Command aborted') }),
  ]);
  expect(outcomesOf(pi.runs[0]?.payloads)).toEqual([REFUSED, CANCELLED]);

  const action = (id: string): object => ({
    kind: 'ActionEvent',
    id,
    timestamp,
    source: 'agent',
    tool_name: 'terminal',
    tool_call_id: `call-${id}`,
    action: { kind: 'TerminalAction', command: id },
    llm_response_id: 'r1',
  });
  const openhands = importLines(openhandsLineImporter, [
    { kind: 'MessageEvent', id: 'm', timestamp, source: 'user', llm_message: { role: 'user', content: text('Go.') } },
    action('a'),
    action('b'),
    {
      kind: 'UserRejectObservation',
      id: 'o1',
      timestamp,
      source: 'environment',
      action_id: 'a',
      tool_call_id: 'call-a',
      rejection_reason: OWN_WORDS,
    },
    {
      kind: 'AgentErrorEvent',
      id: 'o2',
      timestamp,
      source: 'agent',
      tool_call_id: 'call-b',
      tool_name: 'terminal',
      error: 'no such tool',
    },
  ]);
  expect(outcomesOf(openhands.runs[0]?.payloads)).toEqual([REFUSED, FAILED]);
});

/* Hooks */

const claudeEvent = (name: string, more: object = {}): HostStep => ({
  sent: { session_id: SESSION, hook_event_name: name, ...more },
});
const bash = (id: string): object => ({ tool_name: 'Bash', tool_input: { command: 'rm -rf build' }, tool_use_id: id });

/** A call that Claude Code announces to a hook and then does not run. */
function refusedCall(id: string, words = OWN_WORDS): readonly HostStep[] {
  return [
    claudeEvent('PreToolUse', bash(id)),
    claudeEvent('PostToolBatch', { tool_calls: [{ ...bash(id), tool_response: words }] }),
  ];
}

const prompt = claudeEvent('UserPromptSubmit', { prompt: 'Tidy up.' });

test.each([false, true])(
  'a call that Claude Code announces and does not run was refused, whatever the words; from spill files: %s',
  async (late) => {
    const { records } = await playHost([prompt, ...refusedCall('a'), ...refusedCall('b', 'Exit code 1')], { late });
    expect(outcomesOf(records.map(({ payload }) => payload))).toEqual([REFUSED, REFUSED]);
  },
);

test('a call that Claude Code does not announce was invalid, and a failed call failed', async () => {
  const invalid = '<tool_use_error>InputValidationError: Bash failed</tool_use_error>';
  const { records } = await playHost([
    prompt,
    claudeEvent('PreToolUse', bash('b')),
    claudeEvent('PostToolUseFailure', { ...bash('b'), error: 'Exit code 1\nPermission denied' }),
    claudeEvent('PostToolBatch', {
      tool_calls: [
        { ...bash('a'), tool_response: invalid },
        { ...bash('b'), tool_response: 'Exit code 1' },
      ],
    }),
  ]);
  expect(outcomesOf(records.map(({ payload }) => payload))).toEqual([FAILED, FAILED]);
});

test('a hook tells an agent that repeats refused calls to ask, and lets it stop before its conditions hold', async () => {
  const steps = [prompt, ...['a', 'b', 'c', 'd'].flatMap((id) => refusedCall(id)), claudeEvent('Stop')];
  const { answers, records } = await playHost(steps, { mustExist: ['/nowhere/done.txt'] });
  const said = answers.map(({ text }) => text).filter((text) => text !== '');
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(REFUSAL_ADVICE);
  expect(answers.filter(({ json }) => json['decision'] === 'block')).toEqual([]);
  expect(records.map(({ payload }) => payload).filter(({ kind }) => kind === 'completion_checked')).toMatchObject([
    { met: false, gave_up: true },
  ]);
});

test('hooks of Copilot and Gemini CLI state a refusal', async () => {
  const base = { sessionId: SESSION, cwd: '/', timestamp: START_MS };
  const call = { toolName: 'Bash', toolArgs: { command: 'rm x' } };
  const copilot = await playHost([
    { sent: { ...base, prompt: 'Go.' } },
    { sent: { ...base, timestamp: START_MS + 1_000, ...call } },
    {
      sent: {
        ...base,
        timestamp: START_MS + 2_000,
        ...call,
        toolResult: { resultType: 'rejected', textResultForLlm: OWN_WORDS },
      },
    },
  ]);
  expect(outcomesOf(copilot.records.map(({ payload }) => payload))).toEqual([REFUSED]);

  const gemini = (name: string, more: object): HostStep => ({
    sent: { session_id: SESSION, transcript_path: '/none', cwd: '/', hook_event_name: name, timestamp, ...more },
  });
  const shell = { tool_name: 'shell', tool_input: { command: 'rm x' } };
  const error = { type: 'policy_violation', message: OWN_WORDS };
  const played = await playHost([
    gemini('BeforeAgent', { prompt: 'Go.' }),
    gemini('BeforeTool', shell),
    gemini('AfterTool', { ...shell, tool_response: { llmContent: OWN_WORDS, returnDisplay: '', error } }),
  ]);
  expect(outcomesOf(played.records.map(({ payload }) => payload))).toEqual([REFUSED]);
});

/* SDKs */

test('the Claude Agent SDK: a denial by canUseTool or a hook, and the notice of a denial', async () => {
  const hooked = recordedRun();
  const hooks = claudeHooks(hooked.run);
  const send = async (name: 'PreToolUse' | 'PostToolBatch', input: object): Promise<void> => {
    const [hook] = hooks[name].at(-1)?.hooks ?? [];
    const signal = new AbortController().signal;
    await hook?.({ hook_event_name: name, session_id: 's1', ...input }, undefined, { signal });
  };
  await send('PreToolUse', bash('a'));
  await send('PostToolBatch', { tool_calls: [{ ...bash('a'), tool_response: OWN_WORDS }] });
  expect(outcomesOf(await hooked.recorded('tool_ended'))).toEqual([REFUSED]);

  const seen = recordedRun();
  const message = (role: string, content: readonly object[]): object => ({
    type: role,
    session_id: 's1',
    message: { id: 'm1', role, model: 'm', content },
  });
  async function* messages(): AsyncGenerator<object> {
    yield { type: 'system', subtype: 'init', session_id: 's1', model: 'm' };
    yield message('assistant', [use('a'), use('b')]);
    yield { type: 'system', subtype: 'permission_denied', tool_use_id: 'a', tool_name: 'Bash', message: OWN_WORDS };
    yield message('user', [toolResult('a', OWN_WORDS), toolResult('b', 'Exit code 1')]);
  }
  await Array.fromAsync(observed(seen.run, messages()));
  await seen.run.end();
  expect(outcomesOf(await seen.recorded('tool_ended'))).toEqual([REFUSED, FAILED]);
});

test('OpenAI Agents: a call that the SDK did not run was rejected, with any words', async () => {
  const { run, recorded } = recordedRun();
  const calls = ['a', 'b', 'c', 'd'].map((callId) => ({
    type: 'function_call',
    callId,
    name: 'look',
    arguments: '{}',
  }));
  const results = [
    'Tool execution was not approved.',
    OWN_WORDS,
    'An error occurred while parsing tool arguments. Please try again with valid JSON.',
    'Tool execution was not approved.',
  ];
  const answers: readonly unknown[] = [
    { output: calls },
    { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }] },
  ];
  let requests = 0;
  const own = { getResponse: async () => answers[(requests += 1) - 1] };
  const listeners: [string, (...args: readonly unknown[]) => void][] = [];
  const runner = {
    config: { modelProvider: { getModel: () => own } },
    on: (event: string, listener: (...args: readonly unknown[]) => void) => listeners.push([event, listener]),
    off: () => undefined,
  } as unknown as RunnerShape;
  coxswainAgents(run).attach(runner);
  const tell = (event: string, ...args: readonly unknown[]): void => {
    for (const [name, listener] of listeners) if (name === event) listener(...args);
  };
  const agent = { name: 'a' };
  tell('agent_start', {}, agent);
  const model = (await runner.config.modelProvider.getModel('m')) as unknown as {
    getResponse(request: object): Promise<unknown>;
  };
  const tools = [{ type: 'function', name: 'look' }];
  const input = [{ type: 'message', role: 'user', content: 'Go.' }];
  await model.getResponse({ input, tools });
  // The last call runs, and reads a text that quotes the SDK.
  const look = { type: 'function', name: 'look' };
  tell('agent_tool_start', {}, agent, look, { toolCall: calls[3] });
  tell('agent_tool_end', {}, agent, look, results[3], { toolCall: calls[3] });
  const shown = results.map((output, index) => ({
    type: 'function_call_result',
    callId: calls[index]?.callId,
    name: 'look',
    output,
  }));
  await model.getResponse({ input: [...input, ...calls, ...shown], tools });
  const ends = await recorded('tool_ended');
  const outcomes = Object.fromEntries(ends.map((end) => [end.tool_call_id, outcomesOf([end])[0]]));
  expect(outcomes).toEqual({ a: REFUSED, b: REFUSED, c: FAILED, d: OK });
});

test('LangChain: an error message in place of a tool that did not run is a refusal, an answer of a person is none', async () => {
  const { run, recorded } = recordedRun();
  const conversation = new Conversation(run);
  const ids = ['a', 'b', 'c'];
  conversation.request('first', { messages: [{ role: 'user', content: 'Go.' }], results: [] });
  const calls = ids.map((id) => ({ id, name: 'pay', args: {}, argsText: '{}' }));
  conversation.answered({ message: { role: 'assistant', content: '' }, calls });
  const ran = conversation.callOf(calls[2] ?? { id: '', name: '', args: {}, argsText: '' });
  conversation.started(ran);
  conversation.returned(ran, { result: OWN_WORDS, isError: true });
  const message = (id: string, status: string): object => ({
    type: 'tool',
    tool_call_id: id,
    content: OWN_WORDS,
    status,
  });
  const messages = [message('a', 'error'), message('b', 'success'), message('c', 'error')];
  conversation.request('second', newsOfMessages({ messages }, { seen: 0, system: '' }));
  expect(outcomesOf(await recorded('tool_ended'))).toEqual([REFUSED, OK, FAILED]);
});
