import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { logFault } from '../src/core/node/fault-log.ts';
import { addHooks } from '../src/hosts/claude-code/edit-settings.ts';
import { hookCommand, hookGroups } from '../src/hosts/claude-code/init-hooks.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli, type CliResult } from './run-cli.ts';
import { storeFileOf, trustAs } from './user-state.ts';
import { existsSync } from 'node:fs';

/** As `scripts/test-programs.ts` bundled it. */
const HOOK = join(process.env['COXSWAIN_BUILT'] ?? 'dist', 'hook.cjs');
/** The places of the tests share the compiled code of the hook. */
const CACHE = testFolder();

interface Line {
  readonly check: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

let root: string;
let project: string;
let env: Readonly<Record<string, string>>;
let command: string;

beforeEach(async () => {
  root = testFolder();
  project = join(root, 'project');
  await mkdir(join(project, '.git'), { recursive: true });
  await mkdir(join(project, '.claude'));
  const home = join(root, 'home');
  await mkdir(join(home, '.claude'), { recursive: true });
  env = {
    HOME: home,
    PATH: '/usr/bin:/bin',
    XDG_CACHE_HOME: CACHE,
    XDG_STATE_HOME: '',
    XDG_CONFIG_HOME: '',
    CLAUDE_PROJECT_DIR: '',
    CLAUDE_CONFIG_DIR: '',
  };
  command = hookCommand(process.execPath, HOOK);
});

/** Into the user's own settings, unless another file is named. */
async function settings(text: string, file = join(env['HOME'] ?? '', '.claude/settings.json')): Promise<void> {
  await writeFile(file, text);
}

async function doctor(more: Readonly<Record<string, string>> = {}): Promise<{
  readonly code: CliResult['code'];
  readonly lines: readonly Line[];
  readonly of: (check: string) => Line | undefined;
}> {
  const { code, stderr, stdout } = await runCli(['doctor', '--json'], { cwd: project, env: { ...env, ...more } });
  expect(stderr).toBe('');
  // The command's own answer; a line of another form fails the test that looks at it.
  const lines = jsonLines(stdout)[0]?.['lines'] as readonly Line[];
  return { code, lines, of: (check) => lines.find((line) => line.check === check) };
}

function tell(event: Readonly<Record<string, unknown>>): void {
  const input = JSON.stringify({ session_id: 'session-1', cwd: project, ...event });
  const done = spawnSync(command, { shell: true, input, cwd: project, env: { ...process.env, ...env } });
  expect([done.status, String(done.stderr)]).toEqual([0, '']);
}

test('an event is sent through the configured hook command and leaves no trace', async () => {
  await settings(addHooks('', hookGroups(command)));
  const { code, lines, of } = await doctor();
  expect(of('hook alive')).toMatchObject({ status: 'pass' });
  expect(of('hooks')).toMatchObject({ status: 'pass' });
  expect(of('heartbeat')).toMatchObject({ status: 'unknown' });
  expect(lines.filter(({ status }) => status === 'fail')).toEqual([]);
  expect(code).toBe(0);
  const store = sqliteStore(storeFileOf({ project, env }));
  expect((await store.listRuns()).runs).toEqual([]);
  expect((await store.search({ text: 'doctor' })).hits).toEqual([]);
  await store.close();
});

test('without hooks, store and claude every check is unknown and nothing is created', async () => {
  const { code, of } = await doctor();
  for (const check of ['hooks', 'heartbeat', 'store', 'claude']) expect(of(check)).toMatchObject({ status: 'unknown' });
  expect(of('hook alive')).toBeUndefined();
  expect(code).toBe(0);
  expect(existsSync(storeFileOf({ project, env }))).toBe(false);
  const { stdout } = await runCli(['doctor'], { cwd: project, env });
  expect(stdout).toMatch(/\n\nNo hook was found\. First: Run coxswain init [^\n]+\n$/);
});

test('where only programs record, no hook and no agent program is asked for', async () => {
  const store = sqliteStore(storeFileOf({ project, env }));
  const cox = createCoxswain({ store });
  await cox.startRun().end();
  await cox.close();
  const { code, lines, of } = await doctor();
  expect(code).toBe(0);
  for (const check of ['hooks', 'claude']) expect(of(check)).toBeUndefined();
  expect(of('heartbeat')).toMatchObject({
    status: 'pass',
    found: expect.stringMatching(/^a program recorded .* ago$/),
  });
  expect(lines.filter(({ fix }) => fix?.includes('init'))).toEqual([]);
  const { stdout } = await runCli(['doctor'], { cwd: project, env });
  expect(stdout).toMatch(/\n\nAll is well: sessions of this project are recorded\.\n$/);
  // A user who also runs an agent program is told about its hook.
  const session = join(env['HOME'] ?? '', '.claude/projects/-other/session-1.jsonl');
  await mkdir(dirname(session), { recursive: true });
  await writeFile(session, '{"type":"user","timestamp":"2026-05-01T00:00:00Z"}\n');
  expect((await doctor()).of('hooks')).toMatchObject({ status: 'unknown' });
});

test('a home that cannot be written is a problem of the store and of the state folder', async () => {
  await writeFile(join(root, 'file'), '');
  const { code, of } = await doctor({ HOME: join(root, 'file', 'home') });
  expect(code).toBe(1);
  for (const check of ['store', 'state folder'])
    expect(of(check)).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('file is not a folder'),
      fix: expect.stringContaining('set HOME, XDG_DATA_HOME or XDG_STATE_HOME'),
    });
});

