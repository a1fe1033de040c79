import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createRedactor } from '../../core/redact/redactor.ts';
import { readResult } from '../../core/steering/read-result.ts';
import { standardSteering } from '../../core/steering/standard-steering.ts';
import { sqliteOneShot } from '../../stores/sqlite/sqlite-one-shot.ts';
import { ClaudeSessions } from './claude-sessions.ts';
import { EventIntake } from './event-intake.ts';
import { isKnownEvent, readHookEvent } from './hook-event.ts';

const SESSION_ID = 'warm-up';
const START_MS = 1_700_000_000_000;

/** Plays a stuck session in a temporary folder to compile what hook calls need. Cost: 250 ms per version of coxswain and Node. */
export async function warmUp(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-warm-up-'));
  try {
    await playSession(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function playSession(folder: string): Promise<void> {
  const storeAddress = join(folder, 'runs.db');
  const transcript = join(folder, `${SESSION_ID}.jsonl`);
  const store = sqliteOneShot(storeAddress, { timeoutMs: 0 });
  let nowMs = START_MS;
  const clock = { nowMs: () => (nowMs += 2_000) };
  const redactor = createRedactor({}, { readResult });
  const sessions = new ClaudeSessions({
    store,
    config: { steering: standardSteering(), deadline: { minutes: 4 }, deadlineFrom: 'session' },
    projectFolder: '/',
    redactor,
    clock,
    build: 'warm-up',
    measureMs: () => 0,
  });
  const intake = new EventIntake({ storeAddress, redactor, clock, onFault: () => undefined });
  const place = { session_id: SESSION_ID, transcript_path: transcript, cwd: folder };
  try {
    for (const { entries = [], ...json } of sampleEvents()) {
      const timestamp = new Date(nowMs).toISOString();
      for (const entry of entries) {
        appendFileSync(transcript, `${JSON.stringify({ sessionId: SESSION_ID, timestamp, ...entry })}\n`);
      }
      const event = readHookEvent(Buffer.from(JSON.stringify({ ...place, ...json })));
      if (event !== undefined && isKnownEvent(event)) await intake.take(event, async () => Promise.resolve(sessions));
    }
  } finally {
    await store.close();
  }
}

type RawEvent = Readonly<Record<string, unknown>> & {
  /** New lines of the session file. */
  readonly entries?: readonly object[];
};

function* sampleEvents(): Generator<RawEvent> {
  const path = 'src/parser.ts';
  const command = `cd /app && TOKEN=$X npm test -- --filter "parser" 2>&1 | tail -n 20; echo $? > out.log`;
  yield { hook_event_name: 'SessionStart', source: 'startup', model: 'a-model' };
  yield { hook_event_name: 'UserPromptSubmit', prompt: 'Make the tests of the parser pass; keep the schema.' };
  for (let round = 0; round < 6; round += 1) {
    const read: Call = [
      'Read',
      { file_path: path },
      { type: 'text', file: { filePath: path, content: 'export {}\n' } },
    ];
    const edit: Call = ['Edit', { file_path: path, old_string: `a${round}`, new_string: 'b' }, { filePath: path }];
    const tests: Call = ['Bash', { command, description: 'Run' }, `Exit code 1\nFAIL ${path}\nError: got ${round % 2}`];
    if (round < 2) for (const calls of [[read, edit], [tests]]) yield* batchOf(calls);
    yield* batchOf([['Bash', { command: 'git status --short' }, { stdout: ` M ${path}`, stderr: '' }]]);
    yield* batchOf([['Bash', { command: 'cat no.txt' }, 'Exit code 1\ncat: no.txt: No such file or directory']]);
  }
  yield { hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'All tests pass now.' };
}

/** Tool name, arguments and response. A response that is text is the message of a failure. */
type Call = readonly [string, object, unknown];

let lastId = 0;
const newId = (): string => `id-${(lastId += 1)}`;

/** An answer in the session file, then the events of its calls, for programs with hooks per call and per answer. */
function* batchOf(sampleCalls: readonly Call[]): Generator<RawEvent> {
  const calls = sampleCalls.map(([name, input, response]) => ({ id: newId(), name, input, response }));
  const eventOf = ({ id, input, name }: (typeof calls)[number]): object => ({
    tool_name: name,
    tool_input: input,
    tool_use_id: id,
  });
  const content = calls.map(({ id, input, name }) => ({ type: 'tool_use', id, name, input }));
  const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 1_000 };
  const message = { id: newId(), role: 'assistant', model: 'a-model', content, stop_reason: 'tool_use', usage };
  let entries: readonly object[] = [{ type: 'assistant', uuid: newId(), message }];
  for (const call of calls) {
    yield { hook_event_name: 'PreToolUse', ...eventOf(call), entries };
    entries = [];
  }
  for (const call of calls) {
    const { response } = call;
    if (typeof response === 'string')
      yield { hook_event_name: 'PostToolUseFailure', ...eventOf(call), error: response };
    else yield { hook_event_name: 'PostToolUse', ...eventOf(call), tool_response: response, duration_ms: 12 };
  }
  const results = calls.map(({ id, response }) => ({
    tool_use_id: id,
    type: 'tool_result',
    content: typeof response === 'string' ? response : JSON.stringify(response),
    is_error: typeof response === 'string',
  }));
  yield {
    hook_event_name: 'PostToolBatch',
    tool_calls: calls.map((call) => Object.assign({ tool_response: call.response }, eventOf(call))),
    entries: [{ type: 'user', uuid: newId(), message: { role: 'user', content: results } }],
  };
}
