import { expect, test } from 'vitest';

import { importLines } from '../../../test/support/import-check.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { codexExecImporter, codexRolloutImporter } from './codex.ts';

const at = '2026-11-23T04:00:00.000Z';
const item = (payload: object) => ({ timestamp: at, type: 'response_item', payload });
const event = (payload: object) => ({ timestamp: at, type: 'event_msg', payload });
const message = (role: string, ...texts: readonly string[]) =>
  item({ type: 'message', role, content: texts.map((text) => ({ type: 'input_text', text })) });
const call = (id: string) => item({ type: 'function_call', name: 'exec_command', arguments: '{}', call_id: id });
const output = (id: string, text: string) => item({ type: 'function_call_output', call_id: id, output: text });
const meta = (more: object = {}) => ({
  timestamp: at,
  type: 'session_meta',
  payload: { id: 't1', cwd: '/p', ...more },
});

const rolesOf = (payloads: readonly TrajectoryPayload[] = []) =>
  payloads.flatMap((payload) => (payload.kind === 'message_appended' ? [payload.message.role] : []));

test('what Codex, a hook or another agent wrote as the user is no user text', () => {
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('developer', '<permissions instructions>…'),
    message('user', '# AGENTS.md instructions for /p\n\n…'),
    message('user', '<environment_context>\n  <cwd>/p</cwd>\n</environment_context>'),
    message('user', 'Fix the bug.'),
    message('assistant', 'Done.'),
    message('user', '<hook_prompt hook_run_id="1">Run the tests first.</hook_prompt>'),
  ]);
  expect(runs[0]?.run.task).toBe('Fix the bug.');
  expect(rolesOf(runs[0]?.payloads)).toEqual(['system', 'system', 'system', 'user', 'assistant', 'system']);
});

test('instructions that an editor puts before the request once more are no user text', () => {
  const rules = 'This is a web application written with a web framework.\n\n- Run the checks.';
  const content = [rules, 'Add a page.'].map((text) => ({ type: 'input_text', text }));
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('user', `# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\n${rules}\n</INSTRUCTIONS>`),
    { ...message('user', ''), payload: { type: 'message', role: 'user', content } },
  ]);
  expect(runs[0]?.run.task).toBe('Add a page.');
});

test('rollouts of the summer of 2025 have a first line and items without a frame', () => {
  const lines = [
    { id: 't1', timestamp: at, instructions: null, git: { branch: 'main' } },
    { record_type: 'state' },
    message('user', 'Fix the bug.').payload,
    { record_type: 'state' },
    call('c1').payload,
    output('c1', '{"output":"ok","metadata":{"exit_code":0}}').payload,
    message('assistant', 'Done.').payload,
  ];
  expect(codexRolloutImporter.recognise(lines, { name: 'a.jsonl', path: 'a.jsonl' })).toBeGreaterThan(0.5);
  const { runs } = importLines(codexRolloutImporter, lines);
  expect(runs[0]?.run).toMatchObject({ id: 't1', task: 'Fix the bug.' });
  expect(runs[0]?.payloads.map(({ kind }) => kind)).toContain('tool_ended');
  expect(new Set(runs[0]?.atMs)).toEqual(new Set([Date.parse(at)]));
});

test('newer rollouts say themselves who wrote each part of a message', () => {
  const mixed = {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: '<skill> is what I want to write.' },
      { type: 'input_text', text: 'You are on a branch.' },
    ],
    internal_chat_message_metadata_passthrough: {
      content_item_metadata: [{ provenance: { type: 'user' } }, { provenance: { type: 'harness', hook: true } }],
    },
  };
  const { runs } = importLines(codexRolloutImporter, [meta(), item(mixed)]);
  expect(runs[0]?.run.task).toBe('<skill> is what I want to write.');
  expect(rolesOf(runs[0]?.payloads)).toEqual(['system', 'user']);
});

const tokenCount = (last: number, total: number, generated = 0) =>
  event({
    type: 'token_count',
    info: {
      total_token_usage: { input_tokens: total - generated, output_tokens: generated, total_tokens: total },
      last_token_usage: { input_tokens: last, output_tokens: 0, total_tokens: last },
    },
  });

