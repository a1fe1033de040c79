import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { isJsonObject } from '../src/base/json.ts';
import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { EventIntake } from '../src/hosts/claude-code/event-intake.ts';
import { isKnownEvent, readHookEvent, type KnownHookEvent } from '../src/hosts/claude-code/hook-event.ts';
import { RunCounter } from '../src/store/run-summary.ts';
import type { TrajectoryRecord } from '../src/records/trajectory-record.ts';
import { memoryStore } from '../src/store/memory/memory-store.ts';
import { standardSteering } from '../src/steering/standard-steering.ts';
import { testFolder } from './support/test-folder.ts';

const SESSION = '01a20731-32fa-7283-8738-4fb01b1c0efd';
const START_MS = Date.UTC(2026, 10, 23, 7);

type Json = Readonly<Record<string, unknown>>;

/** A host-neutral script. A turn is a list of calls that the model requests together. */
interface Call {
  readonly command: string;
  readonly output: string;
  readonly exitCode: number;
}

/** A hook payload, as the host sends it, or something that happens to the host's transcript. */
type Step = { readonly sent: Json } | { readonly before: () => void };

const LOOP: readonly (readonly Call[])[] = Array.from({ length: 5 }, () => [
  { command: 'cat /nope', output: 'cat: /nope: No such file or directory', exitCode: 1 },
]);

/** Each host's own way of sending the same script. */
const HOSTS: Readonly<Record<string, (turns: readonly (readonly Call[])[], folder: string) => Iterable<Step>>> = {
  *'claude-code'(turns) {
    const base = { session_id: SESSION, transcript_path: '/none', cwd: '/', permission_mode: 'default' };
    yield { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } };
    for (const [at, calls] of turns.entries()) {
      const named = calls.map(({ command, output, exitCode }, index) => ({
        call: { tool_name: 'Bash', tool_input: { command }, tool_use_id: `call_${at}_${index}` },
        error: `Exit code ${exitCode}\n${output}`,
      }));
      for (const { call } of named) yield { sent: { ...base, hook_event_name: 'PreToolUse', ...call } };
      for (const { call, error } of named)
        yield { sent: { ...base, hook_event_name: 'PostToolUseFailure', ...call, error } };
      const tool_calls = named.map(({ call, error }) => Object.assign({ tool_response: error }, call));
      yield { sent: { ...base, hook_event_name: 'PostToolBatch', tool_calls } };
    }
  },
  *codex(turns, folder) {
    const rollout = join(folder, 'rollout-2026.jsonl');
    const lines: Json[] = [];
    const write = (type: string, payload: Json): void => {
      lines.push({ timestamp: new Date(START_MS).toISOString(), type, payload });
      writeFileSync(rollout, lines.map((line) => JSON.stringify(line)).join('\n'));
    };
    const base = { session_id: SESSION, turn_id: 't', transcript_path: rollout, cwd: '/', permission_mode: 'default' };
    write('response_item', { type: 'message', role: 'user', content: [] });
    yield { sent: { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'list the files' } };
    for (const [at, calls] of turns.entries()) {
      const ids = calls.map((_, index) => `call_${at}_${index}`);
      for (const [index, { command }] of calls.entries()) {
        const call = { call_id: ids[index], name: 'exec_command', arguments: JSON.stringify({ cmd: command }) };
        write('response_item', { type: 'function_call', ...call });
      }
      write('token_usage_record', {});
      // One after the other, as Codex runs tools that do not run at once.
      for (const [index, { command, output, exitCode }] of calls.entries()) {
        const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: ids[index] };
        yield { sent: { ...base, hook_event_name: 'PreToolUse', ...call } };
        const item = { type: 'CommandExecution', id: ids[index], exit_code: exitCode, status: 'failed' };
        write('event_msg', { type: 'item_completed', item });
        yield { sent: { ...base, hook_event_name: 'PostToolUse', ...call, tool_response: output } };
      }
      for (const [index, { output, exitCode }] of calls.entries()) {
        const printed = `Wall time: 0 seconds\nProcess exited with code ${exitCode}\nOutput:\n${output}`;
        write('response_item', { type: 'function_call_output', call_id: ids[index], output: printed });
      }
    }
  },
  *copilot(turns) {
    let second = 0;
    const base = (): Json => ({ sessionId: SESSION, timestamp: START_MS + (second += 1) * 1_000, cwd: '/' });
    yield { sent: { ...base(), prompt: 'list the files' } };
    for (const calls of turns) {
      for (const { command } of calls) yield { sent: { ...base(), toolName: 'Bash', toolArgs: { command } } };
      for (const { command, output, exitCode } of calls) {
        const textResultForLlm = `${output}\n<shellId: 0 completed with exit code ${exitCode}>`;
        const toolResult = { resultType: 'success', textResultForLlm };
        yield { sent: { ...base(), toolName: 'Bash', toolArgs: { command }, toolResult } };
      }
    }
  },
  *gemini(turns) {
    let second = 0;
    const base = (name: string): Json => ({
      session_id: SESSION,
      transcript_path: '/none',
      cwd: '/',
      hook_event_name: name,
      timestamp: new Date(START_MS + (second += 1) * 1_000).toISOString(),
    });
    const request = { llm_request: { model: 'm', messages: [{ role: 'user', content: 'list' }] } };
    yield { sent: { ...base('BeforeAgent'), prompt: '<hook_context>x</hook_context>\n\nlist the files' } };
    yield { sent: { ...base('BeforeModel'), ...request } };
    for (const calls of turns) {
      for (const { command } of calls) {
        yield { sent: { ...base('BeforeTool'), tool_name: 'Bash', tool_input: { command } } };
      }
      for (const { command, output, exitCode } of calls) {
        const llmContent = `<untrusted_context>\nOutput: ${output}\nExit Code: ${exitCode}\nProcess Group PGID: ${4000 + second}\n</untrusted_context>`;
        const call = { tool_name: 'Bash', tool_input: { command } };
        yield { sent: { ...base('AfterTool'), ...call, tool_response: { llmContent, returnDisplay: output } } };
      }
      yield { sent: { ...base('BeforeModel'), ...request } };
    }
  },
};

