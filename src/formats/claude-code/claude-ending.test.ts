import { expect, test } from 'vitest';

import { importLines } from '../../../test/support/import-check.ts';
import { claudeCodeImporter } from './claude-code-import.ts';

const place = { sessionId: 's1', timestamp: '2026-11-01T00:00:00.000Z', isSidechain: false, userType: 'external' };
let uuids = 0;
const entry = (more: object): object => ({ ...place, uuid: `u${(uuids += 1)}`, ...more });
const prompt = entry({ type: 'user', message: { role: 'user', content: 'Fix the tests' } });
const answer = (text: string, stop_reason: string | null): object =>
  entry({
    type: 'assistant',
    message: { id: `m${uuids}`, role: 'assistant', content: [{ type: 'text', text }], stop_reason },
  });
const call = entry({
  type: 'assistant',
  message: {
    id: 'm0',
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'echo 1' } }],
    stop_reason: 'tool_use',
  },
});
const result = entry({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '1', is_error: false }] },
});
const apiError = (error: string, text: string, apiErrorStatus?: number): object =>
  entry({
    type: 'assistant',
    error,
    isApiErrorMessage: true,
    ...(apiErrorStatus === undefined ? {} : { apiErrorStatus }),
    message: { id: 'e', role: 'assistant', content: [{ type: 'text', text }], stop_reason: 'stop_sequence' },
  });
const maxTurns = entry({ type: 'attachment', attachment: { type: 'max_turns_reached', maxTurns: 4, turnCount: 5 } });
const lastPrompt = { type: 'last-prompt', lastPrompt: 'Fix the tests', leafUuid: 'u1', sessionId: 's1' };

function outcomeAfter(...entries: readonly object[]): readonly (string | undefined)[] {
  const { runs } = importLines(claudeCodeImporter, [prompt, call, result, ...entries, lastPrompt]);
  const ended = runs[0]?.payloads.find((payload) => payload.kind === 'run_ended');
  return [ended?.outcome, ended?.reason];
}

// The words, texts and statuses are those of Claude Code 2.1.197 before a server that answers so.
test.each([
  ['an answer', [answer('All done.', 'end_turn')], ['ended', 'answered']],
  ['an answer of a version that leaves the reason out', [answer('All done.', null)], ['ended', 'answered']],
  ['429', [apiError('rate_limit', 'API Error: Request rejected (429)', 429)], ['error', 'rate_limit']],
  [
    'a limit and a command that Claude Code does not know',
    [
      apiError('rate_limit', "You've hit your limit · resets 8pm"),
      entry({ type: 'user', message: { role: 'user', content: 'Unknown skill: load' } }),
    ],
    ['error', 'rate_limit'],
  ],
  [
    'the quota of Gemini',
    [apiError('unknown', 'You have exhausted your daily quota on this model.')],
    ['error', 'rate_limit'],
  ],
  ['the limit of a session', [apiError('unknown', 'Session limit reached ∙ resets 11pm')], ['error', 'rate_limit']],
  ['402', [apiError('unknown', 'You have depleted your credits', 402)], ['error', 'credit']],
  ['401', [apiError('authentication_failed', 'Invalid API key', 401)], ['error', 'login']],
  ['529', [apiError('server_error', 'API Error: 529 Overloaded.', 529)], ['error', 'overloaded']],
  ['500', [apiError('server_error', 'API Error: 500 Internal server error', 500)], ['error', 'server_error']],
  [
    'a context that cannot be made shorter',
    [apiError('invalid_request', 'Autocompact is thrashing: the context refilled to the limit')],
    ['error', 'context'],
  ],
  [
    'an answer over the limit',
    [apiError('max_output_tokens', 'API Error: exceeded the 64000')],
    ['limit', 'output_limit'],
  ],
  ['a refusal', [apiError('invalid_request', 'appears to violate our Usage Policy')], ['error', 'refused']],
  ['the limit of turns', [maxTurns], ['limit', 'turn_limit']],
  [
    'an interruption',
    [entry({ type: 'user', message: { role: 'user', content: '[Request interrupted by user]' } })],
    ['aborted', 'interrupted'],
  ],
  [
    'an answer and commands that the host ran',
    [
      answer('All done.', 'end_turn'),
      ...['<local-command-caveat>Caveat: x', '<command-name>/exit</command-name>', '<local-command-stdout>Bye!'].map(
        (content) => entry({ type: 'user', message: { role: 'user', content } }),
      ),
    ],
    ['ended', 'answered'],
  ],
  [
    'a command that gave the agent work',
    [
      answer('All done.', 'end_turn'),
      entry({ type: 'user', message: { role: 'user', content: '<command-message>review</command-message>' } }),
      entry({ type: 'user', isMeta: true, message: { role: 'user', content: 'Review the change.' } }),
    ],
    [undefined, undefined],
  ],
  ['nothing: killed at work, or at work still', [], [undefined, undefined]],
  [
    'a failure after which the user went on',
    [apiError('rate_limit', 'x', 429), answer('Done.', 'end_turn')],
    ['ended', 'answered'],
  ],
] as const)('a transcript that ends with %s says so', (_what, entries, expected) => {
  expect(outcomeAfter(...entries)).toEqual(expected);
});

