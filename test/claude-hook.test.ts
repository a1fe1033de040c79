import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

import { endWithTest } from './support/end-with-test.ts';
import { putHook } from './support/built-hook.ts';
import { viewOf } from '../src/core/facts/run-view.ts';
import { stateFile } from '../src/core/node/state-places.ts';
import { loggedFaults, storeFileOf, trustAs } from './user-state.ts';
import { HANGS_AFTER_MS } from './support/hangs-after.ts';
import { testFolder } from './support/test-folder.ts';
import { storedRecords } from './support/stored-records.ts';

const built = testFolder();
/** The places share the compiled code of the hook. */
const CACHE = join(built, 'cache');

beforeAll(async () => {
  await putHook(built);
});

interface Place {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

function newPlace(): Place {
  const home = testFolder();
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  return {
    project,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CACHE_HOME: CACHE, CLAUDE_PROJECT_DIR: project },
  };
}

function hook({ env }: Place, input: string | Buffer): { readonly status: number | null; readonly stdout: string } {
  const ended = spawnSync(process.execPath, [join(built, 'hook.cjs')], { env, input, timeout: HANGS_AFTER_MS });
  return { status: ended.status, stdout: ended.stdout.toString() };
}

const event = (name: string, more: object = {}): string =>
  JSON.stringify({ session_id: 's1', hook_event_name: name, ...more });

const call = (id: string, command = 'npm test'): object => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
});

function turn(place: Place, id: string, stdout: string): string {
  hook(place, event('PreToolUse', call(id)));
  const answer = hook(place, event('PostToolUse', { ...call(id), tool_response: { stdout, stderr: '' } }));
  hook(place, event('PostToolBatch', { tool_calls: [{ ...call(id), tool_response: stdout }] }));
  return answer.stdout;
}

test('a repeated call is advised on, and only the owner can read the records', async () => {
  const place = newPlace();
  expect(hook(place, event('SessionStart', { source: 'startup', model: 'model-x' }))).toEqual({
    status: 0,
    stdout: '',
  });
  expect(hook(place, event('UserPromptSubmit', { prompt: 'Fix the build' })).status).toBe(0);
  expect(turn(place, 't1', 'up to date')).toBe('');
  expect(turn(place, 't2', 'up to date')).toBe('');
  const answer: unknown = JSON.parse(turn(place, 't3', 'up to date'));
  expect(answer).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PostToolUse',
      additionalContext: expect.stringContaining('You made the same call of Bash (npm) 3 times'),
    },
  });
  hook(place, event('SessionEnd', { reason: 'other' }));

  const all = await storedRecords(place);
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index));
  expect(all[0]?.payload).toMatchObject({
    kind: 'run_started',
    task: 'Fix the build',
    identity: { run_id: 's1', conversation_id: 's1', model_id: 'model-x' },
  });
  expect(all.filter(({ payload }) => payload.kind === 'tool_ended')).toHaveLength(3);
  expect(all.filter(({ payload }) => payload.kind === 'turn_started')).toHaveLength(3);
  expect(all.map(({ payload }) => payload)).toContainEqual(
    expect.objectContaining({ kind: 'feedback_delivered', delivered: true, channel: 'PostToolUse additionalContext' }),
  );
  expect(all.at(-1)?.payload).toMatchObject({ kind: 'run_ended', labels: { reason: 'other' } });

  const store = storeFileOf(place);
  expect(dirname(store)).toBe(join(place.env['HOME'] ?? '', '.local', 'share', 'coxswain'));
  expect(statSync(dirname(store)).mode & 0o777).toBe(0o700);
  expect(statSync(store).mode & 0o777).toBe(0o600);
  expect(readdirSync(place.project)).toEqual(['.git']);
  expect(loggedFaults(place)).toBe('');
});

test('a subagent is a run below its session, with the session`s deadline', async () => {
  const place = newPlace();
  writeFileSync(join(place.project, 'coxswain.config.json'), '{ "deadline": "45m" }');
  trustAs(place);
  hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  const agent = { agent_id: 'a1', agent_type: 'helper' };
  hook(place, event('SubagentStart', agent));
  hook(place, event('PreToolUse', { ...agent, ...call('c1') }));
  hook(place, event('PostToolUseFailure', { ...agent, ...call('c1'), error: 'Exit code 1' }));
  hook(place, event('SubagentStop', { ...agent, last_assistant_message: 'Done' }));
  hook(place, event('SubagentStop', { agent_id: 'internal', agent_type: '' }));

  const session = await storedRecords(place);
  const set = session.find(({ payload }) => payload.kind === 'deadline_set')?.payload;
  const child = await storedRecords(place, 's1/a1');
  expect(child[0]).toMatchObject({
    parent_run_id: 's1',
    depth: 1,
    payload: {
      identity: { agent_name: 'helper' },
      steering: { deadline_at_unix_ms: (set as { deadline_at_unix_ms?: number } | undefined)?.deadline_at_unix_ms },
    },
  });
  expect(child.at(-1)?.payload).toMatchObject({ kind: 'run_ended' });
  expect(await storedRecords(place, 's1/internal')).toEqual([]);
});

