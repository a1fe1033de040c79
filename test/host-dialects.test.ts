import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { expect, onTestFinished, test, vi } from 'vitest';

import { readHookEvent } from '../src/hosts/claude-code/hook-event.ts';
import { viewOf } from '../src/core/facts/run-view.ts';
import { RunCounter } from '../src/core/facts/run-summary.ts';
import {
  HOSTS,
  known,
  playHost,
  SESSION,
  START_MS,
  type HostCall,
  type HostStep,
  type Json,
  type Played,
} from './support/host-scripts.ts';
import { testFolder } from './support/test-folder.ts';

const LOOP: readonly (readonly HostCall[])[] = Array.from({ length: 5 }, () => [
  { command: 'cat /nope', output: 'cat: /nope: No such file or directory', exitCode: 1 },
]);

const scriptOf = async (host: string, turns = LOOP): Promise<Iterable<HostStep>> =>
  HOSTS[host]?.(turns, testFolder()) ?? [];

/** The shell of Codex has another name. */
const oneName = (text: string): string => text.replaceAll('exec_command', 'Bash');

/** After which call, counted from 1, a piece of advice was given, and its text. */
function adviceOf({ records }: Played): readonly (readonly [number, string])[] {
  const counter = new RunCounter();
  return records.flatMap((record): (readonly [number, string])[] => {
    counter.fold(record);
    const { payload } = record;
    return payload.kind === 'feedback_produced' ? [[counter.calls, oneName(payload.feedback.summary)]] : [];
  });
}

const countOf = ({ records }: Played, kind: string): number =>
  records.filter(({ payload }) => payload.kind === kind).length;

test.each(['codex', 'copilot', 'gemini', 'qwen-code', 'claude-code 1'])(
  'a failing call that repeats gets the same advice at the same call in %s as in Claude Code',
  async (host) => {
    const reference = await playHost(await scriptOf('claude-code'));
    const played = await playHost(await scriptOf(host));
    expect(adviceOf(reference).length).toBeGreaterThan(0);
    expect(adviceOf(played)).toEqual(adviceOf(reference));
    expect(played.answers.map(({ text }) => oneName(text))).toEqual(reference.answers.map(({ text }) => text));
    const errors = played.records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload.is_error] : []));
    expect(errors).toEqual([true, true, true, true, true]);
    expect(countOf(played, 'turn_started')).toBe(5);
    expect(played.records[0]?.payload).toMatchObject({
      kind: 'run_started',
      host: host.replace(' 1', ''),
      task: 'list the files',
    });
  },
);

test.each(['codex', 'copilot', 'gemini', 'qwen-code'])(
  'calls of one answer are one turn in %s, also where they run one after the other',
  async (host) => {
    const pair = ['a', 'b'].map((name) => ({ command: `cat ${name}`, output: name, exitCode: 0 }));
    const played = await playHost(await scriptOf(host, [pair, pair]));
    expect([countOf(played, 'turn_started'), countOf(played, 'tool_started'), countOf(played, 'tool_ended')]).toEqual([
      2, 4, 4,
    ]);
  },
);

test.each(['claude-code', 'codex', 'copilot', 'gemini', 'qwen-code'])(
  'events of %s that waited in files make the same calls as events in time',
  async (host) => {
    const callsOf = ({ records }: Played): readonly unknown[] =>
      records.flatMap(({ payload }) =>
        payload.kind === 'tool_started' || payload.kind === 'tool_ended' || payload.kind === 'turn_started'
          ? [payload]
          : [],
      );
    const inTime = await playHost(await scriptOf(host));
    expect(callsOf(await playHost(await scriptOf(host), { late: true }))).toEqual(callsOf(inTime));
  },
);

test.each(['claude-code', 'claude-code 1', 'codex', 'copilot', 'gemini', 'opencode', 'pi', 'qwen-code'])(
  'hooks of %s for the user and for the project together record and advise once',
  async (host) => {
    const once = [...(await scriptOf(host))];
    const twice = [...(await scriptOf(host))].flatMap((step): readonly HostStep[] =>
      'sent' in step ? [step, step] : [step],
    );
    const facts = (played: Played): readonly unknown[] => [
      ['turn_started', 'tool_started', 'tool_ended', 'feedback_produced'].map((kind) => countOf(played, kind)),
      played.answers.length,
      adviceOf(played),
    ];
    expect(facts(await playHost(twice))).toEqual(facts(await playHost(once)));
  },
);

