import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { startFakeAnthropicServer } from '../../src/testing/fake-anthropic-server.ts';
import { HOST_DRIVERS } from './host-drivers.ts';

const BIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'bin.ts');
const { version } = HOST_DRIVERS['claude-code'];
const CLAUDE = join(process.env['COXSWAIN_HOSTS'] ?? '', `claude-code-${version}`, 'node_modules', '.bin', 'claude');
const home = mkdtempSync(join(tmpdir(), 'coxswain-lessons-'));
const project = join(home, 'project');
const programs = join(home, 'bin');
const env = {
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  PATH: `${programs}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
};

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

function writeIn(folder: string, name: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text, { mode });
}

function coxswain(...args: readonly string[]): string {
  const { status, stderr, stdout } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: project,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${String(status)} ${stderr}`);
  return stdout;
}

let calls = 0;

/** A session that runs these commands, one after the other. @returns the requests of the session */
async function session(...commands: readonly string[]): Promise<readonly string[]> {
  const left = [...commands];
  const server = await startFakeAnthropicServer({
    script: () => {
      const command = left.shift();
      if (command === undefined) return { text: 'Done.' };
      return { calls: [{ id: `toolu_${(calls += 1)}`, name: 'Bash', args: { command, description: 'x' } }] };
    },
  });
  const child = spawn(CLAUDE, ['-p', 'Run the tests', '--model', 'claude-sonnet-4-5', '--max-turns', '9'], {
    cwd: project,
    env: {
      ...env,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'sk-ant-dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
    stdio: 'ignore',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  const requests = server.mainRequests().map(({ raw }) => raw);
  await server.close();
  return requests;
}

const TOLD = 'In 2 earlier sessions of this project';
const FAILS = ['rtk make test', 'make test'] as const;

test.skipIf(!existsSync(CLAUDE))(
  'claude-code after two failing sessions the report names the cause, the third is told it once, and after a working one it is gone',
  async () => {
    writeIn(home, '.claude/settings.json', JSON.stringify({ permissions: { allow: ['Bash'] } }));
    mkdirSync(join(project, '.git'), { recursive: true });
    writeIn(project, 'Makefile', 'test:\n\t@echo all well\n');
    writeIn(project, 'CLAUDE.md', '# Rules\n\nAlways prefix commands with rtk.\n');
    writeIn(programs, 'claude', `#!/bin/sh\necho ${version}\n`, 0o755);
    coxswain('init', 'claude-code', '--yes', '--user');

    await session(...FAILS);
    expect(coxswain('failures')).not.toContain('rtk');
    const second = await session(...FAILS);
    const failures = coxswain('failures');
    expect(failures).toMatch(/1\. rtk make test: .*not found/);
    expect(failures).toContain('then worked: make test (in 2 sessions)');
    expect(failures).toContain('it failed in the last session that used it');
    expect(failures).toContain('CLAUDE.md:3 names it: Always prefix commands with rtk.');
    expect(coxswain('report')).toMatch(/Same failure in 2 sessions: rtk make test: .*not found; CLAUDE\.md:3 names it/);
    expect(second.join('\n')).not.toContain('earlier sessions of this project');

    writeIn(home, '.config/coxswain/config.json', JSON.stringify({ guidance: { lessonGuidance: true } }));
    const third = await session('make test');
    expect(third.length).toBeGreaterThan(1);
    // Each request repeats the conversation; the text stands once in it.
    for (const raw of third) expect(raw.split(TOLD)).toHaveLength(2);
    expect(third[0]).toContain('`rtk` failed: command not found. `make test` worked instead in 2.');

    writeIn(programs, 'rtk', '#!/bin/sh\nexec "$@"\n', 0o755);
    await session('rtk make test');
    expect(coxswain('failures')).toContain('it worked in the last session that used it');
    expect(coxswain('report')).not.toContain('Same failure in');
    const last = await session('make test');
    expect(last.join('\n')).not.toContain('earlier sessions of this project');
  },
);