test('a session that continues after its end is the same run, resumed', async () => {
  const place = newPlace();
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  hook(place, event('SessionEnd', { reason: 'other' }));
  hook(place, event('SessionStart', { source: 'resume' }));
  hook(place, event('UserPromptSubmit', { prompt: 'Two' }));
  const kinds = (await storedRecords(place)).map(({ payload }) => payload);
  expect(kinds).toContainEqual({ kind: 'run_resumed', trigger: 'resume' });
  expect(kinds.filter(({ kind }) => kind === 'run_started')).toHaveLength(1);
});

test('a denied call ends with the text that the model read, an interrupted one without a result', async () => {
  const place = newPlace();
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  hook(place, event('PreToolUse', call('denied', 'rm x')));
  hook(
    place,
    event('PostToolBatch', { tool_calls: [{ ...call('denied', 'rm x'), tool_response: 'Permission denied.' }] }),
  );
  hook(place, event('PreToolUse', call('lost', 'sleep 9')));
  hook(place, event('Stop', { stop_hook_active: false, last_assistant_message: 'Stopped.' }));
  const ended = (await storedRecords(place)).flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : []));
  expect(ended).toEqual([
    expect.objectContaining({ tool_call_id: 'denied', is_error: true, result: 'Permission denied.' }),
    expect.objectContaining({ tool_call_id: 'lost', is_error: false, result_missing: true }),
  ]);
});

test('a hook that is installed twice records everything once', async () => {
  const place = newPlace();
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  for (let twice = 0; twice < 2; twice += 1) hook(place, event('PreToolUse', call('c1')));
  for (let twice = 0; twice < 2; twice += 1) {
    hook(place, event('PostToolUse', { ...call('c1'), tool_response: { stdout: 'ok', stderr: '' } }));
  }
  const kinds = (await storedRecords(place)).map(({ payload }) => payload.kind);
  expect(kinds.filter((kind) => kind === 'tool_started')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'tool_ended')).toHaveLength(1);
});

test('a failed completion check sends the agent back a limited number of times', async () => {
  const place = newPlace();
  const config = join(place.env['HOME'] ?? '', '.config', 'coxswain');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.json'), '{ "completion": { "files": ["result.txt"], "maxAttempts": 2 } }');
  hook(place, event('UserPromptSubmit', { prompt: 'Write result.txt' }));
  const stop = (): string => hook(place, event('Stop', { stop_hook_active: true })).stdout;
  const blocked = JSON.stringify({
    decision: 'block',
    reason:
      '[Completion Check]\n\nNot complete yet:\n- The file result.txt does not exist.\n\n→ Complete this, then stop.',
  });
  expect([stop(), stop(), stop(), stop()]).toEqual([blocked, blocked, '', '']);
  const checked = (await storedRecords(place)).flatMap(({ payload }) =>
    payload.kind === 'completion_checked' ? [payload] : [],
  );
  expect(checked.map(({ met, attempt, gave_up }) => [met, attempt, gave_up])).toEqual([
    [false, 1, undefined],
    [false, 2, undefined],
    [false, 3, true],
  ]);
});

test('a damaged state is rebuilt from the records', async () => {
  const place = newPlace();
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  turn(place, 't1', 'up to date');
  turn(place, 't2', 'up to date');
  const database = new DatabaseSync(storeFileOf(place));
  database.exec("UPDATE snapshots SET json = '{ not json'");
  database.close();
  expect(turn(place, 't3', 'up to date')).toContain('3 times');
  expect(loggedFaults(place)).toContain('rebuilt');
});

test.each([
  ['nothing', ''],
  ['no JSON', 'hello'],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
  ['a list', '[]'],
  ['an unknown event', event('SomethingNew')],
  ['an event without its call', event('PreToolUse')],
])('%s on standard input is a logged fault without effect on the agent', (_name, input) => {
  const place = newPlace();
  expect(hook(place, input)).toEqual({ status: 0, stdout: '' });
  expect(loggedFaults(place)).toContain('"where":"input"');
});

test('a result of one megabyte is recorded', async () => {
  const place = newPlace();
  const stdout = 'x'.repeat(1_000_000);
  expect(hook(place, event('PostToolUse', { ...call('big'), tool_response: { stdout, stderr: '' } })).status).toBe(0);
  const ended = (await storedRecords(place)).find(({ payload }) => payload.kind === 'tool_ended')?.payload;
  expect(ended).toMatchObject({ result: stdout });
});