test('recorded hook events count as a heartbeat, and the canary does not', async () => {
  await settings(addHooks('', hookGroups(command)));
  tell({ hook_event_name: 'UserPromptSubmit', prompt: 'make the tests pass' });
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'call-1' };
  tell({ hook_event_name: 'PreToolUse', ...call });
  tell({ hook_event_name: 'PostToolUse', ...call, tool_response: { stdout: 'a.ts', stderr: '' } });
  const { code, of } = await doctor();
  const { status, found } = of('heartbeat') ?? {};
  expect(status).toBe('pass');
  const [seen, missing] = found?.split('; not seen, although most sessions have them: ') ?? [];
  for (const event of ['UserPromptSubmit', 'PreToolUse', 'PostToolUse']) expect(seen).toContain(event);
  // Other events are rare, such as a compaction, or leave no record, such as a notification.
  expect(missing).toBe('PostToolBatch, Stop, SessionEnd');
  expect(code).toBe(0);
});

test('a session that went on after the last record is a problem: its hook was silent', async () => {
  await settings(addHooks('', hookGroups(command)));
  tell({ hook_event_name: 'UserPromptSubmit', prompt: 'make the tests pass' });
  const folder = join(env['HOME'] ?? '', '.claude/projects/-p');
  await mkdir(folder, { recursive: true });
  const write = async (name: string, cwd: string, laterMs: number, fileLaterMs = laterMs): Promise<void> => {
    const timestamp = new Date(Date.now() + laterMs).toISOString();
    const entry = { type: 'user', cwd, timestamp, message: { role: 'user', content: 'x' } };
    await writeFile(join(folder, name), `${JSON.stringify(entry)}\n`);
    const fileTime = new Date(Date.now() + fileLaterMs);
    await utimes(join(folder, name), fileTime, fileTime);
  };
  await write('recorded.jsonl', project, 60_000);
  await write('elsewhere.jsonl', root, 7_200_000);
  await write('restored.jsonl', project, -7_200_000, 7_200_000);
  expect((await doctor()).of('heartbeat')).toMatchObject({ status: 'pass' });
  await write('silent.jsonl', project, 3_600_000);
  const { code, of } = await doctor();
  expect(of('heartbeat')).toMatchObject({ status: 'fail', found: expect.stringContaining('silent.jsonl') });
  expect(code).toBe(1);
});

test('a hook whose files have moved fails with a fix', async () => {
  await settings(addHooks('', hookGroups(hookCommand(process.execPath, join(root, 'gone', 'hook.cjs')))));
  const { code, of } = await doctor();
  expect(of('hook paths')).toMatchObject({ status: 'fail', fix: expect.stringContaining('coxswain init') });
  expect(of('hook paths')?.found).toContain(join('gone', 'hook-main.cjs'));
  // The missing files explain why nothing is recorded.
  expect(of('hook alive')).toBeUndefined();
  expect(code).toBe(1);
});

