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

/**
 * Plays a stuck session with its file and a store in a temporary folder, which compiles the functions that hook calls usually need
 * for the code cache. Cost: about 250 ms, once per version of coxswain and Node.
 */
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
  let callCount = 0;
  const nextBatch = (...calls: readonly Call[]): Generator<RawEvent> =>
    batchOf(calls, () => `call-${(callCount += 1)}`);
  yield { hook_event_name: 'SessionStart', source: 'startup', model: 'a-model' };
  yield {
    hook_event_name: 'UserPromptSubmit',
    prompt: 'Make the tests of the parser pass; the schema must not change.',
  };
  const path = 'src/parser.ts';
  for (let round = 0; round < 2; round += 1) {
    const edit = { file_path: path, old_string: `a${round}`, new_string: `b${round}` };
    yield* nextBatch(
      ['Read', { file_path: path }, { type: 'text', file: { filePath: path, content: 'export {}\n' } }],
      ['Grep', { pattern: 'parse(', path: 'src' }, { mode: 'content', content: `src/a.ts:${round}: parse(x)` }],
    );
    yield* nextBatch(['Edit', edit, { filePath: path, structuredPatch: [], originalFile: 'x' }]);
    const command = `cd /app && TOKEN=$X npm test -- --filter "parser" 2>&1 | tail -n 20; echo $? > out.log`;
    yield* nextBatch([
      'Bash',
      { command, description: 'Run' },
      `Exit code 1\nFAIL src/parser.test.ts\nError: expected 1, got ${round % 2}`,
    ]);
  }
  for (let round = 0; round < 6; round += 1) {
    yield* nextBatch(['Bash', { command: 'git status --short' }, { stdout: ` M ${path}`, stderr: '' }]);
    yield* nextBatch([
      'Bash',
      { command: 'cat missing.txt' },
      'Exit code 1\ncat: missing.txt: No such file or directory',
    ]);
  }
  yield { hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'All tests pass now.' };
}

/** Tool name, arguments and response. A response that is text is the message of a failure. */
type Call = readonly [string, object, unknown];

/** An answer in the session file, then the events of its calls, for programs with hooks per call and per answer. */
function* batchOf(calls: readonly Call[], newId: () => string): Generator<RawEvent> {
  const issuedCalls = calls.map(([tool_name, tool_input, response]) => ({
    call: { tool_name, tool_input, tool_use_id: newId() },
    response,
  }));
  const content = issuedCalls.map(({ call }) => ({
    type: 'tool_use',
    id: call.tool_use_id,
    name: call.tool_name,
    input: call.tool_input,
  }));
  const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 1_000 };
  const message = { id: newId(), role: 'assistant', model: 'a-model', content, stop_reason: 'tool_use', usage };
  const answer = { type: 'assistant', uuid: newId(), message };
  for (const [index, { call }] of issuedCalls.entries()) {
    yield { hook_event_name: 'PreToolUse', ...call, entries: index === 0 ? [answer] : [] };
  }
  for (const { call, response } of issuedCalls) {
    if (typeof response === 'string') yield { hook_event_name: 'PostToolUseFailure', ...call, error: response };
    else yield { hook_event_name: 'PostToolUse', ...call, tool_response: response, duration_ms: 12 };
  }
  const results = issuedCalls.map(({ call, response }) => ({
    tool_use_id: call.tool_use_id,
    type: 'tool_result',
    content: typeof response === 'string' ? response : JSON.stringify(response),
    is_error: typeof response === 'string',
  }));
  yield {
    hook_event_name: 'PostToolBatch',
    tool_calls: issuedCalls.map(({ call, response }) => Object.assign({ tool_response: response }, call)),
    entries: [{ type: 'user', uuid: newId(), message: { role: 'user', content: results } }],
  };
}
