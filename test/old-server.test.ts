import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { makeStateFolder, stateFile, stateFolder } from '../src/core/node/state-places.ts';
import { addHooks } from '../src/hosts/claude-code/edit-settings.ts';
import { hookGroups } from '../src/hosts/claude-code/init-hooks.ts';
import { runCli, type CliResult } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

const TOKEN = 'x'.repeat(43);
const BEFORE = '{\n  "model":   "x"\n}\n';
let cwd: string;
let env: Readonly<Record<string, string>>;
let settings: string;

/** A project as `init claude-code --http` of an earlier version left it. */
beforeEach(() => {
  const home = testFolder();
  cwd = join(home, 'a project');
  settings = join(cwd, '.claude', 'settings.local.json');
  env = {
    HOME: home,
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: '',
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
  };
  mkdirSync(join(cwd, '.claude'), { recursive: true });
  const owner = { env, projectFolder: cwd };
  const hook = {
    type: 'http',
    url: 'http://127.0.0.1:23456/coxswain-hook',
    timeout: 10,
    headers: { Authorization: `Bearer ${TOKEN}`, 'x-coxswain-disable': '$COXSWAIN_DISABLE' },
    allowedEnvVars: ['COXSWAIN_DISABLE'],
  };
  const http = JSON.stringify({ model: 'x', hooks: { PostToolBatch: [{ hooks: [hook] }], Stop: [{ hooks: [hook] }] } });
  writeFileSync(settings, http, { mode: 0o600 });
  makeStateFolder(owner);
  const after_sha256 = createHash('sha256').update(http).digest('hex');
  const before = Buffer.from(BEFORE).toString('base64');
  const backup = {
    host: 'claude-code',
    file: settings,
    before,
    after_sha256,
    folder_made: null,
    mode: 0o644,
    within: cwd,
  };
  const own = { mode: 0o600 };
  writeFileSync(stateFile('initBackup', owner), JSON.stringify({ schema_version: 1, files: [backup] }), own);
  const server = { port: 23_456, token: TOKEN, program: [process.execPath, '/gone'] };
  writeFileSync(stateFile('oldServer', owner), JSON.stringify(server), own);
  writeFileSync(join(stateFolder(owner), 'serve.pid'), '{}', own);
});

function cox(...args: readonly string[]): Promise<CliResult> {
  return runCli(args, { cwd, env });
}

const hasServerFiles = (): boolean =>
  ['serve.json', 'serve.pid'].some((name) => existsSync(join(stateFolder({ env, projectFolder: cwd }), name)));

test('init replaces http hooks by commands and removes the token, and undo restores the file from before both', async () => {
  expect((await cox('init', '--dry-run')).stdout).not.toContain(TOKEN);
  const { code, stderr } = await cox('init', 'claude-code', '--yes');
  expect([code, stderr]).toEqual([0, '']);
  const text = readFileSync(settings, 'utf8');
  expect(text).not.toContain('"http"');
  expect(text).not.toContain(TOKEN);
  expect(text.match(/coxswain-hook"/g)).toHaveLength(hookGroups('').size);
  expect(hasServerFiles()).toBe(false);
  expect((await cox('init', '--undo')).code).toBe(0);
  expect(readFileSync(settings, 'utf8')).toBe(BEFORE);
  expect(statSync(settings).mode & 0o777).toBe(0o644);
});

test('undo alone restores the file from before http hooks', async () => {
  expect((await cox('init', '--undo')).code).toBe(0);
  expect(readFileSync(settings, 'utf8')).toBe(BEFORE);
  expect(statSync(settings).mode & 0o777).toBe(0o644);
  expect(hasServerFiles()).toBe(false);
});

test('init of another host removes the files of the server too, also if it changes nothing else', async () => {
  expect((await cox('init', 'opencode', '--yes')).code).toBe(0);
  expect(hasServerFiles()).toBe(false);
  const owner = { env, projectFolder: cwd };
  writeFileSync(stateFile('oldServer', owner), '{}', { mode: 0o600 });
  expect((await cox('init', 'opencode', '--yes')).stdout).toContain('nothing to change');
  expect(hasServerFiles()).toBe(false);
});

test('until then, a session begins with what to do, and doctor says it', async () => {
  const event = { session_id: 's1', cwd, hook_event_name: 'SessionStart', source: 'startup' };
  const { stdout } = await runCli(['hook'], { cwd, env, stdin: JSON.stringify(event) });
  expect(JSON.parse(stdout)).toEqual({ systemMessage: expect.stringContaining('run coxswain init claude-code') });
  const { code, stdout: report } = await cox('doctor');
  expect(report).toContain('2 events go to the server of an earlier version');
  expect(code).toBe(1);
});

test('http hooks of the user next to ours are left as they are', () => {
  const other = { type: 'http', url: 'http://127.0.0.1:23456/other' };
  const text = JSON.stringify({ hooks: { Stop: [{ hooks: [other] }] } });
  expect(addHooks(text, hookGroups('a coxswain-hook'))).toContain('http://127.0.0.1:23456/other');
});
