import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { buildHook } from '../scripts/build-hook.ts';
import { buildPlugin } from '../scripts/build-plugin.ts';
import { addHooks } from '../src/hosts/claude-code/edit-settings.ts';
import { hookCommand, hookGroups } from '../src/hosts/claude-code/init-hooks.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { startFakeAnthropicServer } from '../src/testing/fake-anthropic-server.ts';
import type { ModelTurn } from '../src/testing/model-script.ts';
import { loggedFaults, trustAs } from '../test/user-state.ts';
import { storeFileOf } from '../test/user-state.ts';

const CLAUDE = join(import.meta.dirname, 'node_modules', '.bin', 'claude');
const built = mkdtempSync(join(tmpdir(), 'coxswain-built-'));
const homes: string[] = [built];

beforeAll(async () => {
  await buildHook(built);
  await buildPlugin(built);
});

afterAll(() => {
  homes.forEach((home) => rmSync(home, { recursive: true, force: true }));
});

type Way = 'settings' | 'plugin';

/** A user's home with a project in it, whose hooks come by the settings that `init` writes, or by the plugin. */
interface Place {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

async function makePlace(how: Way): Promise<Place> {
  const home = mkdtempSync(join(tmpdir(), 'coxswain-claude-code-'));
  homes.push(home);
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(join(home, '.claude'));
  const permissions = { allow: ['Bash', 'Agent', 'Task'], deny: ['Bash(rm:*)'] };
  const settings = JSON.stringify({ permissions });
  const command = hookCommand(process.execPath, join(built, 'hook.cjs'));
  writeFileSync(
    join(home, '.claude', 'settings.json'),
    how === 'settings' ? addHooks(settings, hookGroups(command)) : settings,
  );
  const env = {
    HOME: home,
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    XDG_STATE_HOME: join(home, 'state'),
  };
  writeFileSync(join(project, 'coxswain.config.json'), '{ "deadline": "100s" }');
  trustAs({ project, env });
  return {
    project,
    env,
    args: how === 'plugin' ? ['--plugin-dir', join(built, 'plugin')] : [],
  };
}

const bash = (command: string): { name: string; args: { command: string; description: string } } => ({
  name: 'Bash',
  args: { command, description: 'Run it' },
});

async function claude(place: Place, url: string, prompt: string): Promise<number | null> {
  const env = {
    ...place.env,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
  };
  const args = ['-p', prompt, '--model', 'claude-sonnet-4-5', '--output-format', 'json', '--max-turns', '20'];
  const child = spawn(CLAUDE, [...args, ...place.args], {
    cwd: place.project,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  return code;
}

test('the plugin and its marketplace pass the validation of Claude Code, which installs it from there', async () => {
  const { env } = await makePlace('plugin');
  // The marketplace is the folder around it.
  for (const folder of [join(built, 'plugin'), built]) {
    const done = spawnSync(CLAUDE, ['plugin', 'validate', folder], { env, encoding: 'utf8' });
    expect([done.status, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain('Validation passed');
  }
  const added = spawnSync(CLAUDE, ['plugin', 'marketplace', 'add', built], { env, encoding: 'utf8' });
  expect([added.status, added.stderr]).toEqual([0, '']);
  const installed = spawnSync(CLAUDE, ['plugin', 'install', 'coxswain@coxswain'], { env, encoding: 'utf8' });
  expect([installed.status, installed.stderr]).toEqual([0, '']);
});

test.each(['settings', 'plugin'] as const)(
  'by %s: a session with a loop, a failing tool, a denied call, a subagent and a deadline is recorded and advised',
  async (how) => {
    const place = await makePlace(how);
    const main: readonly ModelTurn[] = [
      { calls: [bash('cat coxswain.config.json')] },
      { calls: [bash('cat coxswain.config.json')] },
      { calls: [bash('cat coxswain.config.json')] },
      { calls: [bash('exit 4'), bash('rm -f x')] },
      { calls: [{ name: 'Agent', args: { description: 'sub', prompt: 'SUBTASK', subagent_type: 'general-purpose' } }] },
      { text: 'All done.' },
    ];
    const sub: readonly ModelTurn[] = [{ calls: [bash('echo from-the-subagent')] }, { text: 'Sub done.' }];
    let mainTurn = 0;
    let subTurn = 0;
    const server = await startFakeAnthropicServer({
      script: (request) => {
        const first = JSON.stringify((request as { messages?: readonly unknown[] }).messages?.[0] ?? '');
        const isSub = first.includes('SUBTASK') && !first.includes('MAINTASK');
        const ids = (turn: ModelTurn | undefined, prefix: string): ModelTurn => ({
          ...(turn ?? { text: 'Nothing more.' }),
          ...(turn?.calls === undefined
            ? {}
            : { calls: turn.calls.map((call, index) => ({ ...call, id: `toolu_${prefix}_${index}` })) }),
        });
        return isSub ? ids(sub[subTurn++], `sub${subTurn}`) : ids(main[mainTurn++], `main${mainTurn}`);
      },
    });
    try {
      expect(await claude(place, server.url, 'MAINTASK: do it')).toBe(0);
      const requests = server.mainRequests().map(({ raw }) => raw);
      const isMain = requests.filter((raw) => raw.includes('MAINTASK'));
      // The deadline with the first result, the loop with the third.
      expect(isMain[1]).toContain('[Feedback - Deadline]');
      expect(isMain[2]).not.toContain('You made the same call of Bash');
      expect(isMain[3]).toContain('You made the same call of Bash');
    } finally {
      await server.close();
    }

    const store = sqliteStore(storeFileOf(place));
    try {
      const { runs } = await store.listRuns();
      const root = runs.find(({ depth }) => depth === 0);
      const child = runs.find(({ depth }) => depth === 1);
      expect(root).toMatchObject({ task: 'MAINTASK: do it', outcome: 'ended' });
      expect(child).toMatchObject({ parentRunId: root?.runId, calls: 1 });
      const records = await Array.fromAsync(store.readRun(root?.runId ?? ''));
      const ended = records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : []));
      expect(ended.map(({ tool_name, is_error }) => [tool_name, is_error])).toEqual([
        ['Bash', false],
        ['Bash', false],
        ['Bash', false],
        ['Bash', true],
        ['Bash', true],
        ['Agent', false],
      ]);
      expect(JSON.stringify(records)).not.toContain('MESSAGING');
      expect(loggedFaults(place)).toBe('');
    } finally {
      await store.close();
    }
  },
);

test('what must hold at the end sends the agent back', async () => {
  const place = await makePlace('settings');
  const config = join(place.env['HOME'] ?? '', '.config', 'coxswain');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.json'), '{ "completion": { "files": ["result.txt"] } }');
  const script: readonly ModelTurn[] = [
    { text: 'Done.' },
    { calls: [{ ...bash('touch result.txt'), id: 'toolu_late' }] },
    { text: 'Done now.' },
  ];
  let turn = 0;
  const server = await startFakeAnthropicServer({ script: () => script[turn++] ?? { text: 'Nothing more.' } });
  try {
    expect(await claude(place, server.url, 'Write result.txt')).toBe(0);
    const hasAdvice = server.mainRequests().map(({ raw }) => raw.includes('The file result.txt does not exist'));
    expect(hasAdvice).toEqual([false, true, true]);
  } finally {
    await server.close();
  }
  expect(loggedFaults(place)).toBe('');
});