test('calls without a hook in Codex are read from its rollout, and advice on them comes with the next event', async () => {
  const folder = testFolder();
  const rollout = join(folder, `rollout-2026-${SESSION}.jsonl`);
  const base = { session_id: SESSION, turn_id: 't', transcript_path: rollout, cwd: '/', permission_mode: 'default' };
  const lines: string[] = [];
  const write = (type: string, payload: Json): HostStep => ({
    before: () => {
      const timestamp = new Date(START_MS + lines.length).toISOString();
      lines.push(JSON.stringify({ timestamp, type, payload }));
      writeFileSync(rollout, lines.join('\n'));
    },
  });
  const unknown = (id: string): readonly HostStep[] => [
    write('response_item', { type: 'function_call', call_id: id, name: 'nope_tool', arguments: '{}' }),
    write('token_usage_record', {}),
    write('response_item', { type: 'function_call_output', call_id: id, output: 'unsupported call: nope_tool' }),
  ];
  const patch = { tool_name: 'apply_patch', tool_input: { command: '*** Begin Patch' }, tool_use_id: 'p' };
  const played = await playHost([
    write('response_item', { type: 'message', role: 'user', content: [] }),
    { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } },
    ...['u1', 'u2', 'u3', 'u4'].flatMap(unknown),
    write('response_item', { type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: '*** Begin Patch' }),
    write('token_usage_record', {}),
    { sent: { ...base, hook_event_name: 'PreToolUse', ...patch } },
    write('response_item', {
      type: 'custom_tool_call_output',
      call_id: 'p',
      output: 'apply_patch verification failed: x',
    }),
    { sent: { ...base, hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'done' } },
    { sent: { ...base, hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'checked' } },
  ]);
  const ends = played.records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : []));
  expect(ends.map((end) => [end.tool_call_id, end.tool_name, end.is_error])).toEqual([
    ['u1', 'nope_tool', true],
    ['u2', 'nope_tool', true],
    ['u3', 'nope_tool', true],
    ['u4', 'nope_tool', true],
    ['p', 'apply_patch', true],
  ]);
  expect(countOf(played, 'turn_started')).toBe(7);
  expect(played.answers.map(({ name }) => name)).toEqual(['PreToolUse']);
});

/** Claude Code runs the calls of an answer one after the other, unless they only read. */
function sequentialCalls(file: string, { batches }: { readonly batches: boolean }): readonly HostStep[] {
  const base = { session_id: SESSION, transcript_path: file, cwd: '/', permission_mode: 'default' };
  const lines: object[] = [];
  const turn = (at: number): readonly HostStep[] => {
    const calls = ['a', 'b'].map((name) => ({
      tool_name: 'Bash',
      tool_input: { command: name },
      tool_use_id: `${name}${at}`,
    }));
    const content = calls.map((call) => ({
      type: 'tool_use',
      id: call.tool_use_id,
      name: 'Bash',
      input: call.tool_input,
    }));
    const timestamp = new Date(START_MS + at).toISOString();
    const message = { id: `m${at}`, content, stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } };
    return [
      {
        before: () => {
          lines.push({ type: 'assistant', uuid: `u${at}`, sessionId: SESSION, timestamp, message });
          writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
        },
      },
      ...calls.flatMap((call) => [
        { sent: { ...base, hook_event_name: 'PreToolUse', ...call } },
        { sent: { ...base, hook_event_name: 'PostToolUse', ...call, tool_response: 'x' } },
      ]),
      ...(batches ? [{ sent: { ...base, hook_event_name: 'PostToolBatch', tool_calls: calls } }] : []),
    ];
  };
  return [
    { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } },
    ...[1, 2, 3].flatMap(turn),
  ];
}

test.each([true, false])(
  'calls that Claude Code runs one after the other are one turn, as the session file says (with events at the end of a turn: %s)',
  async (batches) => {
    const played = await playHost(sequentialCalls(join(testFolder(), `${SESSION}.jsonl`), { batches }));
    expect([countOf(played, 'turn_started'), countOf(played, 'tool_ended')]).toEqual([3, 6]);
  },
);

