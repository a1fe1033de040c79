import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { buildHook } from '../scripts/build-hook.ts';
import { buildPlugin } from '../scripts/build-plugin.ts';
import { addHooks } from '../src/claude-code/edit-settings.ts';
import { hookCommand } from '../src/claude-code/init-hooks.ts';
import type { TrajectoryRecord } from '../src/events/trajectory-record.ts';
import { sqliteStore } from '../src/store/sqlite-store.ts';
import { startFakeAnthropicServer } from '../src/testing/fake-anthropic-server.ts';
import type { ModelTurn } from '../src/testing/model-script.ts';

const CLAUDE = join(import.meta.dirname, 'node_modules', '.bin', 'claude');
const built = mkdtempSync(join(tmpdir(), 'coxswain-built-'));
const homes: string[] = [built];

beforeAll(async () => {
  await buildHook(built);
  await buildPlugin(built);
});

afterAll(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

/** A user's home with a project in it, whose hooks come by the settings that `init` writes, or by the plugin. */
interface Place {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

function makePlace(how: 'settings' | 'plugin'): Place {
  const home = mkdtempSync(join(tmpdir(), 'coxswain-claude-code-'));
  homes.push(home);
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(join(home, '.claude'));
  const permissions = { allow: ['Bash', 'Agent', 'Task'], deny: ['Bash(rm:*)'] };
  const settings = JSON.stringify({ permissions });
  const command = hookCommand(process.execPath, join(built, 'hook.cjs'));
  writeFileSync(join(home, '.claude', 'settings.json'), how === 'settings' ? addHooks(settings, command) : settings);
  writeFileSync(join(project, 'coxswain.config.json'), '{ "deadline": "100s" }');
  return {
    project,
    env: { HOME: home, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
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

test('the plugin passes the validation of Claude Code', () => {
  const { env } = makePlace('plugin');
  const done = spawnSync(CLAUDE, ['plugin', 'validate', join(built, 'plugin')], { env, encoding: 'utf8' });
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain('Validation passed');
});

test.each(['settings', 'plugin'] as const)(
  'by %s: a session with a loop, a failing tool, a denied call, a subagent and a deadline is recorded and advised',
  async (how) => {
    const place = makePlace(how);
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
      const asked = server.mainRequests().map(({ raw }) => raw);
      const isMain = asked.filter((raw) => raw.includes('MAINTASK'));
      // The deadline with the first result, the loop with the third.
      expect(isMain[1]).toContain('[Feedback - Deadline]');
      expect(isMain[2]).not.toContain('same call to Bash');
      expect(isMain[3]).toContain('same call to Bash');
    } finally {
      await server.close();
    }

    const store = sqliteStore(join(place.project, '.coxswain', 'runs.db'));
    try {
      const { runs } = await store.listRuns();
      const root = runs.find(({ depth }) => depth === 0);
      const child = runs.find(({ depth }) => depth === 1);
      expect(root).toMatchObject({ task: 'MAINTASK: do it', outcome: 'ended' });
      expect(child).toMatchObject({ parentRunId: root?.runId, calls: 1 });
      const records: TrajectoryRecord[] = [];
      for await (const record of store.readRun(root?.runId ?? '')) records.push(record);
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
    } finally {
      await store.close();
    }
  },
);
