import { existsSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { chmod, link, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { testFolder } from './support/test-folder.ts';
import { runCli, type CliResult } from './run-cli.ts';

let folder: string;
let cwd: string;
let settings: string;

beforeEach(async () => {
  folder = testFolder();
  cwd = join(folder, 'a project');
  await mkdir(join(cwd, '.claude'), { recursive: true });
  settings = join(cwd, '.claude', 'settings.local.json');
});

function cox(...args: readonly (string | Readonly<Record<string, string>>)[]): Promise<CliResult> {
  const home = folder;
  const env = { HOME: home, XDG_CONFIG_HOME: '', CLAUDE_CONFIG_DIR: join(home, '.claude') };
  const words = args.filter((arg) => typeof arg === 'string');
  return runCli(words, {
    cwd,
    env: Object.assign(env, ...args.filter((arg) => typeof arg === 'object')) as typeof env,
  });
}

/** The command in every place of the settings that has one of ours. */
async function commands(file = settings): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8');
  return [...text.matchAll(/"command": "((?:[^"\\]|\\.)*coxswain-hook)"/g)].map(([, found = '']) => found);
}

test('init writes one hook an event, by absolute paths that are there, and undo leaves nothing behind', async () => {
  await mkdir(join(folder, 'fresh'));
  cwd = join(folder, 'fresh');
  settings = join(cwd, '.claude', 'settings.local.json');
  const { code, stdout, stderr } = await cox('init', 'claude-code', '--yes');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.split('\n').length).toBeLessThan(5);
  expect(stdout).toContain('.claude/settings.local.json');
  const found = await commands();
  expect(found).toHaveLength(12);
  // A path with a space is quoted.
  const [node = '', hook = ''] = [...(found[0] ?? '').matchAll(/'([^']*)'|\S+/g)].map(
    ([word, quoted]) => quoted ?? word,
  );
  expect(existsSync(node)).toBe(true);
  expect(hook).toMatch(/^\/.*hook\.cjs$/);

  const shown = await cox('init', '--undo', '--dry-run');
  expect([shown.code, shown.stdout]).toEqual([
    0,
    expect.stringContaining('settings.local.json would be as it was before'),
  ]);
  expect(await commands()).toEqual(found);
  const undone = await cox('init', '--undo');
  expect(undone.code).toBe(0);
  expect(undone.stdout).toMatch(/\nThese stay, .*: .*state in \S+coxswain/);
  expect(undone.stdout).toMatch(/\nTo delete them, once no project uses coxswain: rm -r .*coxswain/);
  expect(await readdir(cwd)).toEqual([]);
  expect((await cox('init', '--undo', '--dry-run')).stdout).toContain('nothing to undo');
});

const CALL_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'];

/** The events in the settings that start a hook with each call. */
async function callEvents(): Promise<readonly string[]> {
  const { hooks } = JSON.parse(await readFile(settings, 'utf8')) as { readonly hooks: object };
  return CALL_EVENTS.filter((event) => Object.hasOwn(hooks, event));
}

/** Puts a Claude Code of this version on the PATH. */
async function claudeOnPath(version: string): Promise<string> {
  const bin = join(folder, `bin-${version}`);
  await mkdir(bin);
  await writeFile(join(bin, 'claude'), `#!/bin/sh\necho '${version} (Claude Code)'\n`, { mode: 0o755 });
  return `${bin}:${process.env['PATH'] ?? ''}`;
}

test.each([
  ['2.1.117', CALL_EVENTS],
  ['2.1.118', []],
  ['2.2.0', []],
])('Claude Code %s gets the hooks that it needs, and an older set is replaced', async (version, expected) => {
  const old = await cox({ PATH: await claudeOnPath('2.1.9') }, 'init', 'claude-code', '--yes');
  expect(old.stdout).toContain('Claude Code 2.1.9 (Claude Code) has no event after a turn');
  const { code, stdout } = await cox({ PATH: await claudeOnPath(version) }, 'init', 'claude-code', '--yes');
  expect(code).toBe(0);
  expect(stdout.includes('nothing to change')).toBe(expected.length > 0);
  expect(await callEvents()).toEqual(expected);
  expect((await cox('init', '--undo')).stdout).toContain('removed');
});

