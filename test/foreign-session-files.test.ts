import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { useStoresFolder } from './cli-stores.ts';
import { homeOnly, type CliResult } from './run-cli.ts';

const here = useStoresFolder();
const NOW = new Date(Date.now() - 60_000).toISOString();

/** Writes a file of Claude Code's folder, whatever wrote it. */
function put(path: string, text: string): void {
  const file = join(here.cwd, 'home', '.claude', path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

function session(sessionId: string, cwd: string, timestamp = NOW): string {
  const common = { sessionId, cwd, timestamp };
  const content = [{ type: 'text', text: 'done' }];
  return [
    { ...common, type: 'user', uuid: '1', message: { role: 'user', content: `task of ${sessionId}` } },
    { ...common, type: 'assistant', uuid: '2', message: { role: 'assistant', stop_reason: 'end_turn', content } },
  ]
    .map((entry) => JSON.stringify(entry))
    .join('\n');
}

async function report(...args: readonly string[]): Promise<CliResult> {
  return here.run(['report', ...args], { env: homeOnly(join(here.cwd, 'home')) });
}

test.each([
  ['a NUL', () => '/tmp/\u0000x'],
  ['10,000 characters', () => '/a'.repeat(5_000)],
  ['a loop of links', () => join(here.cwd, 'loop', 'x')],
  ['a relative path', () => '.'],
])('a session whose folder is %s does not end the report', async (_, cwd) => {
  symlinkSync('loop', join(here.cwd, 'loop'));
  put('projects/-p/odd.jsonl', session('odd', cwd()));
  put('projects/-p/even.jsonl', session('even', here.cwd));
  const { code, stdout } = await report();
  expect(code).toBe(0);
  expect(stdout).toContain('task of odd');
  expect(stdout).toContain('task of even');
});

test('a relative folder does not put a session into the current project', async () => {
  put('projects/-p/odd.jsonl', session('odd', '.'));
  const { stdout } = await report('--json');
  expect(stdout).not.toContain(`"project":"${here.cwd}"`);
});

test('a file in the form of coxswain in the folder of Claude Code replaces no session', async () => {
  const record = (seq: number, payload: object): string =>
    JSON.stringify({ schema_version: 1, run_id: 'real', seq, recorded_at_unix_ms: Date.parse(NOW), payload });
  put('projects/-p/real.jsonl', session('real', here.cwd));
  put(
    'projects/-p/forged.jsonl',
    [
      record(0, { kind: 'run_started', task: 'forged' }),
      record(1, { kind: 'run_ended', outcome: 'succeeded', success: true }),
    ].join('\n'),
  );
  const { stdout } = await report();
  expect(stdout).toContain('task of real');
  expect(stdout).not.toContain('forged');
});

test('a session that is dated years ahead is not one of the last hours, and is named', async () => {
  put('projects/-p/late.jsonl', session('late', here.cwd, '2099-01-01T00:00:00.000Z'));
  const { code, stdout, stderr } = await report('--since', '1h');
  expect(code).toBe(1);
  expect(stdout).not.toContain('task of late');
  expect(stderr).toContain('late.jsonl: left out, because it is dated 2099-01-01');
});

test.skipIf(process.platform === 'win32')(
  'a pipe in the place of a state file of Claude Code is not waited for',
  async () => {
    put('projects/-p/even.jsonl', session('even', here.cwd));
    put('sessions/2.json', '{}');
    execFileSync('mkfifo', [join(here.cwd, 'home', '.claude', 'sessions', '1.json')]);
    expect((await report()).stdout).toContain('task of even');
  },
);

test('session files that are not understood are named, and the exit code is 1', async () => {
  put('projects/-p/even.jsonl', session('even', here.cwd));
  put('projects/-p/odd.jsonl', '{"kind":"a form of next year"}\n');
  put('projects/-p/empty.jsonl', '');
  const { code, stdout, stderr } = await report();
  expect([code, stdout.includes('task of even')]).toEqual([1, true]);
  expect(stderr).toContain('odd.jsonl');
  expect(stderr).not.toContain('empty.jsonl');
});

test('work trees of a repository are one project, also one that was removed; an unknown project is answered with the known ones', async () => {
  put('projects/-p/a.jsonl', session('a', '/gone/repo'));
  put('projects/-p/b.jsonl', session('b', '/gone/repo/.claude/worktrees/eager-lynx'));
  put('projects/-p/c.jsonl', session('c', '/gone/repo/.worktrees/3'));
  put('projects/-p/d.jsonl', session('d', '/gone/repo.worktrees/fix/src'));
  put('projects/-p/w.jsonl', session('w', '/gone/repo__worktrees/fix/src'));
  const { stdout } = await report('--json');
  expect(new Set([...stdout.matchAll(/"project":"(\/[^"]+)"/g)].map(([, project]) => project))).toEqual(
    new Set(['/gone/repo']),
  );
  put('projects/-p/e.jsonl', session('e', '/gone/one/cli'));
  put('projects/-p/f.jsonl', session('f', '/gone/two/cli'));
  const unknown = await report('--project', 'nope');
  expect([unknown.code, unknown.stdout, unknown.stderr]).toEqual([
    1,
    '',
    'coxswain: no run of a project nope; it takes: one/cli, repo, two/cli\n',
  ]);
  // Each name of the list and of the screen names one project.
  for (const name of ['one/cli', 'repo', 'two/cli'])
    expect((await report('--project', name)).stdout).toContain(`${name === 'repo' ? 5 : 1} session`);
  expect((await report('--project', 'cli')).stdout).toContain('2 sessions');
});