test('calls of an unknown tool, for which Gemini CLI has no event, are read from its chat and advised on', async () => {
  const chat = join(testFolder(), 'chats', `session-2026-${SESSION.slice(0, 8)}.jsonl`);
  mkdirSync(dirname(chat));
  const lines: object[] = [];
  const at = (name: string, second: number, more: Json = {}): HostStep => ({
    sent: {
      session_id: SESSION,
      transcript_path: chat,
      cwd: '/',
      hook_event_name: name,
      timestamp: new Date(START_MS + second * 1_000).toISOString(),
      ...more,
    },
  });
  const request = { llm_request: { model: 'm', messages: [] } };
  const unknown = (second: number): readonly HostStep[] => [
    {
      before: () => {
        const timestamp = new Date(START_MS + second * 1_000).toISOString();
        const response = { error: 'Tool "nope" not found.' };
        const call = { id: `n${second}`, name: 'nope', args: {}, status: 'error', timestamp };
        const result = [{ functionResponse: { id: call.id, response } }];
        const tokens = { input: 10, output: 2 };
        const entry = { id: `g${second}`, timestamp, type: 'gemini', content: '', tokens, model: 'm' };
        lines.push({ ...entry, toolCalls: [{ ...call, result }] });
        writeFileSync(chat, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      },
    },
    at('BeforeModel', second + 1, request),
  ];
  const played = await playHost([
    at('BeforeAgent', 0, { prompt: 'list the files' }),
    at('BeforeModel', 1, request),
    ...[2, 4, 6, 8].flatMap(unknown),
  ]);
  const ends = played.records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : []));
  expect(ends.map((end) => [end.tool_call_id, end.is_error])).toEqual([
    ['n2', true],
    ['n4', true],
    ['n6', true],
    ['n8', true],
  ]);
  expect(countOf(played, 'turn_started')).toBe(4);
  expect(adviceOf(played)[0]?.[0]).toBe(3);
});

