import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { EventIntake } from '../src/hosts/claude-code/event-intake.ts';
import { isKnownEvent, readHookEvent, type KnownHookEvent } from '../src/hosts/claude-code/hook-event.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { viewOf } from '../src/core/facts/run-view.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { testFolder } from './support/test-folder.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

const SESSION = '01a20731-32fa-7283-8738-4fb01b1c0efd';
const START_MS = Date.UTC(2026, 10, 23, 7);

type Json = Readonly<Record<string, unknown>>;

/** How a host reports a session of one call: where its transcript is, an answer in it, and the events after an answer. */
interface Host {
  readonly transcript: string;
  readonly model: string;
  answer(at: number, input: number): readonly Json[];
  prompt(base: Json): Json;
  call(base: Json): readonly Json[];
  stop(base: Json): Json;
}

const SAID = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] };
const CALLED = { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'c1' };

const iso = (second: number): string => new Date(START_MS + second * 1_000).toISOString();

/** The lines have the members of the real files that the reader uses. */
const HOSTS: Readonly<Record<string, Host>> = {
  codex: {
    transcript: `rollout-2026-${SESSION}.jsonl`,
    model: 'gpt-5.5',
    answer: (at, input) => [
      { timestamp: iso(at), type: 'response_item', payload: at === 5 ? SAID : CALLED },
      {
        timestamp: iso(at),
        type: 'token_usage_record',
        payload: {
          response_id: `resp_${at}`,
          usage: { input_tokens: input, cached_input_tokens: 200, output_tokens: 34, total_tokens: input + 34 },
        },
      },
      {
        timestamp: iso(at + 0.5),
        type: 'event_msg',
        payload: { type: 'token_count', info: { last_token_usage: { input_tokens: input, output_tokens: 34 } } },
      },
    ],
    prompt: (base) => ({ ...base, turn_id: 't', model: 'gpt-5.5', hook_event_name: 'UserPromptSubmit', prompt: 'go' }),
    call: (base) => {
      const call = {
        ...base,
        turn_id: 't',
        model: 'gpt-5.5',
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
        tool_use_id: 'c1',
      };
      return [
        { ...call, hook_event_name: 'PreToolUse' },
        { ...call, hook_event_name: 'PostToolUse', tool_response: 'a.txt' },
      ];
    },
    stop: (base) => ({
      ...base,
      turn_id: 't',
      model: 'gpt-5.5',
      hook_event_name: 'Stop',
      last_assistant_message: 'Done.',
    }),
  },
  copilot: {
    transcript: join(SESSION, 'events.jsonl'),
    model: 'gpt-5.4',
    answer: (at, input) => [
      {
        timestamp: iso(at),
        type: 'session.usage_record',
        data: {
          usage: { model: 'gpt-5.4', inputTokens: input, outputTokens: 34, cacheReadTokens: 200, apiCallId: `c${at}` },
        },
      },
      {
        timestamp: iso(at),
        type: 'assistant.message',
        data: {
          model: 'gpt-5.4',
          apiCallId: `c${at}`,
          content: at === 5 ? 'Done.' : '',
          toolRequests: at === 5 ? [] : [{ toolCallId: 'tooluse_1', name: 'Bash', arguments: { command: 'ls' } }],
        },
      },
      ...(at === 5 ? [{ timestamp: iso(9), type: 'hook.start', data: {} }] : []),
    ],
    prompt: ({ session_id: sessionId }) => ({ sessionId, timestamp: START_MS, cwd: '/', prompt: 'go' }),
    call: ({ session_id: sessionId }) => {
      const call = { sessionId, cwd: '/', toolName: 'Bash', toolArgs: { command: 'ls' } };
      const toolResult = { resultType: 'success', textResultForLlm: 'a.txt' };
      return [
        { ...call, timestamp: START_MS + 2_000 },
        { ...call, timestamp: START_MS + 3_000, toolResult },
      ];
    },
    stop: ({ session_id: sessionId, transcript_path: transcriptPath }) => ({
      sessionId,
      transcriptPath,
      timestamp: START_MS + 9_000,
      cwd: '/',
      stopReason: 'end_turn',
    }),
  },
  'claude-code': {
    transcript: `${SESSION}.jsonl`,
    model: 'claude-sonnet-4-5',
    answer: (at, input) => {
      const isLast = at === 5;
      const content = isLast
        ? { type: 'text', text: 'Done.' }
        : { type: 'tool_use', id: 'c1', name: 'Bash', input: {} };
      const usage = { input_tokens: input, output_tokens: 34 };
      const stop_reason = isLast ? 'end_turn' : 'tool_use';
      const message = { id: `m${at}`, model: 'claude-sonnet-4-5', content: [content], stop_reason, usage };
      const answer = { type: 'assistant', sessionId: SESSION, uuid: `u${at}`, timestamp: iso(at), message };
      const result = { content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a.txt' }] };
      const entry = { type: 'user', sessionId: SESSION, uuid: `r${at}`, timestamp: iso(at + 0.5), message: result };
      return isLast ? [answer] : [answer, entry];
    },
    prompt: (base) => ({ ...base, hook_event_name: 'UserPromptSubmit', prompt: 'go' }),
    call: (base) => {
      const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c1', tool_response: 'a.txt' };
      return [{ ...base, hook_event_name: 'PostToolBatch', tool_calls: [call] }];
    },
    stop: (base) => ({ ...base, hook_event_name: 'Stop', last_assistant_message: 'Done.' }),
  },
  gemini: {
    transcript: join('chats', `session-2026-${SESSION.slice(0, 8)}.jsonl`),
    model: 'gemini-2.5-pro',
    answer: (at, input) => {
      const tokens = { input, output: 30, cached: 200, thoughts: 4, tool: 0, total: input + 34 };
      const content = at === 5 ? 'Done.' : '';
      const entry = { id: `e${at}`, timestamp: iso(at), type: 'gemini', content, tokens, model: 'gemini-2.5-pro' };
      const call = { id: 'ls_1', name: 'Bash', args: { command: 'ls' }, status: 'executing' };
      return [entry, { $set: { lastUpdated: iso(at) } }, { ...entry, toolCalls: at === 5 ? [] : [call] }];
    },
    prompt: (base) => ({ ...base, timestamp: iso(0), hook_event_name: 'BeforeAgent', prompt: 'go' }),
    call: (base) => {
      const call = { ...base, tool_name: 'Bash', tool_input: { command: 'ls' } };
      const llm_request = { model: 'm', messages: [] };
      return [
        { ...call, timestamp: iso(2), hook_event_name: 'BeforeTool' },
        { ...call, timestamp: iso(3), hook_event_name: 'AfterTool', tool_response: { llmContent: 'a.txt' } },
        { ...base, timestamp: iso(4), hook_event_name: 'BeforeModel', llm_request },
      ];
    },
    stop: (base) => ({ ...base, timestamp: iso(9), hook_event_name: 'AfterAgent', prompt_response: 'Done.' }),
  },
};

function known(json: Json): KnownHookEvent {
  const event = readHookEvent(Buffer.from(JSON.stringify(json)));
  if (event === undefined || !isKnownEvent(event)) throw new Error(`${JSON.stringify(json)} cannot be read`);
  return event;
}

async function sessionOf(host: Host, { late = false } = {}): Promise<readonly TrajectoryRecord[]> {
  const folder = testFolder();
  const transcript = join(folder, host.transcript);
  mkdirSync(dirname(transcript), { recursive: true });
  const base = { session_id: SESSION, transcript_path: transcript, cwd: '/' };
  const lines: Json[] = [];
  const answered = (at: number, input: number): void => {
    lines.push(...host.answer(at, input));
    writeFileSync(transcript, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  };
  const store = memoryStore();
  let nowMs = START_MS;
  const clock = { nowMs: () => nowMs };
  const config = { steering: {}, deadlineFrom: 'session' } as const;
  const sessions = new ClaudeSessions({
    store,
    config,
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock,
    build: 'test',
  });
  const storeAddress = join(folder, 'runs.db');
  const intake = new EventIntake({ storeAddress, redactor: NO_REDACTION, clock, onFault: () => undefined });
  const send = async (json: Json, second: number): Promise<void> => {
    nowMs = START_MS + second * 1_000;
    const event = known(json);
    if (late) intake.spill(event, 'the store is locked', nowMs);
    else await sessions.answer(event.known.input, SESSION, { hasBackgroundWork: false });
  };
  await send(host.prompt(base), 0);
  answered(1, 1_200);
  for (const json of host.call(base)) await send(json, 3);
  answered(5, 1_500);
  await send(host.stop(base), 9);
  // The same event again, as when a hook is configured twice.
  await send(host.stop(base), 9);
  if (late) await intake.foldWaiting(sessions, { limitMs: 60_000 });
  return Array.fromAsync(store.readRun(SESSION));
}

test.each(Object.entries(HOSTS))(
  'tokens of each answer in the transcript of %s are recorded once, and reports compute the cost',
  async (_, host) => {
    const records = await sessionOf(host);
    const answers = records.flatMap(({ payload }) =>
      payload.kind === 'message_appended' && payload.message.role === 'assistant' ? [payload.message] : [],
    );
    expect(
      answers.flatMap(({ model_id, usage }) => (usage === undefined ? [] : [[model_id, usage.input_tokens]])),
    ).toEqual([
      [host.model, 1_200],
      [host.model, 1_500],
    ]);
    expect(answers.find(({ usage }) => usage?.input_tokens === 1_500)?.content).toBe('Done.');
    const { usage } = viewOf(records);
    expect(usage.tokens).toBe(1_200 + 1_500 + 2 * 34);
    expect(usage.costUsd).toBeGreaterThan(0);
    expect(records.filter(({ payload }) => payload.kind === 'turn_started')).toHaveLength(2);
  },
);

test.each(Object.entries(HOSTS))('events of %s that waited in files record the same tokens', async (_, host) => {
  const late = viewOf(await sessionOf(host, { late: true }));
  expect(late.usage).toEqual(viewOf(await sessionOf(host)).usage);
});

test('tokens of answers that Copilot CLI wrote late are recorded, also of one whose call still runs at the next prompt', async () => {
  const transcriptPath = join(testFolder(), SESSION, 'events.jsonl');
  mkdirSync(dirname(transcriptPath));
  let nowMs = START_MS;
  const store = memoryStore();
  const sessions = new ClaudeSessions({
    store,
    config: { steering: {}, deadlineFrom: 'session' },
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock: { nowMs: () => nowMs },
    build: 'test',
  });
  const send = async (second: number, json: Json): Promise<void> => {
    nowMs = START_MS + second * 1_000;
    const { known: event } = known({ sessionId: SESSION, timestamp: nowMs, cwd: '/', transcriptPath, ...json });
    await sessions.answer(event.input, SESSION, { hasBackgroundWork: false });
  };
  const call = (command: string): Json => ({ toolName: 'bash', toolArgs: { command } });
  await send(0, { prompt: 'go' });
  await send(2, call('ls'));
  await send(3, { ...call('ls'), toolResult: { resultType: 'success', textResultForLlm: 'a.txt' } });
  await send(5, call('sleep 60'));
  const line = (type: string, at: number, data: Json): string => JSON.stringify({ type, timestamp: iso(at), data });
  const answer = (at: number, toolCallId: string, command: string): readonly string[] => [
    line('session.usage_record', at, { usage: { apiCallId: `a${at}`, inputTokens: 1_000 * at, outputTokens: 1 } }),
    line('assistant.message', at, {
      apiCallId: `a${at}`,
      content: '',
      toolRequests: [{ toolCallId, name: 'bash', arguments: { command } }],
    }),
  ];
  const lines = [...answer(1, 'c1', 'ls'), ...answer(4, 'c2', 'sleep 60')];
  writeFileSync(transcriptPath, `${lines.join('\n')}\n`);
  await send(60, { prompt: 'go on' });
  await send(61, { prompt: 'go on' });
  expect(viewOf(await Array.fromAsync(store.readRun(SESSION))).usage.tokens).toBe(1_001 + 4_001);
});

test('what Claude Code writes while the hook of a batch runs counts in that event: tokens, a failure, and a call whose hook was killed', async () => {
  const transcript = join(testFolder(), `${SESSION}.jsonl`);
  const store = memoryStore();
  let nowMs = START_MS;
  const clock = { nowMs: () => nowMs };
  const config = { steering: {}, deadlineFrom: 'session' } as const;
  const more = { projectFolder: '/', redactor: NO_REDACTION, clock, build: 'test' };
  const sessions = new ClaudeSessions({ store, config, ...more });
  const lines = (id: string, at: number): string => {
    const entry = (type: string, message: Json): string =>
      JSON.stringify({ type, sessionId: SESSION, uuid: `${type}${at}`, timestamp: iso(at), message });
    const failed = { type: 'tool_result', tool_use_id: id, content: 'File does not exist.', is_error: true };
    const call = { type: 'tool_use', id, name: 'Read', input: {} };
    const usage = { input_tokens: 100, output_tokens: 1 };
    const answer = { id: `m${at}`, model: 'm', content: [call], stop_reason: 'tool_use', usage };
    return `${entry('assistant', answer)}\n${entry('user', { content: [failed] })}\n`;
  };
  const send = async (second: number, json: Json, written = ''): Promise<void> => {
    nowMs = START_MS + second * 1_000;
    const options = { storeAddress: `${transcript}.db`, redactor: NO_REDACTION, clock, onFault: () => undefined };
    const intake = new EventIntake({ ...options, sleep: () => appendFileSync(transcript, written) });
    const event = known({ session_id: SESSION, transcript_path: transcript, cwd: '/', ...json });
    await intake.take(event, async () => Promise.resolve(sessions));
  };
  writeFileSync(transcript, '');
  await send(0, { hook_event_name: 'UserPromptSubmit', prompt: 'go' });
  const call = { tool_name: 'Read', tool_input: {}, tool_use_id: 'c2', tool_response: 'File does not exist.' };
  // The hook of `c1` was killed.
  await send(5, { hook_event_name: 'PostToolBatch', tool_calls: [call] }, lines('c1', 1) + lines('c2', 3));
  const records = await Array.fromAsync(store.readRun(SESSION));
  const ends = records.flatMap(({ payload }) =>
    payload.kind === 'tool_ended' ? [[payload.tool_call_id, payload.is_error]] : [],
  );
  expect(ends).toEqual([
    ['c1', true],
    ['c2', true],
  ]);
  expect(viewOf(records).usage.tokens).toBe(202);
});

test('the hook of a batch waits for the line of an answer, and for a result only if the event does not say whether the call failed', async () => {
  const waits = (tool_name: string, tool_response: string): boolean => {
    const transcript = join(testFolder(), `${SESSION}.jsonl`);
    const use = { type: 'tool_use', id: 'c1', name: tool_name, input: {} };
    const call = { tool_name, tool_input: {}, tool_use_id: 'c1', tool_response };
    const json = { hook_event_name: 'PostToolBatch', session_id: SESSION, transcript_path: transcript, cwd: '/' };
    let waited = '';
    const wait = (): void => {
      waited = '';
      known({ ...json, tool_calls: [call] }).known.waitForFile(() => (waited = 'waited'));
    };
    writeFileSync(transcript, '{}\n');
    wait();
    expect(waited).toBe('waited');
    appendFileSync(transcript, `${JSON.stringify({ type: 'assistant', message: { content: [use] } })}\n`);
    wait();
    return waited !== '';
  };
  expect(waits('Bash', 'a.txt')).toBe(false);
  expect(waits('Bash', 'Exit code 2\nno')).toBe(false);
  expect(waits('Edit', '<tool_use_error>String to replace not found')).toBe(false);
  expect(waits('Bash', "Error: Can't find a root directory")).toBe(true);
  expect(waits('Bash', 'PreToolUse:Bash hook error: Use rg.')).toBe(true);
  expect(waits('Read', 'File does not exist.')).toBe(true);
});