test('a hook before each call is written only for guidance that has no later point', async () => {
  const bank = (...decisionPoints: readonly string[]): string =>
    JSON.stringify({
      guidance: { bank: [{ key: 'k', content: 'Go on.', when: { errorStreak: true }, decisionPoints }] },
    });
  const config = join(cwd, 'coxswain.config.json');
  await writeFile(config, bank('pre_tool_execution', 'post_tool_result'));
  expect((await cox('trust')).code).toBe(0);
  await cox('init', 'claude-code', '--yes');
  expect(await callEvents()).toEqual([]);
  await writeFile(config, bank('pre_tool_execution'));
  expect((await cox('trust')).code).toBe(0);
  expect((await cox('init', 'claude-code', '--yes')).stdout).toContain('each call starts a hook process');
  expect(await callEvents()).toEqual(['PreToolUse']);
});

test('settings with hooks of others and their own format come back byte for byte', async () => {
  const before = Buffer.from(
    '{\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},\r\n\t"model": "x"\r\n}',
  );
  await writeFile(settings, before, { mode: 0o640 });
  expect((await cox('init', '--yes')).code).toBe(0);
  expect(await readFile(settings, 'utf8')).toContain('{"hooks": [{"type": "command", "command": "say done"}]}');
  expect((await stat(settings)).mode & 0o777).toBe(0o640);
  const again = await cox('init', '--yes');
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('nothing to change')]);
  const undo = await cox('init', '--undo');
  expect(undo.stdout).toContain('byte for byte');
  expect(await readFile(settings)).toEqual(before);
  expect((await cox('init', '--undo')).stdout).toContain('nothing to undo');
});