test('a run ends with the last line of its last answer, or with the Stop hooks and the end of the turn after it', () => {
  const at = (line: object, seconds: number): object => ({
    ...line,
    timestamp: new Date(Date.parse(place.timestamp) + seconds * 1_000).toISOString(),
  });
  const part = (content: object, seconds: number): object =>
    at(
      entry({ type: 'assistant', message: { id: 'last', role: 'assistant', content: [content], stop_reason: null } }),
      seconds,
    );
  const lastSecond = (...entries: readonly object[]): number => {
    const { runs } = importLines(claudeCodeImporter, [prompt, ...entries]);
    const times = runs[0]?.atMs.map((atMs) => (atMs ?? 0) - Date.parse(place.timestamp)) ?? [];
    return Math.max(...times) / 1_000;
  };
  const thinking = part({ type: 'thinking', thinking: 'hm' }, 1);
  const open = part({ type: 'tool_use', id: 't2', name: 'Bash', input: {} }, 7);
  expect(lastSecond(thinking, open)).toBe(7);
  const text = part({ type: 'text', text: 'Done.' }, 5);
  expect(lastSecond(thinking, text)).toBe(5);
  const hooks = at(entry({ type: 'system', subtype: 'stop_hook_summary' }), 14);
  const turnEnd = at(entry({ type: 'system', subtype: 'turn_duration', durationMs: 15_000 }), 15);
  expect(lastSecond(thinking, text, hooks, turnEnd)).toBe(15);
  const { runs } = importLines(claudeCodeImporter, [turnEnd, prompt, text, turnEnd]);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'session_event')).toEqual([
    { kind: 'session_event', event_type: 'turn_worked', data: { duration_ms: 15_000 } },
  ]);
  expect(lastSecond(thinking, text, at(entry({ type: 'system', subtype: 'away_summary' }), 900))).toBe(5);
});

test('the cost that the host added up stands at the end', () => {
  const cost = { type: 'cost-state', sessionId: 's1', totalCostUSD: 0.25 };
  const { runs } = importLines(claudeCodeImporter, [prompt, call, result, answer('Done.', 'end_turn'), cost]);
  const ended = runs[0]?.payloads.find((payload) => payload.kind === 'run_ended');
  expect(ended).toMatchObject({ usage: { cost_usd: 0.25 } });
});

test('a fork has what came after it: entries and cost of the session that it was forked from are not its own', () => {
  const copied = { ...call, requestSessionId: 's0' };
  const { diagnostics, runs } = importLines(claudeCodeImporter, [
    { type: 'tools-used', tools: ['Bash'], sessionId: 's1' },
    prompt,
    copied,
    result,
    { ...answer('Done.', 'end_turn'), requestSessionId: 's0' },
    entry({ type: 'system', subtype: 'stop_hook_summary' }),
    entry({ type: 'user', message: { role: 'user', content: 'Go on' } }),
    { ...answer('Went on.', 'end_turn'), requestSessionId: 's0' },
    entry({ type: 'system', subtype: 'stop_hook_summary' }),
    entry({ type: 'user', message: { role: 'user', content: 'Go another way' } }),
    answer('Gone.', 'end_turn'),
    { type: 'cost-state', sessionId: 's1', totalCostUSD: 0.25 },
  ]);
  expect(runs.length).toBe(1);
  expect([runs[0]?.run.task, runs[0]?.calls.length]).toEqual(['Go another way', 0]);
  expect(runs[0]?.payloads.find((payload) => payload.kind === 'run_ended')).not.toHaveProperty('usage');
  expect(JSON.stringify(diagnostics)).toContain('copied from the session');
});