test('a call of Gemini CLI that never ended is of the answer that its chat has, and a compaction is read from the chat', async () => {
  const chat = join(testFolder(), 'chats', `session-2026-${SESSION.slice(0, 8)}.jsonl`);
  mkdirSync(dirname(chat));
  const lines: object[] = [{ sessionId: SESSION, projectHash: 'x', startTime: new Date(START_MS).toISOString() }];
  const timeAt = (second: number): string => new Date(START_MS + second * 1_000).toISOString();
  const write = (second: number, entry: object): HostStep => ({
    before: () => {
      lines.push({ timestamp: timeAt(second), ...entry });
      writeFileSync(chat, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
  });
  const at = (name: string, second: number, more: Json): HostStep => {
    const place = { session_id: SESSION, transcript_path: chat, cwd: '/', hook_event_name: name };
    return { sent: { ...place, timestamp: timeAt(second), ...more } };
  };
  const tokens = { input: 10, output: 2 };
  const request = { llm_request: { model: 'm', messages: [] } };
  const answer = (id: string, content: string): object => ({ id, type: 'gemini', content, tokens, model: 'm' });
  const played = await playHost([
    at('BeforeAgent', 0, { prompt: 'wait' }),
    at('BeforeModel', 1, request),
    write(2, answer('g1', '')),
    at('BeforeTool', 3, { tool_name: 'run_shell_command', tool_input: { command: 'sleep 60' } }),
    // The program is killed, and continues the session.
    at('SessionStart', 4, { source: 'resume' }),
    at('BeforeAgent', 5, { prompt: 'go on' }),
    at('BeforeModel', 6, request),
    write(7, { $set: { messages: [{ id: 's', type: 'user', content: [{ text: 'Summary.' }] }] } }),
    write(8, answer('g2', 'Done.')),
    at('AfterAgent', 9, { prompt: 'go on', prompt_response: 'Done.' }),
    at('SessionEnd', 10, { reason: 'exit' }),
  ]);
  expect(viewOf(played.records).usage.tokens).toBe(24);
  expect(['turn_started', 'tool_started', 'compaction'].map((kind) => countOf(played, kind))).toEqual([2, 1, 1]);
});

test('the session file of pi, which no event names, has the tokens of each answer once, also of an aborted one, and if its extension reports them', async () => {
  const folder = testFolder();
  vi.stubEnv('PI_CODING_AGENT_DIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(folder, 'sessions', 'project', `2026_${SESSION}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  const lines: object[] = [{ type: 'session', id: SESSION, cwd: '/' }];
  const answer = (second: number, content: readonly object[], more: object = {}): HostStep => ({
    before: () => {
      const usage = { input: 100, output: 20 };
      const message = { role: 'assistant', model: 'm', usage, content, stopReason: 'stop', ...more };
      const timestamp = new Date(START_MS + second * 1_000).toISOString();
      lines.push({ type: 'message', id: `e${second}`, parentId: null, timestamp, message });
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
  });
  const base = { host: 'pi', session_id: SESSION, cwd: '/' };
  const usages = [1, 3].map((second) => ({
    at_ms: START_MS + second * 1_000 + 5,
    model: 'm',
    usage: { input_tokens: 100, output_tokens: 20 },
  }));
  const played = await playHost([
    { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } },
    answer(1, [{ type: 'toolCall', id: 'c1', name: 'nope', arguments: {} }]),
    { sent: { ...base, hook_event_name: 'PostToolBatch', tool_calls: [], usages: usages.slice(0, 1) } },
    answer(2, [{ type: 'text', text: 'I am' }], { stopReason: 'aborted', errorMessage: 'Operation aborted' }),
    { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'go on' } },
    answer(3, [{ type: 'text', text: 'Done.' }]),
    { sent: { ...base, hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'Done.', usages } },
    { sent: { ...base, hook_event_name: 'SessionEnd', reason: 'quit', usages } },
  ]);
  expect(viewOf(played.records).usage.tokens).toBe(360);
  expect([countOf(played, 'turn_started'), countOf(played, 'tool_started')]).toEqual([2, 1]);
  expect(played.records.at(-1)?.payload).toMatchObject({ kind: 'run_ended', outcome: 'ended', reason: 'answered' });
});

test('the database of opencode has failed calls, texts and tokens, also of answers before coxswain was installed', async () => {
  const file = join(testFolder(), 'opencode.db');
  vi.stubEnv('OPENCODE_DB', file);
  onTestFinished(() => void vi.unstubAllEnvs());
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  database.exec(`
    PRAGMA journal_mode = wal;
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_updated INTEGER, data TEXT);
  `);
  const answer = (second: number, ...parts: readonly object[]): HostStep => ({
    before: () => {
      const created = START_MS + second * 1_000;
      const info = { role: 'assistant', modelID: 'm', time: { created }, tokens: { input: 0, output: 0 } };
      const id = `msg_${second}`;
      database.prepare('DELETE FROM message WHERE id = ?').run(id);
      database.prepare('DELETE FROM part WHERE message_id = ?').run(id);
      database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(id, SESSION, created, JSON.stringify(info));
      for (const [at, part] of [{ type: 'step-start' }, ...parts].entries())
        database.prepare('INSERT INTO part VALUES (?, ?, ?, 1, ?)').run(`${at}`, id, SESSION, JSON.stringify(part));
    },
  });
  const state = { status: 'error', input: { filePath: 'no' }, error: 'File not found' };
  const failed = { type: 'tool', tool: 'read', callID: 'c1', state };
  const finish = { type: 'step-finish', tokens: { input: 100, output: 20 }, cost: 0.5 };
  const base = { host: 'opencode', session_id: SESSION, cwd: '/' };
  const played = await playHost([
    answer(1, { ...failed, callID: 'c0' }, finish),
    { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } },
    answer(3, failed),
    { sent: { ...base, hook_event_name: 'PreToolUse', tool_name: 'read', tool_use_id: 'c1', tool_input: state.input } },
    answer(3, failed, finish),
    { sent: { ...base, hook_event_name: 'PostToolBatch', tool_calls: [] } },
    answer(5, { type: 'text', text: 'Done.' }, finish),
    { sent: { ...base, hook_event_name: 'Stop', stop_hook_active: true } },
    { sent: { ...base, hook_event_name: 'SessionEnd', reason: 'exit' } },
  ]);
  expect(viewOf(played.records).usage).toMatchObject({ tokens: 360, costUsd: 1.5 });
  expect([countOf(played, 'turn_started'), countOf(played, 'tool_started')]).toEqual([3, 2]);
  expect(played.records.filter(({ payload }) => payload.kind === 'tool_ended' && payload.is_error)).toHaveLength(2);
  expect(played.records.at(-1)?.payload).toMatchObject({ kind: 'run_ended', outcome: 'ended', reason: 'answered' });
});

test.each([
  ['an answer', [{ hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'Done.' }], 'answered'],
  ['a prompt', [], undefined],
])('a session without a file that ends after %s has its reason', async (_, events, reason) => {
  const base = { host: 'opencode', session_id: SESSION, cwd: '/' };
  const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'list the files' };
  const end = { hook_event_name: 'SessionEnd', reason: 'exit' };
  const { records } = await playHost([prompt, ...events, end].map((event) => ({ sent: { ...base, ...event } })));
  expect(records.at(-1)?.payload).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
  const ended = records.at(-1)?.payload;
  expect(ended?.kind === 'run_ended' ? ended.reason : 'no end').toBe(reason);
});