test('tokens of an answer whose count is missing are part of the next count', () => {
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('assistant', 'one'),
    tokenCount(100, 101, 1),
    message('assistant', 'two'),
    message('user', 'Go on.'),
    message('assistant', 'three'),
    tokenCount(30, 181, 1),
    tokenCount(30, 181, 1),
    message('assistant', 'four'),
    tokenCount(20, 201, 1),
  ]);
  const used = runs[0]?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' && payload.message.role === 'assistant'
      ? [payload.message.usage?.input_tokens]
      : [],
  );
  expect(used).toEqual([100, undefined, 80, 20]);
});

test('a review counts for itself, and the total from before it counts once', () => {
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('user', 'Fix the bug.'),
    message('assistant', 'one'),
    tokenCount(700, 700),
    message('assistant', 'of the review'),
    tokenCount(40, 40),
    message('assistant', 'of the review, too'),
    tokenCount(60, 100),
    tokenCount(700, 700),
    message('assistant', 'two'),
    tokenCount(30, 730),
  ]);
  const used = runs[0]?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended'
      ? [payload.message.role === 'assistant' ? (payload.message.usage?.input_tokens ?? 0) : 0]
      : [],
  );
  expect(used?.reduce((sum, count) => sum + count, 0)).toBe(830);
});

test('a count that early versions write before its answer is part of the total', () => {
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('user', 'Fix the bug.'),
    tokenCount(100, 100),
    call('a'),
    output('a', 'ok'),
    tokenCount(30, 130),
    message('assistant', 'Done.'),
  ]);
  const tokens = runs[0]?.payloads.flatMap((one) =>
    one.kind === 'message_appended' && one.message.role === 'assistant' ? (one.message.usage?.input_tokens ?? 0) : [],
  );
  expect(tokens?.reduce((sum, count) => sum + count, 0)).toBe(130);
});

test("a hook's text between a call and its result takes neither the turn nor the usage and its window from the answer", () => {
  const usage = { input_tokens: 9, cached_input_tokens: 4, output_tokens: 2 };
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('user', 'Go.'),
    call('a'),
    call('b'),
    message('developer', 'advice of a hook'),
    output('a', 'x'),
    output('b', 'y'),
    event({
      type: 'token_count',
      info: { total_token_usage: { total_tokens: 11 }, last_token_usage: usage, model_context_window: 258_400 },
    }),
    call('c'),
  ]);
  const kinds = runs[0]?.payloads.map(({ kind }) => kind);
  expect(kinds?.filter((kind) => kind === 'turn_started')).toHaveLength(2);
  expect(runs[0]?.payloads[2]).toMatchObject({
    message: {
      role: 'assistant',
      usage: { input_tokens: 9, cache_read_tokens: 4, output_tokens: 2, context_window_tokens: 258_400 },
    },
  });
});

test("a call failed where its exit code, its event or Codex' own refusal says so", () => {
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    ...['a', 'b', 'c', 'd'].map((id) => call(id)),
    output('a', 'Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno'),
    event({
      type: 'mcp_tool_call_end',
      call_id: 'b',
      result: { Ok: { content: [], isError: true } },
      duration: { secs: 1, nanos: 5e8 },
    }),
    output('b', 'Wall time: 1.5 seconds\nOutput:\nall well'),
    output('c', 'unsupported call: exec_command'),
    output('d', 'Chunk ID: 1f\nWall time: 0.3 seconds\nProcess running with session ID 7\nOutput:\n'),
  ]);
  expect(runs[0]?.ends.map((end) => [end.is_error, end.error_inferred, end.duration_ms])).toEqual([
    [true, undefined, 100],
    [true, undefined, 1_500],
    [true, true, undefined],
    [false, undefined, undefined],
  ]);
});

test('what Codex says of an agent or a server that it could not ask is a failure', () => {
  const failures = [
    'collab spawn failed: agent thread limit reached (max 6)',
    'timeout_ms must be at least 10000',
    'Full-history forked agents inherit the parent agent type; omit agent_type, or spawn without a full-history fork.',
    "resources/list failed: unknown MCP server 'nonexistent'",
    'Wall time: 0.6539 seconds\nOutput:\n{"error":"GitHub API error 403: no access"}',
  ];
  const answers = ['{"agent_id":"a1"}', 'Wall time: 0.6539 seconds\nOutput:\n{"url":"https://x/pull/1"}'];
  const results = [...failures, ...answers];
  const calls = results.flatMap((result, index) => [call(`c${index}`), output(`c${index}`, result)]);
  const { runs } = importLines(codexRolloutImporter, [meta(), ...calls]);
  expect(runs[0]?.ends.map((end) => end.is_error)).toEqual(results.map((_, index) => index < failures.length));
});

