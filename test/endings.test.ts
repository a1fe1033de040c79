import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { RunFactsFold } from '../src/core/facts/run-facts-fold.ts';
import type { RunVerdict } from '../src/core/facts/run-verdict.ts';
import { defaultDetectors } from '../src/core/detect/detectors/default-detectors.ts';
import { findSources } from '../src/formats/find-sources.ts';
import { importSource } from '../src/formats/import-source.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { RunIds } from '../src/formats/run-ids.ts';
import { testFolder } from './support/test-folder.ts';
import { thorough } from './support/rounds.ts';
import { sharedPath } from './support/shared-data.ts';

const DAY_MS = 86_400_000;
/**
 * Real ends: a file beside the checkout, the verdict, and words of the right sentence, as a reader of the file wrote them down. `npm test`
 * takes a third of them.
 */
const REAL = readFileSync(fileURLToPath(new URL('endings.tsv', import.meta.url)), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .filter((_, index) => thorough || index % 3 === 0)
  .map((line) => line.split('\t'));

async function verdictsOf(path: string): Promise<readonly RunVerdict[]> {
  const verdicts: RunVerdict[] = [];
  for await (const source of findSources([path])) {
    if (source.path.endsWith('.md')) continue;
    const folds = new Map<object, RunFactsFold>();
    const items = readRuns(importSource(source.path), { source: source.path, ids: new RunIds() });
    for await (const item of items) {
      if (item.type === 'record') {
        const fold = folds.get(item.run) ?? new RunFactsFold(item.run.id, { detectors: defaultDetectors() });
        folds.set(item.run, fold);
        fold.fold(item.record);
      } else if (item.type === 'end' && item.run.depth === 0) {
        const fold = folds.get(item.run);
        if (fold !== undefined) verdicts.push(fold.facts(fold.view.lastAtMs + DAY_MS).verdict);
      }
    }
  }
  return verdicts;
}

test('at least 95 % of the real ends have the sentence that a reader wrote down, and none is falsely green', async ({
  skip,
}) => {
  const shared = sharedPath();
  if (shared === undefined) {
    skip('needs ../shared');
    return;
  }
  const wrong: string[] = [];
  const falselyGreen: string[] = [];
  for (const [file = '', verdict = '', words = ''] of REAL) {
    const [found] = await verdictsOf(join(shared, file));
    const isRight = found?.verdict === verdict && found.evidence.includes(words);
    if (!isRight) wrong.push(`${basename(file)}: ${verdict} ${words} | ${found?.verdict}: ${found?.evidence}`);
    if (found?.verdict === 'worked' && verdict !== 'worked') falselyGreen.push(file);
  }
  expect(falselyGreen).toEqual([]);
  // The list of the wrong ones is the message.
  expect(wrong.length / REAL.length <= 0.05 ? [] : wrong).toEqual([]);
}, 300_000);

type Entry = Readonly<Record<string, unknown>>;

/** Writes entries in the form of a host, one second apart, and returns the verdict one day later. */
async function verdictOfEntries(name: string, entries: readonly Entry[]): Promise<RunVerdict | undefined> {
  const path = join(testFolder(), name);
  const lines = entries.map((entry, index) => JSON.stringify({ ...entry, timestamp: timeOf(index) }));
  writeFileSync(path, `${lines.join('\n')}\n`);
  const [verdict] = await verdictsOf(path);
  return verdict;
}

function timeOf(index: number): string {
  return new Date(Date.UTC(2026, 9, 12, 22, 0, index)).toISOString();
}

let ids = 0;
const claude = (type: string, content: unknown, stopReason?: string): Entry => ({
  type,
  uuid: `u${(ids += 1)}`,
  sessionId: 's',
  message: { role: type, content, ...(type === 'assistant' ? { id: `m${ids}`, stop_reason: stopReason ?? null } : {}) },
});
const claudeCall = (name: string, input: object): Entry =>
  claude('assistant', [{ type: 'tool_use', id: 'c1', name, input }], 'tool_use');
const claudeResult = (content: string, isError = false): Entry =>
  claude('user', [{ type: 'tool_result', tool_use_id: 'c1', content, is_error: isError }]);
const claudeText = (text: string, stopReason?: string): Entry =>
  claude('assistant', [{ type: 'text', text }], stopReason);
const claudeError = (error: string, text: string, status?: number): Entry => ({
  ...claudeText(text, 'stop_sequence'),
  isApiErrorMessage: true,
  error,
  apiErrorStatus: status,
});
const claudeRetry = (retryAttempt: number, error: object): Entry => ({
  type: 'system',
  subtype: 'api_error',
  uuid: `u${(ids += 1)}`,
  sessionId: 's',
  retryAttempt,
  maxRetries: 10,
  error,
});
const esc = claude('user', '[Request interrupted by user]');
const escOfCall = claude('user', '[Request interrupted by user for tool use]');
const refused = claudeResult("The user doesn't want to proceed with this tool use.", true);
const task = claude('user', 'Fix the tests');

const codex = (type: string, payload: object): Entry => ({ type, payload });
const codexStart = [
  codex('session_meta', { id: 'x', cwd: '/w' }),
  codex('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix the tests' }] }),
];
const codexCall = codex('response_item', {
  type: 'function_call',
  name: 'exec_command',
  call_id: 'c1',
  arguments: '{"cmd":"sleep 900"}',
});
const codexText = codex('response_item', {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Done.' }],
});