test.each([
  ['{\n  // mine\n  "model": "x"\n}\n', 'line 2, column 3'],
  ['{\n  "model": "x",\n}\n', 'line 3, column 1'],
])('settings that Claude Code would ignore are not written: %j', async (before, place) => {
  await writeFile(settings, before);
  const { code, stderr } = await cox('init', '--yes');
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${place}: Claude Code ignores the whole file`)]);
  expect(await readFile(settings, 'utf8')).toBe(before);
  const { stdout } = await cox('doctor');
  expect(stdout).toContain(`settings.local.json: a comment or a trailing comma at ${place}`);
});

test('what somebody has changed since stays, and only the hooks of coxswain go', async () => {
  await writeFile(settings, '{\n  "model": "x"\n}\n');
  await cox('init', '--yes');
  await writeFile(settings, (await readFile(settings, 'utf8')).replace('"x"', '"y"'));
  // Once more, over the change, which puts nothing of ours into what the undo goes back to.
  await cox('init', '--yes');
  const { stdout } = await cox('init', '--undo');
  expect(stdout).toContain('only the hooks of coxswain were removed');
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({ model: 'y' });
});

test('a link to the user’s own settings stays a link', async () => {
  const real = join(folder, 'dotfiles.json');
  const own = join(folder, '.claude', 'settings.json');
  await writeFile(real, '{}\n');
  await mkdir(join(folder, '.claude'), { recursive: true });
  await symlink(real, own);
  expect((await cox('init', '--user', '--yes')).code).toBe(0);
  expect((await lstat(own)).isSymbolicLink()).toBe(true);
  expect(await commands(real)).toHaveLength(12);
  await cox('init', '--undo', '--user');
  expect(await readFile(real, 'utf8')).toBe('{}\n');
});

test('settings in a project are neither shown nor written through a link', async () => {
  const precious = join(folder, 'precious.json');
  await writeFile(precious, '{ "precious": true }\n');
  await symlink(precious, settings);
  const linked = await cox('init', 'claude-code', '--yes');
  expect([linked.code, linked.stdout, linked.stderr]).toEqual([1, '', expect.stringContaining('it is a link')]);
  await rm(settings);
  await link(precious, settings);
  expect((await cox('init', '--yes')).stderr).toContain('hard link');
  await rm(join(cwd, '.claude'), { recursive: true });
  await symlink(folder, join(cwd, '.claude'));
  expect((await cox('init', '--yes')).stderr).toContain('it is a link');
  expect(await readdir(folder)).not.toContain('settings.json');
  expect(await readFile(precious, 'utf8')).toBe('{ "precious": true }\n');
});

test('undo goes by the state folder alone: what a repository ships overwrites nothing', async () => {
  const precious = join(folder, 'precious');
  await writeFile(precious, 'precious');
  const after_sha256 = createHash('sha256').update('precious').digest('hex');
  const files = [{ file: precious, before: Buffer.from('evil').toString('base64'), after_sha256, folder_made: null }];
  await mkdir(join(cwd, '.coxswain'));
  await writeFile(join(cwd, '.coxswain', 'init-claude-code.json'), JSON.stringify({ schema_version: 1, files }));
  expect((await cox('init', '--undo')).stdout).toContain('nothing to undo');
  expect(await readFile(precious, 'utf8')).toBe('precious');
});

test('what cannot be edited is refused with the place, and nothing is written', async () => {
  await writeFile(settings, '{\n  "hooks": nope\n}\n');
  const broken = await cox('init', '--yes');
  expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('line 2, column 12')]);
  await writeFile(settings, '{}\n');
  await chmod(settings, 0o444);
  const readOnly = await cox('init', '--yes');
  expect([readOnly.code, readOnly.stderr]).toEqual([1, expect.stringContaining('read-only')]);
  await chmod(settings, 0o644);
  await writeFile(settings, Buffer.from([0x7b, 0xff, 0x7d]));
  expect((await cox('init', '--yes')).stderr).toContain('not UTF-8');
  expect((await cox('init', 'emacs')).code).toBe(2);
  expect((await cox('init', '--user', '--shared')).code).toBe(2);
  expect((await cox('init', '--deadline', 'soon')).code).toBe(2);
});

test('an unknown target is answered with the nearest one', async () => {
  const { code, stderr } = await cox('init', 'claude');
  expect([code, stderr]).toEqual([2, expect.stringContaining('unknown target claude (did you mean claude-code?)')]);
});

test('without a terminal and without --yes it only shows; --dry-run too', async () => {
  const unasked = await cox('init');
  expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('--yes')]);
  expect(unasked.stdout).toContain('--dry-run');
  const dry = await cox('init', '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('coxswain-hook')]);
  expect(existsSync(settings)).toBe(false);
});

test('--user, --shared and --deadline go where they say', async () => {
  expect((await cox('init', '--user', '--yes')).code).toBe(0);
  expect(await commands(join(folder, '.claude', 'settings.json'))).toHaveLength(12);
  expect(existsSync(settings)).toBe(false);
  expect((await cox('init', '--undo', '--user')).stdout).toContain('removed');

  expect((await cox('init', '--shared', '--deadline', '45m', '--yes')).code).toBe(0);
  expect(await commands(join(cwd, '.claude', 'settings.json'))).toHaveLength(12);
  expect((await cox('init', '--yes')).stdout).toContain('nothing to change');
  expect(await readFile(join(cwd, 'coxswain.config.json'), 'utf8')).toBe('{\n  "deadline": "45m"\n}\n');
  expect((await cox('config', 'check')).code).toBe(0);
  const printed = await cox('init', '--deadline', '30m', '--yes');
  expect([printed.code, printed.stderr]).toEqual([2, expect.stringContaining('a configuration exists already')]);
  await cox('init', '--undo');
  expect(existsSync(join(cwd, 'coxswain.config.json'))).toBe(false);
});

test('settings with paths of this machine are kept out of git, even if git tracks the shared settings', async () => {
  await mkdir(join(cwd, '.git', 'info'), { recursive: true });
  await writeFile(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  expect((await cox('init', '--yes')).code).toBe(0);
  expect(await readFile(join(cwd, '.git', 'info', 'exclude'), 'utf8')).toBe('/.claude/settings.local.json\n');
  expect(existsSync(join(cwd, '.claude', 'settings.json'))).toBe(false);
});