test("a subagent's rollout names its parent, and the copy of another rollout in a fork does not rename it", () => {
  const spawned = { source: { subagent: { thread_spawn: { parent_thread_id: 't0', agent_role: 'explorer' } } } };
  const { runs } = importLines(codexRolloutImporter, [meta(spawned), meta({ id: 't0' }), message('user', 'Look.')]);
  expect(runs.map(({ run }) => run)).toMatchObject([
    { id: 't1', parentId: 't0', agentName: 'explorer', task: 'Look.' },
  ]);
});

const final = item({
  type: 'message',
  role: 'assistant',
  phase: 'final_answer',
  content: [{ type: 'output_text', text: 'x' }],
});

test.each([
  [
    [final, event({ type: 'task_complete', last_agent_message: 'x' })],
    ['ended', 'answered'],
  ],
  [
    [final, event({ type: 'token_count', info: null })],
    ['ended', 'answered'],
  ],
  [[final, event({ type: 'task_started' }), message('user', 'Go on.')], []],
  [[message('assistant', 'I look.'), call('a')], []],
  [[event({ type: 'task_complete', last_agent_message: null })], ['ended', 'no_answer']],
  [
    [
      event({ type: 'token_count', info: null, rate_limits: { primary: null, credits: { has_credits: false } } }),
      event({ type: 'task_complete', last_agent_message: null }),
    ],
    ['error', 'credit'],
  ],
  [[event({ type: 'task_complete', error: { message: 'bad request' } })], ['error', undefined]],
  [
    [event({ type: 'error', message: 'bad request' }), event({ type: 'task_complete', last_agent_message: null })],
    ['error', undefined],
  ],
  [
    [
      event({
        type: 'task_complete',
        last_agent_message: null,
        error: { message: 'exceeded retry limit', codex_error_info: { failed_attempts: { http_status_code: 429 } } },
      }),
    ],
    ['error', 'rate_limit'],
  ],
  [
    [
      event({ type: 'error', message: 'exceeded retry limit, last status: 401 Unauthorized' }),
      event({ type: 'task_complete', last_agent_message: null }),
    ],
    ['error', 'login'],
  ],
  [[event({ type: 'turn_aborted', reason: 'interrupted' })], ['aborted', 'interrupted']],
  [[event({ type: 'task_started' })], []],
])('a rollout that ends with %j has the end %j', (last, expected) => {
  const { runs } = importLines(codexRolloutImporter, [meta(), message('user', 'Go.'), ...last]);
  const ended = runs[0]?.payloads.find((payload) => payload.kind === 'run_ended');
  expect(ended === undefined ? [] : [ended.outcome, ended.reason]).toEqual(expected);
});

test.each([
  ['Quota exceeded. Check your plan and billing details.', 'credit'],
  ["You've hit your usage limit. Try again at 3:14 AM.", 'rate_limit'],
  ['You exceeded your current quota, please check your plan and billing details. Please retry in 34s.', 'rate_limit'],
])('a request that was refused with "%s" ends the run by its %s', (said, reason) => {
  const failed = event({ type: 'task_complete', error: { message: said, codex_error_info: 'usage_limit_exceeded' } });
  const { runs } = importLines(codexRolloutImporter, [meta(), failed]);
  expect(runs[0]?.payloads.find(({ kind }) => kind === 'run_ended')).toMatchObject({ reason });
});

test('a compaction is a record, and the history that replaces the old one is not read again', () => {
  const history = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] }];
  const compacted = { timestamp: at, type: 'compacted', payload: { message: '', replacement_history: history } };
  const { runs } = importLines(codexRolloutImporter, [meta(), message('user', 'Go.'), call('a'), compacted]);
  expect(runs[0]?.payloads.map(({ kind }) => kind)).toEqual([
    'message_appended',
    'turn_started',
    'message_appended',
    'tool_started',
    'compaction',
    'tool_ended',
  ]);
});

