import { join } from 'node:path';

import { expect, test } from 'vitest';

import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { EventIntake } from '../src/hosts/claude-code/event-intake.ts';
import { isKnownEvent, readHookEvent, type KnownHookEvent } from '../src/hosts/claude-code/hook-event.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { testFolder } from './support/test-folder.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

const SESSION = 'cc8311c1-6ce7-4148-9b39-61858f01f403';
const START_MS = Date.UTC(2026, 10, 22, 9, 4, 30);

/** An event as Copilot CLI 1.0.102 sends it to the hooks of `.claude/settings.json`: without call ids, with a time. */
function event(name: string, second: number, more: object = {}): KnownHookEvent {
  const timestamp = new Date(START_MS + second * 1_000).toISOString();
  const json = { hook_event_name: name, session_id: SESSION, timestamp, cwd: '/home/dev/project', ...more };
  const read = readHookEvent(Buffer.from(JSON.stringify(json)));
  if (read === undefined || !isKnownEvent(read)) throw new Error(`${name} cannot be read`);
  return read;
}

const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command, description: 'x' } });
const printed = (text: string) => ({ tool_result: { result_type: 'success', text_result_for_llm: text } });
const FAILED = printed('cat: /nope: No such file or directory\n<shellId: 0 completed with exit code 1>');

const prompt = event('UserPromptSubmit', 0, { prompt: 'list the files' });

function sessionsOf(store: TrajectoryStore): ClaudeSessions {
  return new ClaudeSessions({
    store,
    config: { steering: standardSteering(), deadlineFrom: 'session' },
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock: { nowMs: () => START_MS },
    build: 'test',
  });
}

async function answersTo(events: readonly KnownHookEvent[]): Promise<{
  readonly answers: readonly Readonly<Record<string, unknown>>[];
  readonly payloads: readonly TrajectoryPayload[];
}> {
  const store = memoryStore();
  const answers: Readonly<Record<string, unknown>>[] = [];
  for (const { known } of events) {
    const { answer } = await sessionsOf(store).answer(known.input, known.sessionId, { hasBackgroundWork: false });
    answers.push({ ...known.answerFor(answer) });
  }
  return { answers, payloads: await payloadsIn(store) };
}

async function payloadsIn(store: TrajectoryStore): Promise<readonly TrajectoryPayload[]> {
  const payloads: TrajectoryPayload[] = [];
  for await (const { payload } of store.readRun(SESSION)) payloads.push(payload);
  return payloads;
}

const endsIn = (payloads: readonly TrajectoryPayload[]) =>
  payloads.flatMap((payload) => (payload.kind === 'tool_ended' ? [payload] : []));

test('each failing call of Copilot CLI is recorded with its turn, and advice is in the place that it reads', async () => {
  const calls = [1, 2, 3, 4].flatMap((second) => [
    event('PreToolUse', second, bash('cat /nope')),
    event('PostToolUse', second, { ...bash('cat /nope'), ...FAILED }),
  ]);
  const { answers, payloads } = await answersTo([prompt, ...calls, event('SessionEnd', 9, { reason: 'complete' })]);
  expect(endsIn(payloads).map((end) => end.is_error)).toEqual([true, true, true, true]);
  expect(new Set(endsIn(payloads).map((end) => end.tool_call_id)).size).toBe(4);
  expect(payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(4);
  const messages = answers.filter((answer) => answer['additionalContext'] !== undefined);
  expect(messages.length).toBeGreaterThan(0);
  for (const answer of messages) {
    expect(answer).toMatchObject({ hookSpecificOutput: { additionalContext: answer['additionalContext'] } });
  }
});

test('concurrent calls are one turn, and each result finds its call by tool and arguments', async () => {
  const { payloads } = await answersTo([
    prompt,
    event('PreToolUse', 1, bash('cat a')),
    event('PreToolUse', 1, bash('cat b')),
    event('PreToolUse', 1, { tool_name: 'Read', tool_input: { path: 'missing' } }),
    event('PostToolUse', 2, { ...bash('cat b'), ...printed('b') }),
    event('PostToolUseFailure', 2, {
      tool_name: 'Read',
      tool_input: { path: 'missing' },
      error: 'Path does not exist',
    }),
    event('PostToolUse', 3, { ...bash('cat a'), ...printed('a') }),
    // The same hook in the user's settings too.
    event('PostToolUse', 3, { ...bash('cat a'), ...printed('a') }),
  ]);
  expect(payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(1);
  const started = payloads.flatMap((payload) => (payload.kind === 'tool_started' ? [payload.tool_call_id] : []));
  const [a, b, read] = started;
  expect(started).toHaveLength(3);
  expect(endsIn(payloads).map((end) => [end.tool_call_id, end.result, end.is_error])).toEqual([
    [b, 'b', false],
    [read, 'Path does not exist', true],
    [a, 'a', false],
  ]);
});

test('a spilled event of Copilot CLI gives the same records as one in time', async () => {
  const folder = testFolder();
  const events = [
    event('PreToolUse', 1, bash('cat /nope')),
    event('PostToolUse', 2, { ...bash('cat /nope'), ...FAILED }),
    event('PreToolUse', 3, { tool_name: 'Read', tool_input: { path: 'missing' } }),
    event('PostToolUseFailure', 4, {
      tool_name: 'Read',
      tool_input: { path: 'missing' },
      error: 'Path does not exist',
    }),
  ];
  const store = memoryStore();
  const sessions = sessionsOf(store);
  await sessions.answer(prompt.known.input, SESSION, { hasBackgroundWork: false });
  const intake = new EventIntake({
    storeAddress: join(folder, 'runs.db'),
    redactor: NO_REDACTION,
    clock: { nowMs: () => START_MS },
    onFault: () => undefined,
  });
  for (const [at, one] of events.entries()) intake.spill(one, 'the store is locked', START_MS + at);
  expect(await intake.foldWaiting(sessions, { limitMs: 60_000 })).toEqual({ folded: events.length });
  const { payloads } = await answersTo([prompt, ...events]);
  expect(endsIn(await payloadsIn(store))).toEqual(endsIn(payloads));
  expect(endsIn(payloads)).toHaveLength(2);
});

test('at a stop of Copilot CLI, advice is the reason to go on', () => {
  const { known } = event('Stop', 9, { stop_reason: 'end_turn', stop_hook_active: false });
  const answer = { hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'Run the tests.' } };
  expect(known.answerFor(answer)).toEqual({ decision: 'block', reason: 'Run the tests.' });
});

test('an event of Claude Code is answered unchanged', () => {
  const json = { hook_event_name: 'Stop', session_id: SESSION, transcript_path: '/t', permission_mode: 'default' };
  const read = readHookEvent(Buffer.from(JSON.stringify(json)));
  const answer = { hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'Run the tests.' } };
  expect(read?.known?.answerFor(answer)).toBe(answer);
});