const copilot = (type: string, data: object): Entry => ({ type, data, id: `e${(ids += 1)}` });
const copilotStart = [
  copilot('session.start', { sessionId: 'k' }),
  copilot('user.message', { content: 'Fix the tests' }),
];
const copilotText = copilot('assistant.message', { messageId: 'a', content: 'Done.', toolRequests: [] });
const copilotCall = copilot('assistant.message', {
  messageId: 'b',
  content: '',
  toolRequests: [{ toolCallId: 'c1', name: 'bash', arguments: { command: 'sleep 900' } }],
});
const copilotRuns = copilot('tool.execution_start', {
  toolCallId: 'c1',
  toolName: 'bash',
  arguments: { command: 'sleep 900' },
});

const gemini = (type: string, more: object): Entry => ({ id: `g${(ids += 1)}`, type, ...more });
const geminiStart = [{ sessionId: 'g', projectHash: 'h', kind: 'main' }, gemini('user', { content: 'Fix the tests' })];
const geminiCall = (status: string): Entry =>
  gemini('gemini', {
    content: '',
    toolCalls: [{ id: 'c1', name: 'run_shell_command', args: { command: 'sleep 900' }, status }],
  });

const pi = (message: object): Entry => ({ type: 'message', id: `p${(ids += 1)}`, message });
const piStart = [
  { type: 'session', version: 3, id: 'p', cwd: '/w' },
  pi({ role: 'user', content: [{ type: 'text', text: 'Fix the tests' }] }),
];
const piText = (stopReason: string, more: object = {}): Entry =>
  pi({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }], stopReason, ...more });

const openHands = (source: string, more: object): Entry => ({ id: (ids += 1), source, message: '', ...more });
const openHandsStart = [openHands('user', { action: 'message', args: { content: 'Fix the tests' } })];