test('the result line of claude -p states the whole cost, also of small models, over resumed processes', () => {
  const total = (usd: number, tokens: number): object => ({
    type: 'result',
    subtype: 'success',
    session_id: 's1',
    total_cost_usd: usd,
    modelUsage: { big: { inputTokens: tokens, outputTokens: 10 }, small: { inputTokens: 90, outputTokens: 0 } },
  });
  const { runs } = importLines(claudeCodeImporter, [
    prompt,
    answer('One.', 'end_turn'),
    total(0.3, 100),
    answer('Two.', 'end_turn'),
    total(0.42, 200),
    answer('Resumed.', 'end_turn'),
    total(0.1, 50),
  ]);
  const ends = runs[0]?.payloads.flatMap((payload) => (payload.kind === 'run_ended' ? [payload.usage] : []));
  expect(ends?.at(-1)).toEqual({ cost_usd: 0.52, tokens: 450 });
});

test.each([
  [
    [
      { type: 'text', text: '<system-reminder>\nReferences\n</system-reminder>' },
      { type: 'text', text: 'Rename it' },
    ],
    'Rename it',
  ],
  [
    '<command-message>…</command-message>\n<command-name>/fix-issue</command-name>\n<command-args>47 now</command-args>',
    '/fix-issue 47 now',
  ],
])('the task of a session that begins with %j is what the user asked', (content, task) => {
  const { runs } = importLines(claudeCodeImporter, [entry({ type: 'user', message: { role: 'user', content } })]);
  expect(runs[0]?.run.task).toBe(task);
});

test('the Stop hooks run at the end of a turn, also if the last thing is a call', () => {
  const hook = entry({ type: 'progress', data: { type: 'hook_progress', hookEvent: 'Stop', hookName: 'Stop' } });
  expect(outcomeAfter(call, result, hook)).toEqual(['ended', undefined]);
  const other = entry({ type: 'progress', data: { type: 'hook_progress', hookEvent: 'PostToolUse' } });
  expect(outcomeAfter(call, result, other)[0]).toBeUndefined();
});

test('a command ran from its own beginning, and a tool as long as it says, whatever it waited for before', () => {
  const at = (second: number, one: object): object => ({
    ...one,
    timestamp: new Date(Date.parse(place.timestamp) + second * 1_000).toISOString(),
  });
  const durationOf = (...between: readonly object[]): number | undefined =>
    importLines(claudeCodeImporter, [prompt, call, ...between]).runs[0]?.ends[0]?.duration_ms;
  const { id } = (call as { message: { content: { id: string }[] } }).message.content[0] ?? { id: '' };
  const progress = entry({
    type: 'progress',
    parentToolUseID: id,
    data: { type: 'bash_progress', elapsedTimeSeconds: 3 },
  });
  expect(durationOf(at(63, progress), at(70, result))).toBe(10_000);
  expect(durationOf(at(70, { ...result, toolUseResult: { durationMs: 5_761 } }))).toBe(5_761);
  expect(durationOf(at(70, { ...result, toolUseResult: { durationSeconds: 5.5 } }))).toBe(5_500);
  expect(durationOf(at(70, result))).toBeUndefined();
});

test('a message that goes on after another one is counted once', () => {
  const piece = (id: string, output: number, block: object): object =>
    entry({
      type: 'assistant',
      message: { id, role: 'assistant', content: [block], usage: { input_tokens: 10, output_tokens: output } },
    });
  const toolUse = (id: string): object => ({ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } });
  const { runs } = importLines(claudeCodeImporter, [
    prompt,
    piece('m1', 1, { type: 'text', text: 'I look.' }),
    piece('m2', 30, toolUse('t1')),
    piece('m1', 20, toolUse('t2')),
  ]);
  const usages = (runs[0]?.payloads ?? []).flatMap((one) =>
    one.kind === 'message_appended' && one.message.role === 'assistant' ? (one.message.usage ?? []) : [],
  );
  const sum = (name: 'input_tokens' | 'output_tokens'): number =>
    usages.reduce((total, usage) => total + (usage[name] ?? 0), 0);
  expect([sum('input_tokens'), sum('output_tokens')]).toEqual([20, 50]);
});