test('the end of a call is as its event says, although the file of Copilot CLI has it in other words or dates its answer later', async () => {
  const folder = testFolder();
  vi.stubEnv('COPILOT_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(folder, 'session-state', SESSION, 'events.jsonl');
  mkdirSync(dirname(file), { recursive: true });
  const lines: object[] = [];
  const turn = (at: number): readonly HostStep[] => {
    const ms = START_MS + at * 1_000;
    const args = { path: 'missing.txt' };
    const call = { sessionId: SESSION, cwd: '/', toolName: 'view', toolArgs: args };
    const write = (type: string, afterMs: number, data: object): HostStep => ({
      before: () => {
        lines.push({ type, timestamp: new Date(ms + afterMs).toISOString(), data });
        writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      },
    });
    const request = { toolCallId: `t${at}`, name: 'view', arguments: args };
    return [
      // The file may lag behind the hook.
      ...(at === 2
        ? []
        : [write('assistant.message', 0, { messageId: `m${at}`, content: '', toolRequests: [request] })]),
      { sent: { ...call, timestamp: ms + (at === 3 ? -10 : 10) } },
      ...(at === 2
        ? [write('assistant.message', 0, { messageId: `m${at}`, content: '', toolRequests: [request] })]
        : []),
      // Only sometimes before the hook.
      ...(at === 4 ? [write('tool.execution_complete', 20, { toolCallId: `t${at}`, success: false })] : []),
      { sent: { ...call, timestamp: ms + 30, error: 'Path does not exist' } },
    ];
  };
  const steps = [
    { sent: { sessionId: SESSION, timestamp: START_MS, cwd: '/', prompt: 'go' } },
    ...[1, 2, 3, 4].flatMap(turn),
  ];
  const played = await playHost(steps);
  const results = played.records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload.result] : []));
  expect(results).toEqual(Array.from({ length: 4 }, () => 'Path does not exist'));
  expect(countOf(played, 'turn_started')).toBe(4);
  expect(adviceOf(played)[0]?.[0]).toBe(3);
});

test('a subagent of Copilot CLI, which has a session of its own, is a subagent of the session that started it', () => {
  const place = { sessionId: 'a1', timestamp: START_MS, cwd: '/' };
  const agent = { agentId: 'a1', agentType: 'explore', parentAgentId: SESSION };
  const read = (more: Json) => known({ ...place, ...agent, ...more }).known;
  const about = { agentId: 'a1', agentType: 'explore' };
  expect(read({ toolName: 'view', toolArgs: {} })).toMatchObject({ sessionId: SESSION, input: about });
  expect(read({ stopReason: 'end_turn' })).toMatchObject({
    sessionId: SESSION,
    input: { ...about, kind: 'stopped', isSubagent: true },
  });
});

test('an event of a subagent of Codex has the file of the subagent, and never that of another session', () => {
  const folder = testFolder();
  const base = { session_id: SESSION, turn_id: 't', cwd: '/', hook_event_name: 'SubagentStop', agent_id: 'agent-1' };
  const answersIn = (id: string): readonly string[] | undefined => {
    const path = join(folder, `rollout-2026-${id}.jsonl`);
    const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] };
    const lines = [
      { timestamp: '2026-11-28T21:00:00Z', type: 'session_meta', payload: { id } },
      { timestamp: '2026-11-28T21:00:01Z', type: 'response_item', payload: message },
    ];
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { input } = known({ ...base, transcript_path: path }).known;
    return input.session?.(() => false, true).answers.map(({ text }) => text);
  };
  expect(answersIn('agent-1')).toEqual(['Done.']);
  expect(answersIn('other')).toBeUndefined();
});

test('Gemini CLI ignores the answer to a failed tool, so the advice is a message of the next request', async () => {
  const steps = Array.from({ length: 5 }, (_, turn): readonly Json[] => {
    const call = { session_id: SESSION, cwd: '/', tool_name: 'read_file', tool_input: { file_path: 'missing.txt' } };
    const timestamp = new Date(START_MS + turn * 1_000).toISOString();
    const llm_request = { model: 'm', messages: [{ role: 'user', content: 'list' }] };
    const tool_response = {
      llmContent: 'Could not read file',
      error: { type: 'file_not_found', message: 'File not found' },
    };
    return [
      { ...call, hook_event_name: 'BeforeTool', timestamp },
      { ...call, hook_event_name: 'AfterTool', timestamp, tool_response },
      { session_id: SESSION, cwd: '/', hook_event_name: 'BeforeModel', timestamp, llm_request },
    ];
  }).flat();
  const { answers } = await playHost(steps.map((sent) => ({ sent })));
  expect(answers.length).toBeGreaterThan(0);
  for (const { name, json, text } of answers) {
    expect(name).toBe('BeforeModel');
    expect(json).toEqual({
      hookSpecificOutput: {
        hookEventName: 'BeforeModel',
        llm_request: {
          model: 'm',
          messages: [
            { role: 'user', content: 'list' },
            { role: 'user', content: text },
          ],
        },
      },
    });
  }
});