interface Played {
  readonly records: readonly TrajectoryRecord[];
  readonly answers: readonly { readonly name: string; readonly json: Json; readonly text: string }[];
}

async function folderOf(): Promise<string> {
  const folder = testFolder();
  return folder;
}

function known(json: Json): KnownHookEvent {
  const event = readHookEvent(Buffer.from(JSON.stringify(json)));
  if (event === undefined || !isKnownEvent(event)) throw new Error(`${JSON.stringify(json)} cannot be read`);
  return event;
}

async function play(steps: Iterable<Step>, { late = false, mustExist = [] as string[] } = {}): Promise<Played> {
  const store = memoryStore();
  const redact = <Payload>(payload: Payload): Payload => payload;
  const sessions = new ClaudeSessions({
    store,
    config: {
      steering: standardSteering(),
      deadlineFrom: 'session',
      ...(mustExist.length > 0 ? { completion: { files: mustExist, timeoutMs: 1_000, maxAttempts: 3 } } : {}),
    },
    projectFolder: '/',
    redact,
    clock: { nowMs: () => START_MS },
    build: 'test',
  });
  const storeAddress = join(await folderOf(), 'runs.db');
  const intake = new EventIntake({ storeAddress, redact, clock: { nowMs: () => START_MS }, onFault: () => undefined });
  const answers: { name: string; json: Json; text: string }[] = [];
  let spilled = 0;
  for (const step of steps) {
    if ('before' in step) {
      step.before();
      continue;
    }
    const event = known(step.sent);
    if (late) {
      intake.spill(event, 'the store is locked', START_MS + (spilled += 1));
      continue;
    }
    const { input, sessionId, answerFor } = event.known;
    const { answer } = await sessions.answer(input, sessionId, { hasBackgroundWork: false });
    const json = answerFor(answer);
    if (Object.keys(json).length > 0 && isJsonObject(json)) {
      answers.push({ name: input.name, json, text: answer.hookSpecificOutput?.additionalContext ?? '' });
    }
  }
  const { folded } = await intake.foldWaiting(sessions, { limitMs: 60_000 });
  if (folded !== spilled) throw new Error(`${folded} of ${spilled} events were folded`);
  const records = await Array.fromAsync(store.readRun(SESSION));
  return { records, answers };
}

const scriptOf = async (host: string, turns = LOOP): Promise<Iterable<Step>> =>
  HOSTS[host]?.(turns, await folderOf()) ?? [];

/** After which call, counted from 1, a piece of advice was given, and its text. */
function adviceOf({ records }: Played): readonly (readonly [number, string])[] {
  const counter = new RunCounter();
  return records.flatMap((record): (readonly [number, string])[] => {
    counter.fold(record);
    const { payload } = record;
    return payload.kind === 'feedback_produced' ? [[counter.calls, payload.feedback.summary]] : [];
  });
}

