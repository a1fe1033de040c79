import { present } from '../../core/base/json.ts';
import { readHookInput } from '../../adapters/claude/read-hook-input.ts';
import { readResult } from '../../core/steering/read-result.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import { standardSteering } from '../../core/steering/standard-steering.ts';
import { checkChange } from '../../core/store/check-batch.ts';
import { planAppend } from '../../core/store/plan-append.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { createStoredRun, type SavedSnapshot } from '../../core/store/stored-run.ts';
import { ClaudeSessions, type ClaudeSessionsOptions } from './claude-sessions.ts';

const SESSION_ID = 'warm-up';
const START_MS = 1_700_000_000_000;

/**
 * Plays a stuck session in memory, which compiles the functions that hook calls usually need for the code cache. Cost:
 * about 150 ms, once per version of coxswain and Node.
 */
export async function warmUp(): Promise<void> {
  let nowMs = START_MS;
  const sessions = new ClaudeSessions({
    store: sketchStore(),
    config: { steering: standardSteering(), deadline: { minutes: 4 }, deadlineFrom: 'session' },
    projectFolder: '/',
    redactor: createRedactor({}, { readResult }),
    clock: { nowMs: () => (nowMs += 2_000) },
    build: 'warm-up',
    measureMs: () => 0,
  });
  for (const event of sampleEvents()) {
    const input = readHookInput({ session_id: SESSION_ID, ...event });
    if (input !== undefined) await sessions.answer(input, SESSION_ID, { hasBackgroundWork: false });
  }
}

type RawEvent = Readonly<Record<string, unknown>>;

function* sampleEvents(): Generator<RawEvent> {
  let callCount = 0;
  const nextBatch = (calls: readonly Call[]): Generator<RawEvent> => batchOf(calls, () => `call-${(callCount += 1)}`);
  yield { hook_event_name: 'SessionStart', source: 'startup', model: 'a-model' };
  yield {
    hook_event_name: 'UserPromptSubmit',
    prompt: 'Make the tests of the parser pass; the schema must not change.',
  };
  for (let round = 0; round < 4; round += 1) {
    yield* nextBatch([
      [
        'Read',
        { file_path: 'src/parser.ts' },
        { type: 'text', file: { filePath: 'src/parser.ts', content: 'export {}\n' } },
      ],
      [
        'Grep',
        { pattern: 'parse(', path: 'src' },
        { mode: 'content', content: `src/a.ts:${round}: parse(x)`, filenames: [] },
      ],
    ]);
    yield* nextBatch([
      [
        'Edit',
        { file_path: 'src/parser.ts', old_string: `a${round}`, new_string: `b${round}` },
        {
          filePath: 'src/parser.ts',
          oldString: `a${round}`,
          newString: `b${round}`,
          structuredPatch: [],
          originalFile: 'x',
        },
      ],
    ]);
    const command = `cd /app && TOKEN=$X npm test -- --filter "parser" 2>&1 | tail -n 20; echo $? > out.log`;
    yield* nextBatch([
      [
        'Bash',
        { command, description: 'Run' },
        `Exit code 1\nFAIL src/parser.test.ts\nError: expected 1, got ${round % 2}`,
      ],
    ]);
  }
  for (let round = 0; round < 6; round += 1) {
    yield* nextBatch([['Bash', { command: 'git status --short' }, { stdout: ' M src/parser.ts', stderr: '' }]]);
    yield* nextBatch([['Bash', { command: 'cat missing.txt' }, 'cat: missing.txt: No such file or directory']]);
  }
  yield { hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'All tests pass now.' };
}

/** Tool name, arguments and response. A response that is text is the message of a failure. */
type Call = readonly [string, RawEvent, unknown];

function* batchOf(calls: readonly Call[], newId: () => string): Generator<RawEvent> {
  const issuedCalls = calls.map(([tool_name, tool_input, response]) => ({
    call: { tool_name, tool_input, tool_use_id: newId() },
    response,
  }));
  for (const { call } of issuedCalls) yield { hook_event_name: 'PreToolUse', ...call };
  for (const { call, response } of issuedCalls) {
    if (typeof response === 'string') yield { hook_event_name: 'PostToolUseFailure', ...call, error: response };
    else yield { hook_event_name: 'PostToolUse', ...call, tool_response: response, duration_ms: 12 };
  }
  yield {
    hook_event_name: 'PostToolBatch',
    tool_calls: issuedCalls.map(({ call }) => Object.assign({ tool_response: 'ok' }, call)),
  };
}

/** A store that validates records but keeps only summaries and snapshots. */
function sketchStore(): ClaudeSessionsOptions['store'] {
  const runs = new Map<string, { readonly summary?: RunSummary; readonly snapshot?: SavedSnapshot }>();
  return {
    async transact(runId, fold) {
      const { summary, snapshot } = runs.get(runId) ?? {};
      const {
        batch: records,
        snapshotJson,
        result,
      } = checkChange(runId, fold(createStoredRun({ summary, snapshot }, () => [])));
      const summaryAfter = records === undefined ? summary : planAppend(records, summary, () => undefined).summary;
      const savedSnapshot =
        snapshotJson === undefined ? snapshot : { coversSeq: summaryAfter?.lastSeq ?? -1, json: snapshotJson };
      runs.set(runId, {
        ...present({ summary: summaryAfter, snapshot: savedSnapshot }),
      });
      return result;
    },
    async *readRun() {},
  };
}