test('a damaged store, or a folder in its place, is a logged fault without effect on the agent', () => {
  const damaged = newPlace();
  mkdirSync(dirname(storeFileOf(damaged)), { recursive: true });
  writeFileSync(storeFileOf(damaged), 'this is no database, but it is long enough to be looked at');
  expect(hook(damaged, event('UserPromptSubmit', { prompt: 'One' }))).toEqual({ status: 0, stdout: '' });
  expect(loggedFaults(damaged)).toContain('not an SQLite database');
  const folder = newPlace();
  mkdirSync(storeFileOf(folder), { recursive: true });
  expect(hook(folder, event('UserPromptSubmit', { prompt: 'One' }))).toEqual({ status: 0, stdout: '' });
  expect(loggedFaults(folder)).not.toBe('');
});

test('faults of a project are in the user`s folder', () => {
  const place = newPlace();
  mkdirSync(storeFileOf(place), { recursive: true });
  expect(hook(place, event('UserPromptSubmit', { prompt: 'One' }))).toEqual({ status: 0, stdout: '' });
  const file = stateFile('faults', { env: place.env, projectFolder: place.project });
  expect(file.startsWith(join(place.env['HOME'] ?? '', '.local', 'state', 'coxswain', 'projects'))).toBe(true);
  expect(readFileSync(file, 'utf8')).toContain('"event":"UserPromptSubmit"');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a store and a configuration from a repository are not used; the session reports it and loses nothing', async () => {
  const place = newPlace();
  const folder = join(place.project, '.coxswain');
  const precious = join(place.env['HOME'] ?? '', 'precious');
  writeFileSync(precious, 'precious');
  mkdirSync(folder);
  for (const name of ['runs.db', 'runs.db-wal', 'faults.jsonl', '.gitignore', 'init-claude-code.json']) {
    symlinkSync(precious, join(folder, name));
  }
  writeFileSync(
    join(place.project, 'coxswain.config.json'),
    JSON.stringify({ [`$(touch ${precious})`]: 1, mode: 'shadow', store: { address: '.coxswain/runs.db' } }),
  );
  const began = hook(place, event('SessionStart', { source: 'startup' }));
  expect(began.status).toBe(0);
  expect(JSON.parse(began.stdout)).toEqual({
    systemMessage: 'coxswain: coxswain.config.json is not trusted and ignored: read it, then run coxswain trust',
  });
  expect(hook(place, event('UserPromptSubmit', { prompt: 'One' }))).toEqual({ status: 0, stdout: '' });
  expect(turn(place, 't1', 'up to date') + turn(place, 't2', 'up to date')).toBe('');
  expect(turn(place, 't3', 'up to date')).toContain('3 times');
  expect(readFileSync(precious, 'utf8')).toBe('precious');
  expect(loggedFaults(place)).toBe('');
  expect((await storedRecords(place))[0]?.payload).toMatchObject({ kind: 'run_started' });
});

test('the work trees of a repository share its store, and removing one deletes no run', async () => {
  const place = newPlace();
  const git = (...args: readonly string[]): void => {
    const own = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    expect(spawnSync('git', [...own, ...args], { cwd: place.project, env: place.env }).status).toBe(0);
  };
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'x');
  git('worktree', 'add', '-q', '../tree');
  const tree = join(place.project, '..', 'tree');
  const below = join(tree, 'src');
  mkdirSync(below);
  for (const project of [place.project, tree, below]) {
    const env = { ...place.env, CLAUDE_PROJECT_DIR: project };
    hook({ ...place, env }, event('UserPromptSubmit', { prompt: 'One', session_id: `in ${project}` }));
  }
  git('worktree', 'remove', '--force', '../tree');
  for (const project of [place.project, tree, below])
    expect(await storedRecords(place, `in ${project}`)).not.toEqual([]);
  expect(readdirSync(place.project)).toEqual(['.git']);
});

test('a project that may not be written to is recorded like any other', async () => {
  const place = newPlace();
  chmodSync(place.project, 0o555);
  onTestFinished(() => chmodSync(place.project, 0o755));
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  expect(await storedRecords(place)).not.toEqual([]);
  expect(loggedFaults(place)).toBe('');
});

test('a message reports that nothing is recorded if the state folder is read-only', () => {
  const place = newPlace();
  writeFileSync(join(place.env['HOME'] ?? '', '.local'), '');
  const { status, stdout } = hook(place, event('SessionStart', { source: 'startup' }));
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ systemMessage: expect.stringContaining('records nothing') });
});