test('the prompt that Gemini CLI makes from a forced turn is not a prompt of the user', async () => {
  const at = (name: string, second: number, more: Json): HostStep => ({
    sent: {
      session_id: SESSION,
      cwd: '/',
      hook_event_name: name,
      timestamp: new Date(START_MS + second * 1_000).toISOString(),
      ...more,
    },
  });
  const { answers, records } = await playHost(
    [
      at('BeforeAgent', 0, { prompt: 'Write the report.' }),
      at('AfterAgent', 5, { prompt_response: 'It is written.', stop_hook_active: false }),
      at('BeforeAgent', 6, { prompt: 'whatever the answer said' }),
      at('BeforeAgent', 7, { prompt: 'Now the docs.' }),
    ],
    { mustExist: ['/nowhere/report.md'] },
  );
  expect(answers.map(({ json }) => json)).toEqual([
    { decision: 'deny', reason: expect.stringContaining('report.md does not exist') },
  ]);
  const roles = records.flatMap(({ payload }) =>
    payload.kind === 'message_appended' && payload.message.role !== 'assistant' ? [payload.message.role] : [],
  );
  expect(roles).toEqual(['user', 'system', 'user']);
});

test.each([
  ['codex', { hook_event_name: 'SessionEnd', transcript_path: '/c/sessions/rollout-2026-x.jsonl', reason: 'other' }],
  [
    'gemini',
    { hook_event_name: 'SessionEnd', timestamp: '2026-11-22T08:41:13.720Z', transcript_path: '/g', reason: 'exit' },
  ],
  ['copilot', { hook_event_name: 'SessionEnd', timestamp: '2026-11-22T09:04:31.072Z', reason: 'complete' }],
  [
    'claude-code',
    { hook_event_name: 'SessionEnd', transcript_path: '/t.jsonl', permission_mode: 'default', reason: 'exit' },
  ],
  ['opencode', { hook_event_name: 'SessionEnd', host: 'opencode', reason: 'idle' }],
  [
    'qwen-code',
    {
      hook_event_name: 'SessionEnd',
      timestamp: '2026-11-29T11:12:20.979Z',
      transcript_path: `/q/chats/${SESSION}.jsonl`,
      permission_mode: 'yolo',
      reason: 'prompt_input_exit',
    },
  ],
])('the payload says that %s sent it', (host, json) => {
  expect(readHookEvent(Buffer.from(JSON.stringify({ session_id: SESSION, ...json })))?.host).toBe(host);
});

test('a request of Qwen Code without a prompt ends a batch, and only a compaction that succeeded is one', () => {
  const place = { session_id: SESSION, transcript_path: `/q/chats/${SESSION}.jsonl`, permission_mode: 'yolo' };
  const kindOf = (json: Json): string =>
    known({ ...place, timestamp: '2026-11-29T11:12:20.979Z', ...json }).known.input.kind;
  expect(kindOf({ hook_event_name: 'UserPromptSubmit', prompt: '' })).toBe('batch_ended');
  expect(kindOf({ hook_event_name: 'UserPromptSubmit', prompt: 'Go.' })).toBe('prompted');
  expect(kindOf({ hook_event_name: 'PostCompact', trigger: 'auto' })).toBe('compacted');
});

test('a transcript that is a folder, a dangling link or not JSON adds nothing and loses no event', async () => {
  const folder = testFolder();
  mkdirSync(join(folder, 'rollout-a'));
  writeFileSync(join(folder, 'rollout-b'), 'no JSON\n{"type":7}\n[]\n');
  for (const name of ['rollout-a', 'rollout-b', 'rollout-c']) {
    const call = { tool_name: 'Bash', tool_input: {}, tool_use_id: name, tool_response: 'x' };
    const json = { session_id: SESSION, hook_event_name: 'PostToolUse', transcript_path: join(folder, name), ...call };
    expect(known(json).known.input).toMatchObject({ kind: 'call_ended', call: { id: name, isError: false } });
  }
});