test.each<[name: string, file: string, entries: readonly Entry[], verdict: RunVerdict['verdict'], words: string]>([
  [
    'Claude Code: answered',
    'a.jsonl',
    [task, claudeText('Done.', 'end_turn')],
    'answered',
    'no check that coxswain recognises',
  ],
  [
    'Claude Code: answered after a check of a task runner',
    'a.jsonl',
    [
      task,
      claudeCall('Bash', { command: 'mise run lint 2>&1 | tail' }),
      claudeResult('0 issues.'),
      claudeText('Done.'),
    ],
    'worked',
    'mise run lint',
  ],
  [
    'Claude Code: the check that the task names failed',
    'a.jsonl',
    [
      claude('user', 'Work until `node accept.mjs` passes'),
      claudeCall('Bash', { command: 'node accept.mjs' }),
      claudeResult('Exit code 1\n3 of 4 wrong', true),
      claudeText('Everything works now.', 'end_turn'),
    ],
    'answered',
    'node accept.mjs) failed and did not pass later',
  ],
  [
    'Claude Code: Esc after the answer',
    'a.jsonl',
    [task, claudeText('Done.', 'end_turn'), esc],
    'answered',
    'it answered; no check',
  ],
  [
    'Claude Code: a message after the answer that got no reply',
    'a.jsonl',
    [
      task,
      claudeCall('Bash', { command: 'npm test' }),
      claudeResult('ok'),
      claudeText('Done.', 'end_turn'),
      claude('user', 'And the docs?'),
    ],
    'cut_off',
    'cut off before it answered',
  ],
  ['Claude Code: Esc before the answer', 'a.jsonl', [task, esc], 'stopped', 'stopped by you'],
  [
    'Claude Code: Esc while a command ran',
    'a.jsonl',
    [task, claudeCall('Bash', { command: 'npm test' }), refused, escOfCall],
    'stopped',
    'stopped by you, after "npm test"',
  ],
  [
    'pi: stopped in a request',
    'p.jsonl',
    [...piStart, piText('aborted', { errorMessage: 'Operation aborted' })],
    'stopped',
    'stopped by you',
  ],
  [
    'Claude Code: the plan was not approved',
    'a.jsonl',
    [task, claudeCall('ExitPlanMode', { plan: '# A plan' }), refused, escOfCall],
    'answered',
    'presented a plan',
  ],
  [
    'Claude Code: the plan waits',
    'a.jsonl',
    [task, claudeCall('ExitPlanMode', { plan: '# A plan' })],
    'waiting',
    'its plan',
  ],
  [
    'Claude Code: a question waits',
    'a.jsonl',
    [task, claudeCall('AskUserQuestion', { questions: [{ question: 'Which one?' }] })],
    'waiting',
    'waits for your answer: Which one?',
  ],
  [
    'Claude Code: cut off in a command',
    'a.jsonl',
    [task, claudeCall('Bash', { command: 'cd /w && npm test' })],
    'cut_off',
    'cut off with "npm test" unfinished; no record for 24.0 hours',
  ],
  [
    'Claude Code: cut off in a command after a line that enters a folder',
    'a.jsonl',
    [task, claudeCall('Bash', { command: 'cd /w\nnpm test' })],
    'cut_off',
    'cut off with "npm test" unfinished; no record for 24.0 hours',
  ],
  ['Claude Code: cut off before it answered', 'a.jsonl', [task], 'cut_off', 'cut off before it answered'],
  [
    'Claude Code: cut off while it repeated a request',
    'a.jsonl',
    [task, claudeRetry(1, { formatted: 'Request timed out.' }), claudeRetry(2, { formatted: 'Request timed out.' })],
    'cut_off',
    'cut off, after 2 failed requests (Request timed out.); no record for 24.0 hours',
  ],
  [
    'Claude Code: stopped while it repeated a request after a call',
    'a.jsonl',
    [
      task,
      claudeCall('Bash', { command: 'npm run build' }),
      claudeResult('ok'),
      claudeRetry(1, { status: 529, error: { error: { message: 'Overloaded' } } }),
      esc,
    ],
    'stopped',
    'stopped by you, after 1 failed request (Overloaded)',
  ],
  [
    'Claude Code: cut off after a request that succeeded again',
    'a.jsonl',
    [task, claudeRetry(1, { cause: { code: 'ECONNRESET' } }), claudeCall('Bash', { command: 'sleep 900' })],
    'cut_off',
    'cut off with "sleep 900" unfinished',
  ],
  [
    'Claude Code: the turn ended without a message',
    'a.jsonl',
    [
      task,
      claudeCall('Edit', { file_path: '/w/a.ts' }),
      claudeResult('ok'),
      { type: 'system', subtype: 'stop_hook_summary', uuid: 'h', sessionId: 's' },
    ],
    'answered',
    'it finished without a last message',
  ],
  [
    'Claude Code: 401',
    'a.jsonl',
    [task, claudeError('authentication_failed', 'Invalid API key', 401)],
    'failed',
    'login failed',
  ],
  [
    'Claude Code: 429',
    'a.jsonl',
    [task, claudeError('rate_limit', 'Limit · resets 5am', 429)],
    'failed',
    'rate limit: resets 5am',
  ],
  [
    'Claude Code: 529',
    'a.jsonl',
    [task, claudeError('server_error', 'API Error: 529 Overloaded', 529)],
    'failed',
    'model overloaded',
  ],
  [
    'Claude Code: max turns',
    'a.jsonl',
    [task, { type: 'attachment', uuid: 't', sessionId: 's', attachment: { type: 'max_turns_reached' } }],
    'failed',
    'turn limit',
  ],
  [
    'Claude Code: context',
    'a.jsonl',
    [task, claudeError('invalid_request', 'Prompt is too long', 400)],
    'failed',
    'context too long',
  ],
  [
    'Codex: answered',
    'r.jsonl',
    [...codexStart, codexText, codex('event_msg', { type: 'task_complete', last_agent_message: 'Done.' })],
    'answered',
    'it answered',
  ],
  [
    'Codex: cut off while it repeated a request',
    'r.jsonl',
    [...codexStart, codex('event_msg', { type: 'stream_error', message: 'Reconnecting... 1/5' })],
    'cut_off',
    'cut off, after 1 failed request (Reconnecting... 1/5)',
  ],
  ['Codex: answered without an end marker', 'r.jsonl', [...codexStart, codexText], 'answered', 'it answered'],
  [
    'Codex: cut off in a command',
    'r.jsonl',
    [...codexStart, codexCall],
    'cut_off',
    'cut off with "sleep 900" unfinished',
  ],
  [
    'Codex: stopped',
    'r.jsonl',
    [...codexStart, codexCall, codex('event_msg', { type: 'turn_aborted', reason: 'interrupted' })],
    'stopped',
    'stopped by you',
  ],
  [
    'Codex: the user typed exit after the answer',
    'r.jsonl',
    [
      ...codexStart,
      codexText,
      codex('event_msg', { type: 'task_complete', last_agent_message: 'Done.' }),
      codex('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'exit' }] }),
      codex('event_msg', { type: 'turn_aborted', reason: 'interrupted' }),
    ],
    'answered',
    'it answered; no check',
  ],
  [
    'Codex: stopped hours before the end',
    'r.jsonl',
    [
      ...codexStart,
      codex('event_msg', { type: 'turn_aborted', reason: 'interrupted' }),
      ...codexStart.slice(1),
      codexText,
    ],
    'answered',
    'it answered',
  ],
  [
    'Codex: 500',
    'r.jsonl',
    [
      ...codexStart,
      codex('event_msg', { type: 'error', message: 'unexpected status 500 Internal' }),
      codex('event_msg', { type: 'task_complete' }),
    ],
    'failed',
    'model server error',
  ],
  ['Copilot: answered without session.shutdown', 'e.jsonl', [...copilotStart, copilotText], 'answered', 'it answered'],
  [
    'Copilot: answered and shut down',
    'e.jsonl',
    [...copilotStart, copilotText, copilot('session.shutdown', { shutdownType: 'routine' })],
    'answered',
    'it answered',
  ],
  [
    'Copilot: stopped',
    'e.jsonl',
    [
      ...copilotStart,
      copilotCall,
      copilotRuns,
      copilot('abort', { reason: 'user' }),
      copilot('session.shutdown', { shutdownType: 'routine' }),
    ],
    'stopped',
    'stopped by you',
  ],
  [
    'Copilot: stopped before the last answer',
    'e.jsonl',
    [...copilotStart, copilot('abort', { reason: 'user' }), ...copilotStart.slice(1), copilotText],
    'answered',
    'it answered',
  ],
  [
    'Copilot: closed in a command',
    'e.jsonl',
    [...copilotStart, copilotCall, copilotRuns, copilot('session.shutdown', { shutdownType: 'routine' })],
    'stopped',
    'sleep 900',
  ],
  [
    'Copilot: cut off in a command',
    'e.jsonl',
    [...copilotStart, copilotCall, copilotRuns],
    'cut_off',
    '"sleep 900" unfinished',
  ],
  [
    'Copilot: 429',
    'e.jsonl',
    [
      ...copilotStart,
      copilot('session.error', { errorType: 'rate_limit', message: 'Too many requests', statusCode: 429 }),
    ],
    'failed',
    'rate limit',
  ],
  ['Gemini: answered', 's.jsonl', [...geminiStart, gemini('gemini', { content: 'Done.' })], 'answered', 'it answered'],
  [
    'Gemini: cut off in a command',
    's.jsonl',
    [...geminiStart, geminiCall('executing')],
    'cut_off',
    '"sleep 900" unfinished',
  ],
  [
    'Gemini: stopped',
    's.jsonl',
    [...geminiStart, geminiCall('cancelled'), gemini('info', { content: 'Request cancelled.' })],
    'stopped',
    'stopped by you',
  ],
  [
    'Gemini: 429',
    's.jsonl',
    [...geminiStart, gemini('error', { content: '[API Error: status: 429 quota exceeded]' })],
    'failed',
    'rate limit',
  ],
  ['pi: answered', 'p.jsonl', [...piStart, piText('stop')], 'answered', 'it answered'],
  ['pi: stopped', 'p.jsonl', [...piStart, piText('aborted')], 'stopped', 'stopped by you'],
  [
    'pi: 529',
    'p.jsonl',
    [...piStart, piText('error', { errorMessage: '529 Overloaded' })],
    'failed',
    'model overloaded',
  ],
  [
    'OpenHands: answered with a call',
    'o.jsonl',
    [...openHandsStart, openHands('agent', { action: 'finish', args: { final_thought: 'Done.' } })],
    'answered',
    'no check',
  ],
  [
    'OpenHands: cut off in a command',
    'o.jsonl',
    [...openHandsStart, openHands('agent', { action: 'run', args: { command: 'sleep 900' } })],
    'cut_off',
    '"sleep 900" unfinished',
  ],
])('%s', async (_name, file, entries, verdict, words) => {
  const found = await verdictOfEntries(file, entries);
  expect([found?.verdict, found?.evidence]).toEqual([verdict, expect.stringContaining(words)]);
});