test('an error in a configuration is logged once, and the rest applies', async () => {
  const place = newPlace();
  writeFileSync(join(place.project, 'coxswain.config.json'), '{ "deadlin": "45m", "mode": "shadow" }');
  trustAs(place);
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  hook(place, event('PreToolUse', call('c1')));
  expect(loggedFaults(place).trim().split('\n')).toHaveLength(1);
  expect((await storedRecords(place))[0]?.payload).toMatchObject({ steering: { mode: 'shadow' } });
});

test('a lock of another process does not block the agent', () => {
  const place = newPlace();
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  const database = new DatabaseSync(storeFileOf(place));
  database.exec('BEGIN IMMEDIATE');
  try {
    expect(hook(place, event('PreToolUse', call('c1')))).toEqual({ status: 0, stdout: '' });
  } finally {
    database.exec('ROLLBACK');
    database.close();
  }
  expect(loggedFaults(place)).toContain('locked');
});

test('standard input that never ends does not block the agent, and a whole event on it counts', async () => {
  const [whole, half] = [newPlace(), newPlace()];
  const run = async (place: Place, input: string): Promise<number | null> => {
    const child = spawn(process.execPath, [join(built, 'hook.cjs')], {
      env: place.env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    endWithTest(child);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdin.write(input);
    const code = await ended;
    child.stdin.destroy();
    return code;
  };
  const codes = [run(whole, event('UserPromptSubmit', { prompt: 'One' })), run(half, '{ "half": ')];
  expect(await Promise.all(codes)).toEqual([0, 0]);
  expect(await storedRecords(whole)).not.toEqual([]);
  expect(loggedFaults(half)).toContain('not a JSON object');
});

test('COXSWAIN_DISABLE=1 turns everything off', () => {
  const place = newPlace();
  const off = { ...place, env: { ...place.env, COXSWAIN_DISABLE: '1' } };
  expect(hook(off, event('UserPromptSubmit', { prompt: 'One' }))).toEqual({ status: 0, stdout: '' });
  expect(existsSync(storeFileOf(place))).toBe(false);
});

test('the code cache is readable for its owner only, and is rebuilt if it is truncated', () => {
  const shared = newPlace();
  const place: Place = { ...shared, env: { ...shared.env, XDG_CACHE_HOME: '' } };
  hook(place, event('UserPromptSubmit', { prompt: 'One' }));
  const folder = join(place.env['HOME'] ?? '', '.cache', 'coxswain');
  const [name = ''] = readdirSync(folder);
  const file = join(folder, name);
  const whole = readFileSync(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, whole.subarray(0, whole.length / 2));
  expect(hook(place, event('PreToolUse', call('c1')))).toEqual({ status: 0, stdout: '' });
  expect(statSync(file).size).toBeGreaterThan(whole.length / 2);
  chmodSync(file, 0o666);
  expect(hook(place, event('PreToolUse', call('c2'))).status).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a session that the model ended, or whose process was ended, is recorded with the reason', async () => {
  const place = newPlace();
  hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  hook(
    place,
    event('StopFailure', { error: 'rate_limit', last_assistant_message: 'API Error: Request rejected (429)' }),
  );
  hook(place, event('SessionEnd', { reason: 'other' }));
  const ends = async (): Promise<readonly object[]> =>
    (await storedRecords(place)).flatMap(({ payload }) => (payload.kind === 'run_ended' ? [payload] : []));
  expect(await ends()).toMatchObject([
    { outcome: 'error', reason: 'rate_limit', labels: { error: 'API Error: Request rejected (429)' } },
  ]);

  const transcript = join(place.project, 's1.jsonl');
  const stopped = { type: 'user', sessionId: 's1', message: { content: 'Go on' } };
  writeFileSync(transcript, `${JSON.stringify(stopped)}\n`);
  hook(place, event('UserPromptSubmit', { prompt: 'Go on' }));
  hook(place, event('SessionEnd', { reason: 'other', transcript_path: transcript }));
  expect((await ends()).at(-1)).toMatchObject({
    outcome: 'aborted',
    reason: 'killed',
    labels: { reason: 'other' },
  });
});

test('a session that asks for permission waits for it until the call goes on', async () => {
  const place = newPlace();
  hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  hook(place, event('PreToolUse', call('c1')));
  hook(place, event('PermissionRequest', { tool_name: 'Bash', tool_input: {} }));
  hook(place, event('Notification', { notification_type: 'idle_prompt', message: 'Claude is waiting' }));
  expect(viewOf(await storedRecords(place)).verdict.evidence).toMatch(/^waiting for permission to use Bash: \S/);
  expect(loggedFaults(place)).toBe('');
  hook(place, event('PostToolUse', { ...call('c1'), tool_response: 'x' }));
  expect(viewOf(await storedRecords(place)).verdict.evidence).toContain('no answer yet');
});
