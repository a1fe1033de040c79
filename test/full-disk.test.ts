import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { putHook } from './support/built-hook.ts';
import { smallDisk } from './support/small-disk.ts';
import { testFolder } from './support/test-folder.ts';
import { storedRecords } from './support/stored-records.ts';
import { jsonLines, runCli } from './run-cli.ts';
import { loggedFaults } from './user-state.ts';

const folder = testFolder();
const small = smallDisk(folder);
const disk = small?.path ?? '';
const home = join(folder, 'home');
const built = join(folder, 'built');
const isMounted = small !== undefined;

let project: string;
let plays = 0;

beforeAll(async () => {
  if (isMounted) await putHook(built);
});

afterAll(async () => {
  small?.unmount();
});

beforeEach(() => {
  plays += 1;
  project = join(disk, `project-${plays}`);
  if (isMounted) mkdirSync(join(project, '.git'), { recursive: true });
});

const fill = (): void => small?.fill();
const makeRoom = (): void => small?.makeRoom();

const environment = (homeFolder: string): Readonly<Record<string, string>> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  HOME: homeFolder,
  XDG_STATE_HOME: '',
  XDG_CONFIG_HOME: '',
  XDG_CACHE_HOME: '',
  XDG_DATA_HOME: join(disk, 'data'),
  CLAUDE_PROJECT_DIR: project,
});

const event = (name: string, more: object = {}): string =>
  JSON.stringify({ session_id: 's1', cwd: project, hook_event_name: name, ...more });

const called = (id: string): object => ({ tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: id });

function hook(input: string, homeFolder = home): void {
  const ended = spawnSync(process.execPath, [join(built, 'hook.cjs')], { env: environment(homeFolder), input });
  expect([ended.status, String(ended.stdout), String(ended.stderr)]).toEqual([0, '', '']);
}

function usersFaults(): string {
  return loggedFaults({ project, env: environment(home) });
}

describe.skipIf(!isMounted)('on a disk of two megabytes, which only root on Linux can mount', () => {
  test('a disk that is full from the start harms no session, and the user`s log says so', () => {
    fill();
    try {
      hook(event('UserPromptSubmit', { prompt: 'One' }));
      expect(usersFaults()).toMatch(/ENOSPC|full/);
    } finally {
      makeRoom();
    }
  });

  test('a disk that fills in the middle of a run loses nothing if the state folder is on another disk', async () => {
    hook(event('UserPromptSubmit', { prompt: 'One' }));
    hook(event('PreToolUse', called('c1')));
    const before = await storedRecords({ project, env: environment(home) });
    fill();
    for (const id of ['c2', 'c3', 'c4', 'c5']) {
      hook(event('PreToolUse', { ...called(id), tool_input: { command: 'x'.repeat(20_000) } }));
    }
    makeRoom();
    hook(event('PreToolUse', called('c6')));
    const after = await storedRecords({ project, env: environment(home) });
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => index));
    const started = after.flatMap(({ payload }) => (payload.kind === 'tool_started' ? [payload.tool_call_id] : []));
    expect(started).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c6']);
    expect(usersFaults()).toMatch(/"event":"PreToolUse"/);
    expect(usersFaults()).toMatch(/full|ENOSPC|disk I\/O/);
    expect(usersFaults()).not.toContain('no transaction');
  });

  test('doctor reports the disk even if the log cannot be written', async () => {
    const away = join(disk, 'home');
    mkdirSync(away, { recursive: true });
    fill();
    try {
      hook(event('UserPromptSubmit', { prompt: 'One' }), away);
      const { code, stdout } = await runCli(['doctor', '--json'], { cwd: project, env: environment(away) });
      // The command's own answer.
      const lines = jsonLines(stdout)[0]?.['lines'] as readonly { readonly check: string; readonly status: string }[];
      expect(lines.find(({ check }) => check === 'free space')).toMatchObject({ status: 'fail' });
      expect(code).toBe(1);
    } finally {
      makeRoom();
    }
  });
});
