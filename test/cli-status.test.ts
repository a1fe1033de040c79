import { spawn } from 'node:child_process';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { endWithTest } from './support/end-with-test.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { testFolder } from './support/test-folder.ts';
import { BIN, runCli } from './run-cli.ts';
import { storeFileOf, trustAs } from './user-state.ts';

let root: string;
let project: string;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  root = testFolder();
  project = join(root, 'project');
  await mkdir(join(project, '.git'), { recursive: true });
  env = { HOME: root, XDG_CONFIG_HOME: '', CLAUDE_PROJECT_DIR: '' };
});

/** Two runs: `first` in a loop, with a deadline and a subagent; `second` of two calls, with the latest record. */
async function record(store: TrajectoryStore): Promise<void> {
  const cox = createCoxswain({ store });
  const first = cox.startRun({ runId: 'first', deadline: { minutes: 45 } });
  for (let index = 0; index < 8; index += 1) call(first, index, 'make all');
  call(first.child({ runId: 'first/helper' }), 0, 'ls');
  const second = cox.startRun({ runId: 'second' });
  call(second, 0, 'ls');
  call(second, 1, 'pwd');
  await cox.close();
  await store.close();
}

function call(run: ReturnType<ReturnType<typeof createCoxswain>['startRun']>, index: number, command: string): void {
  const named = { toolCallId: `c${index}`, toolName: 'bash' };
  run.emit({ type: 'turn_start' });
  run.emit({ type: 'tool_execution_start', ...named, args: { command } });
  run.emit({ type: 'tool_execution_end', ...named, result: 'no rule for target all', isError: true });
}

async function status(args: readonly string[] = [], stdin = ''): Promise<string> {
  const { code, stderr, stdout } = await runCli(['status', ...args], { cwd: project, env, stdin });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

test('status shows the most recently active run, or the session named on standard input, also from a subfolder', async () => {
  await record(sqliteStore(storeFileOf({ project, env })));
  expect(await status()).toBe('cox 2 calls, 2 errors\n');
  const cwd = join(project, 'src');
  await mkdir(cwd);
  const session = JSON.stringify({ session_id: 'first', cwd, workspace: { project_dir: project } });
  expect(await status([], session)).toMatch(/^cox 8 calls, 8 errors, stuck for sure: [\w ]+, 44 minutes left\n$/);
  expect(await status(['--format', '{run} {calls} {level}'], session)).toBe('first 8 for sure\n');
  expect(JSON.parse(await status(['--json'], session))).toMatchObject({ runId: 'first', calls: 8, outcome: null });
  expect(await status([], JSON.stringify({ session_id: 'not yet', cwd }))).toBe('cox: no run\n');
  expect(await status(['--json'], JSON.stringify({ session_id: 'not yet', cwd }))).toBe('null\n');
});

test('a configured store is read', async () => {
  await writeFile(join(project, 'coxswain.config.json'), JSON.stringify({ store: { address: 'records.db' } }));
  trustAs({ project, env: { ...env, XDG_STATE_HOME: process.env['XDG_STATE_HOME'] ?? '' } });
  await record(sqliteStore(join(project, 'records.db')));
  expect(await status([], JSON.stringify({ session_id: 'first' }))).toContain('cox 8 calls, 8 errors');
  expect(await status()).toBe('cox 2 calls, 2 errors\n');
});

test('without a store, with a damaged one or with odd input it prints one line and creates nothing', async () => {
  expect(await status([], '\u0000 not JSON')).toBe('cox: no run\n');
  expect(await readdir(project)).toEqual(['.git']);
  const file = storeFileOf({ project, env });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, 'a poem, not a database '.repeat(100));
  expect(await status()).toMatch(/^cox: .*coxswain doctor/);
  expect(await status(['--format', '{calls}'])).toBe('\n');
  expect(JSON.parse(await status(['--json']))).toEqual({ problem: expect.any(String) });
  expect((await stat(file)).size).toBe(2_300);
});

test('a pipe without a writer does not delay it', async () => {
  const child = spawn(process.execPath, [BIN, 'status'], { cwd: project, env: { ...process.env, ...env } });
  endWithTest(child);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect([code, stdout]).toEqual([0, 'cox: no run\n']);
});

test('unknown flags are wrong usage, and --help prints the help', async () => {
  expect((await runCli(['status', '--loud'], { cwd: project, env })).code).toBe(2);
  expect((await runCli(['status', '--help'], { cwd: project, env })).stdout).toContain('--format');
});