test('a turn of exec that failed is one failure, not two', () => {
  const { runs } = importLines(codexExecImporter, [
    { type: 'thread.started', thread_id: 't1' },
    { type: 'turn.started' },
    { type: 'error', message: 'bad request' },
    { type: 'turn.failed', error: { message: 'bad request' } },
  ]);
  const failures = runs[0]?.payloads.filter((payload) => payload.kind === 'message_appended');
  expect(failures).toMatchObject([{ message: { error_message: 'bad request' } }]);
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'error' });
});

const forkMeta = (id: string, more: object = {}): object => ({
  type: 'session_meta',
  payload: { id, session_id: id, cwd: '/w', ...more },
});
const own = (payload: object, type = 'response_item'): object => ({
  timestamp: '2026-10-13T00:00:00.000Z',
  type,
  payload,
});
const turn = (turn_id: string): object => own({ turn_id, model: 'm' }, 'turn_context');
const said = (text: string): object => own({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const command = (call_id: string, printed: unknown): readonly object[] => [
  own({
    type: 'custom_tool_call',
    name: 'exec',
    call_id,
    input: `const r = await tools.exec_command({cmd:"npm test"}); text(JSON.stringify(r));`,
  }),
  own({ type: 'custom_tool_call_output', call_id, output: printed }),
];
const script = (state: string, ...texts: readonly string[]): readonly object[] =>
  [`Script ${state}\nWall time 1.0 seconds\nOutput:\n`, ...texts].map((text) => ({ type: 'input_text', text }));

test('history that a fork copies is not its own, whatever times it has', () => {
  const parent = '019a1000-0000-7000-8000-00000000aaaa';
  const copied = [turn('019a0000-0000-7000-8000-000000000001'), said('The old task'), ...command('c1', 'exit 1')];
  for (const more of [{ forked_from_id: parent }, {}]) {
    const { runs, diagnostics } = importLines(codexRolloutImporter, [
      forkMeta('019a2000-0000-7000-8000-00000000bbbb', more),
      forkMeta(parent),
      ...copied,
      turn('019a2000-1111-7000-8000-000000000002'),
      said('Only update the README'),
      ...command('c2', script('completed', '{"exit_code":0,"output":"ok"}')),
    ]);
    expect(runs.map(({ run, calls }) => [run.task, calls.length])).toEqual([['Only update the README', 1]]);
    expect(diagnostics[0]?.message).toContain('copied from the session that it was forked from');
  }
});

test('a script of the code mode shows its command, the output and the exit code', () => {
  const { runs } = importLines(codexRolloutImporter, [
    forkMeta('019a2000-0000-7000-8000-00000000bbbb'),
    ...command('c1', script('completed', '{"exit_code":1,"output":"FAIL total","wall_time_seconds":1}')),
    ...command('c2', script('failed', 'Script error:\napply_patch verification failed')),
    ...command('c3', script('completed', '{"exit_code":0,"output":"ok"}')),
  ]);
  expect(runs[0]?.calls[0]).toMatchObject({ tool_name: 'exec_command', args: { cmd: 'npm test' } });
  expect(runs[0]?.ends.map(({ is_error, result }) => [is_error, result])).toEqual([
    [true, 'FAIL total'],
    [true, 'Script error:\napply_patch verification failed'],
    [false, 'ok'],
  ]);
});

test('a patch that could not be written has failed', () => {
  const text = 'execution error: Io(Os { code: 2, kind: NotFound, message: "No such file or directory" })';
  const { runs } = importLines(codexRolloutImporter, [
    forkMeta('019a2000-0000-7000-8000-00000000bbbb'),
    own({ type: 'custom_tool_call', name: 'apply_patch', call_id: 'p', input: '*** Begin Patch' }),
    own({ type: 'custom_tool_call_output', call_id: 'p', output: text }),
  ]);
  expect(runs[0]?.ends).toMatchObject([{ is_error: true, result: text }]);
});

test('a script of the code mode is its commands, or the poll of one', () => {
  const written = (input: string): object => own({ type: 'custom_tool_call', name: 'exec', call_id: input, input });
  const { runs } = importLines(codexRolloutImporter, [
    forkMeta('019a2000-0000-7000-8000-00000000bbbb'),
    written('await Promise.all([tools.exec_command({"cmd":"npm test"}), tools.exec_command({ cmd: "npm run lint" })])'),
    written('text((await tools.write_stdin({session_id:7, chars:"", yield_time_ms:1000})).output)'),
    written('const r = await tools.exec_command({cmd:"ls"}); await tools.apply_patch(p)'),
  ]);
  expect(runs[0]?.calls.map(({ args, tool_name: name }) => [name, args])).toMatchObject([
    ['exec_command', { cmd: 'npm test\nnpm run lint' }],
    ['write_stdin', { session_id: 7, chars: '' }],
    ['exec', {}],
  ]);
});

test('threads that were appended to one log are runs of their own', () => {
  const thread = (thread_id: string): object => ({ type: 'thread.started', thread_id });
  const failed = { type: 'turn.failed', error: { message: "You've hit your usage limit." } };
  const { runs } = importLines(codexExecImporter, [
    thread('a'),
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'Done.' } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
    ...['b', 'c'].flatMap((id) => [thread(id), { type: 'turn.started' }, failed]),
  ]);
  const ends = runs.map(({ run, payloads }) => {
    const ended = payloads.find((payload) => payload.kind === 'run_ended');
    return [run.id, ended?.outcome, ended?.reason];
  });
  expect(ends).toEqual([
    ['a', 'ended', 'answered'],
    ['b', 'error', 'rate_limit'],
    ['c', 'error', 'rate_limit'],
  ]);
});

test('each tenth of a limit is recorded from the half of it, with the time at which it resets', () => {
  const counted = (total: number, used: number, reset: object) =>
    event({
      type: 'token_count',
      info: { total_token_usage: { total_tokens: total }, last_token_usage: { input_tokens: 1, total_tokens: 1 } },
      rate_limits: { primary: { used_percent: used, window_minutes: 300, ...reset }, secondary: null },
    });
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('user', 'Go on.'),
    message('assistant', 'one'),
    counted(1, 49, { resets_at: 1_781_750_650 }),
    message('assistant', 'two'),
    counted(2, 91.5, { resets_at: 1_781_750_650 }),
    message('assistant', 'three'),
    counted(3, 93, { resets_at: 1_781_750_650 }),
  ]);
  const payloads = runs[0]?.payloads ?? [];
  expect(payloads.filter(({ kind }) => kind === 'session_event')).toEqual([
    {
      kind: 'session_event',
      event_type: 'limit_used',
      data: { used_percent: 91.5, window_minutes: 300, resets_at_unix_ms: 1_781_750_650_000 },
    },
  ]);
  expect(payloads.filter(({ kind }) => kind === 'message_appended')).toHaveLength(4);
});