const countOf = ({ records }: Played, kind: string): number =>
  records.filter(({ payload }) => payload.kind === kind).length;

test.each(['codex', 'copilot', 'gemini'])(
  'a failing call that repeats gets the same advice at the same call in %s as in Claude Code',
  async (host) => {
    const reference = await play(await scriptOf('claude-code'));
    const played = await play(await scriptOf(host));
    expect(adviceOf(reference).length).toBeGreaterThan(0);
    expect(adviceOf(played)).toEqual(adviceOf(reference));
    expect(played.answers.map(({ text }) => text)).toEqual(reference.answers.map(({ text }) => text));
    const errors = played.records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload.is_error] : []));
    expect(errors).toEqual([true, true, true, true, true]);
    expect(countOf(played, 'turn_started')).toBe(5);
    expect(played.records[0]?.payload).toMatchObject({ kind: 'run_started', host, task: 'list the files' });
  },
);

test.each(['codex', 'copilot', 'gemini'])(
  'calls of one answer are one turn in %s, also where they run one after the other',
  async (host) => {
    const pair = ['a', 'b'].map((name) => ({ command: `cat ${name}`, output: name, exitCode: 0 }));
    const played = await play(await scriptOf(host, [pair, pair]));
    expect([countOf(played, 'turn_started'), countOf(played, 'tool_started'), countOf(played, 'tool_ended')]).toEqual([
      2, 4, 4,
    ]);
  },
);

test.each(['claude-code', 'codex', 'copilot', 'gemini'])(
  'events of %s that waited in files make the same calls as events in time',
  async (host) => {
    const callsOf = ({ records }: Played): readonly unknown[] =>
      records.flatMap(({ payload }) =>
        payload.kind === 'tool_started' || payload.kind === 'tool_ended' || payload.kind === 'turn_started'
          ? [payload]
          : [],
      );
    const inTime = await play(await scriptOf(host));
    expect(callsOf(await play(await scriptOf(host), { late: true }))).toEqual(callsOf(inTime));
  },
);

test('calls without a hook in Codex are read from its rollout, and advice on them comes with the next event', async () => {
  const folder = await folderOf();
  const rollout = join(folder, 'rollout-2026.jsonl');
  const base = { session_id: SESSION, turn_id: 't', transcript_path: rollout, cwd: '/', permission_mode: 'default' };
  const lines: string[] = [];
  const write = (type: string, payload: Json): Step => ({
    before: () => {
      lines.push(JSON.stringify({ type, payload }));
      writeFileSync(rollout, lines.join('\n'));
    },
  });
  const unknown = (id: string): readonly Step[] => [
    write('response_item', { type: 'function_call', call_id: id, name: 'nope_tool', arguments: '{}' }),
    write('token_usage_record', {}),
    write('response_item', { type: 'function_call_output', call_id: id, output: 'unsupported call: nope_tool' }),
  ];
  const patch = { tool_name: 'apply_patch', tool_input: { command: '*** Begin Patch' }, tool_use_id: 'p' };
  const played = await play([
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
  const { answers } = await play(steps.map((sent) => ({ sent })));
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
  const at = (name: string, second: number, more: Json): Step => ({
    sent: {
      session_id: SESSION,
      cwd: '/',
      hook_event_name: name,
      timestamp: new Date(START_MS + second * 1_000).toISOString(),
      ...more,
    },
  });
  const { answers, records } = await play(
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
])('the payload says that %s sent it', (host, json) => {
  expect(readHookEvent(Buffer.from(JSON.stringify({ session_id: SESSION, ...json })))?.host).toBe(host);
});

test('a transcript that is a folder, a dangling link or not JSON adds nothing and loses no event', async () => {
  const folder = await folderOf();
  mkdirSync(join(folder, 'rollout-a'));
  writeFileSync(join(folder, 'rollout-b'), 'no JSON\n{"type":7}\n[]\n');
  for (const name of ['rollout-a', 'rollout-b', 'rollout-c']) {
    const call = { tool_name: 'Bash', tool_input: {}, tool_use_id: name, tool_response: 'x' };
    const json = { session_id: SESSION, hook_event_name: 'PostToolUse', transcript_path: join(folder, name), ...call };
    expect(known(json).known.input).toMatchObject({ kind: 'call_ended', call: { id: name, isError: false } });
  }
});