test('in a linked work tree, the settings of the main one count, as for Claude Code', async () => {
  const git = join(project, '.git');
  const tree = join(root, 'tree');
  await mkdir(join(git, 'worktrees/wt'), { recursive: true });
  await mkdir(tree);
  await writeFile(join(git, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(git, 'worktrees/wt/commondir'), '../..\n');
  await writeFile(join(git, 'worktrees/wt/gitdir'), `${join(tree, '.git')}\n`);
  await writeFile(join(tree, '.git'), `gitdir: ${join(git, 'worktrees/wt')}\n`);
  await settings(addHooks('', hookGroups(command)), join(project, '.claude/settings.local.json'));
  const { stdout } = await runCli(['doctor', '--json'], { cwd: tree, env });
  const lines = jsonLines(stdout)[0]?.['lines'] as readonly Line[];
  expect(lines.find(({ check }) => check === 'hooks')).toMatchObject({ status: 'pass' });
});

test('a file that is not a store fails with the reason from the log, and is not changed', async () => {
  await settings(addHooks('', hookGroups(command)));
  const file = storeFileOf({ project, env });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, 'this is a poem, not a database; '.repeat(200), { mode: 0o600 });
  const before = await readFile(file);
  const { code, of } = await doctor();
  expect(of('hook alive')).toMatchObject({ status: 'fail', found: expect.stringContaining('not an SQLite database') });
  expect(of('store contents')).toMatchObject({ status: 'fail' });
  expect(of('heartbeat')).toMatchObject({ status: 'fail' });
  // Its own event met it: that is the line about the hook.
  expect(of('faults')).toMatchObject({ status: 'pass' });
  expect(code).toBe(1);
  expect(await readFile(file)).toEqual(before);
});

test('a damaged store is the first problem, its repair is named, and afterwards it is a fault of the past without a trace of the test event', async () => {
  await settings(addHooks('', hookGroups(command)));
  const file = storeFileOf({ project, env });
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, 'this is a poem, not a database; '.repeat(200), { mode: 0o600 });
  tell({ hook_event_name: 'UserPromptSubmit', prompt: 'make the tests pass' });
  const { stdout } = await runCli(['doctor'], { cwd: project, env });
  expect(stdout).toMatch(
    /First: contents of the store\. Move it away: mv \S+\.db \S+\.db\.damaged\. The next event begins a new store and records what is spilled\.\n$/,
  );
  expect(stdout).not.toContain('Run coxswain init');
  await rename(file, `${file}.damaged`);
  tell({ hook_event_name: 'UserPromptSubmit', prompt: 'go on' });
  const { code, of } = await doctor();
  expect(of('faults')).toMatchObject({ status: 'unknown', fix: expect.stringContaining('Nothing is wrong now.') });
  expect(code).toBe(0);
  const { stdout: closing } = await runCli(['doctor'], { cwd: project, env });
  expect(closing).toMatch(/\n\nAll is well: sessions of this project are recorded\.\n$/);
  const store = sqliteStore(file);
  expect((await store.listRuns()).runs.map(({ runId }) => runId)).toEqual(['session-1']);
  await store.close();
});

test('records of an earlier version in the project are reported and not opened', async () => {
  await mkdir(join(project, '.coxswain'));
  await writeFile(join(project, '.coxswain', 'runs.db'), 'no store');
  const { code, of } = await doctor();
  expect(of('old records')).toMatchObject({
    status: 'unknown',
    fix: expect.stringContaining('coxswain import .coxswain/runs.db'),
  });
  expect(code).toBe(0);
});

test('session files that Claude Code deletes soon are reported, unless its settings say when', async () => {
  const file = join(env['HOME'] ?? '', '.claude', 'projects', '-p', 'old.jsonl');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '{}');
  expect((await doctor()).of('old sessions')).toBeUndefined();
  const atS = Date.now() / 1_000 - 26 * 86_400;
  await utimes(file, atS, atS);
  expect((await doctor()).of('old sessions')).toMatchObject({
    status: 'unknown',
    found: expect.stringContaining('1 session file of Claude Code is older than 25 days'),
    fix: expect.stringContaining('cleanupPeriodDays'),
  });
  await settings('{ "cleanupPeriodDays": 365 }');
  expect((await doctor()).of('old sessions')).toBeUndefined();
});

test('disabled, incomplete or unreadable hooks fail', async () => {
  await settings(addHooks('', hookGroups(command)));
  const off = await doctor({ COXSWAIN_DISABLE: '1' });
  expect(off.lines.filter(({ status }) => status === 'fail').map(({ check }) => check)).toEqual(['enabled']);
  await settings(addHooks('{ "disableAllHooks": true }', hookGroups(command)));
  expect((await doctor()).of('settings (user)')).toMatchObject({ status: 'fail' });
  await settings(JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }));
  expect((await doctor()).of('hooks')).toMatchObject({
    status: 'fail',
    found: expect.stringContaining('PostToolBatch'),
  });
  await settings('{ "hooks": [', join(project, '.claude/settings.local.json'));
  const { code, of } = await doctor();
  expect(of('settings (local)')).toMatchObject({ status: 'fail' });
  expect(code).toBe(1);
});