test('a command that failed in the sandbox is an error, unless it searched and found nothing', () => {
  const failed = (id: string, cmd: string, code: number) => [
    item({
      type: 'function_call',
      name: 'shell',
      arguments: JSON.stringify({ command: ['bash', '-lc', cmd] }),
      call_id: id,
    }),
    output(
      id,
      `failed in sandbox MacosSeatbelt with execution error: sandbox denied exec error, exit code: ${code}, stdout: , stderr: `,
    ),
  ];
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('user', 'Fix the bug.'),
    ...failed('c1', 'tsc --noEmit', 2),
    ...failed('c2', 'rg -n total', 1),
  ]);
  const ended = runs[0]?.payloads.flatMap((one) => (one.kind === 'tool_ended' ? [one.is_error] : []));
  expect(ended).toEqual([true, false]);
});

test('a command took the time that Codex prints, without the wait for a permission', () => {
  const results = [
    'Wall time: 0.5 seconds\nProcess exited with code 0\nOutput:\nok',
    'Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n',
  ];
  const { runs } = importLines(codexRolloutImporter, [
    meta(),
    message('user', 'Go.'),
    ...results.flatMap((text, index) => [call(`c${index}`), output(`c${index}`, text)]),
  ]);
  const times = runs[0]?.payloads.flatMap((one) => (one.kind === 'tool_ended' ? [one.duration_ms] : []));
  expect(times).toEqual([500, undefined]);
});