test('a readable store, a wrong configuration and an untrusted one are reported', async () => {
  tell({ hook_event_name: 'UserPromptSubmit', prompt: 'hello' });
  await chmod(storeFileOf({ project, env }), 0o644);
  await writeFile(
    join(project, 'coxswain.config.json'),
    JSON.stringify({ deadlin: '45m', completion: { command: ['true'] } }),
  );
  const { code, of } = await doctor();
  expect(of('store permissions')).toMatchObject({ status: 'fail', fix: expect.stringContaining('chmod') });
  expect(of('configuration')).toMatchObject({ status: 'pass' });
  expect(of('trust')).toMatchObject({ status: 'unknown', found: expect.stringContaining('coxswain trust') });
  expect(code).toBe(1);
  trustAs({ project, env });
  const trusted = await doctor();
  expect(trusted.of('configuration')).toMatchObject({ status: 'fail', found: expect.stringContaining('deadline') });
  expect(trusted.of('trust')).toBeUndefined();
});

test('a hook that may come from the repository is shown and neither run nor contacted', async () => {
  const ran = join(root, 'ran');
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end();
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  const url = `http://127.0.0.1:${port}/coxswain-hook`;
  const commands = [
    `touch ${ran}; true coxswain-hook`,
    `${command.replace(/ coxswain-hook$/, '')}; touch ${ran} coxswain-hook`,
  ];
  const hooks = [{ type: 'http', url }, ...commands.map((line) => ({ type: 'command', command: line }))];
  for (const name of ['settings.json', 'settings.local.json']) {
    await settings(JSON.stringify({ hooks: { PostToolUse: [{ hooks }] } }), join(project, '.claude', name));
  }
  const { lines } = await doctor();
  await new Promise((resolve) => server.close(resolve));
  expect(requests).toEqual([]);
  expect(await readdir(root)).not.toContain('ran');
  const notTried = lines.filter(({ check, found }) => check === 'hook alive' && found.startsWith('not tried'));
  expect(notTried.map(({ status }) => status)).toEqual(Array.from({ length: 2 }, () => 'unknown'));
});

test('the terminal shows one line per check, its fix, a summary, and with --adapters their capabilities', async () => {
  await settings(addHooks('', hookGroups(hookCommand(process.execPath, '/gone/\u001b[31m/hook.cjs'))));
  const { code, stdout } = await runCli(['doctor'], { cwd: project, env });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ok {7}Node {2,}v/m);
  expect(stdout).toMatch(/^problem {2}files of the hook .*\n +Run coxswain init claude-code --user again/m);
  expect(stdout).toMatch(/\n\n1 problem in this project\. First: files of the hook\. Run coxswain init [^\n]+\n$/);
  expect((await runCli(['doctor', '--adapters'], { cwd: project, env })).stdout).toContain('ai-sdk');
  expect(stdout).not.toContain('\u001b');
});

test('a fault of this project is a problem with its log; one of another project is only listed', async () => {
  const place = { env, nowMs: Date.now(), homeFolder: env['HOME'] };
  logFault({ where: 'store', message: 'of another project' }, place);
  const before = await doctor();
  expect(before.of('faults')).toMatchObject({ status: 'pass', found: 'none' });
  const elsewhere = before.of('faults elsewhere');
  expect(elsewhere).toMatchObject({ status: 'unknown', found: expect.stringContaining('of another project') });
  expect(before.code).toBe(0);
  logFault({ where: 'store', message: 'of this one' }, { ...place, projectFolder: project });
  const { code, of } = await doctor();
  expect(of('faults')).toMatchObject({ status: 'fail', found: expect.stringContaining('of this one') });
  expect(code).toBe(1);
  for (const line of [elsewhere, of('faults')]) {
    const file = /\/\S+\.jsonl/.exec(line?.fix ?? '')?.[0] ?? '';
    expect(await readFile(file, 'utf8')).toContain('"where":"store"');
  }
});

test('users of another program do not need Claude Code, and the summary says if sessions are recorded', async () => {
  const hook = await runCli(['init', 'gemini', '--user', '--yes'], { cwd: project, env });
  expect(hook.code).toBe(0);
  expect((await doctor()).of('claude')).toBeUndefined();
  const { stdout } = await runCli(['doctor'], { cwd: project, env });
  expect(stdout).toMatch(/\n\nNo problem found\. No session of this project is recorded yet\.\n$/);
  tell({ hook_event_name: 'UserPromptSubmit', prompt: 'hello' });
  const after = await runCli(['doctor'], { cwd: project, env });
  expect(after.stdout).toMatch(/\n\nAll is well: sessions of this project are recorded\.\n$/);
});
