import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { buildHook } from '../scripts/build-hook.ts';
import { readServeSettings, serveFileOf, writeServeSettings } from '../src/hosts/claude-code/serve-settings.ts';
import { serverHealth, type ServerHealth } from '../src/hosts/claude-code/server-health.ts';
import { findServer, startServer, stopServer } from '../src/hosts/claude-code/server-process.ts';
import { tempFolder } from './support/temp-folder.ts';
import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli, type CliResult } from './run-cli.ts';
import { isRunning } from '../src/core/node/process-identity.ts';
import { stateFile } from '../src/core/node/state-places.ts';
import { loggedFaults } from './user-state.ts';
import { HANGS_AFTER_MS } from './support/hangs-after.ts';

let built: Awaited<ReturnType<typeof tempFolder>>;
let folder: string;
let cwd: string;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  built = await tempFolder();
  await buildHook(built.path);
  return () => built.dispose();
});

beforeEach(async () => {
  folder = testFolder();
  cwd = join(folder, 'a project');
  await mkdir(join(cwd, '.claude'), { recursive: true });
  spawnSync('git', ['init', '-q'], { cwd });
  env = {
    HOME: folder,
    PATH: process.env['PATH'] ?? '',
    XDG_CONFIG_HOME: '',
    // As in this process, which looks at settings and records.
    XDG_STATE_HOME: process.env['XDG_STATE_HOME'] ?? '',
    CLAUDE_CONFIG_DIR: join(folder, '.claude'),
    CLAUDE_PROJECT_DIR: '',
  };
});

afterEach(async () => {
  await stopServer(cwd);
});

function cox(...args: readonly string[]): Promise<CliResult> {
  return runCli(args, { cwd, env });
}

async function health(): Promise<ServerHealth> {
  const settings = readServeSettings(cwd);
  return settings === undefined ? { kind: 'none', why: 'no settings' } : serverHealth(settings);
}

/** The process that serves, once it answers: a hook that starts it waits 3 seconds at most. */
async function pidOf(): Promise<number> {
  for (;;) {
    const found = await health();
    if (found.kind === 'ours') return found.facts.pid;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const local = (): string => join(cwd, '.claude', 'settings.local.json');

test('init --http writes requests, keeps the token from git, terminals and other users, and --undo gives everything back', async () => {
  const before = '{\n  "model":   "x"\n}\n';
  await writeFile(local(), before, { mode: 0o644 });
  const exclude = join(cwd, '.git', 'info', 'exclude');
  const excluded = await readFile(exclude, 'utf8');
  const { code, stdout, stderr } = await cox('init', 'claude-code', '--http', '--yes');
  expect([code, stderr]).toEqual([0, '']);
  const settings = readServeSettings(cwd);
  const text = await readFile(local(), 'utf8');
  expect(text).toContain(`"Authorization": "Bearer ${settings?.token}"`);
  expect(text).toContain(`"url": "http://127.0.0.1:${settings?.port}/coxswain-hook"`);
  expect(text.match(/"type": "http"/g)).toHaveLength(10);
  expect(stdout).not.toContain(settings?.token);
  for (const file of [local(), serveFileOf(cwd)]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(existsSync(join(cwd, '.coxswain'))).toBe(false);
  const seen = spawnSync('git', ['status', '--porcelain', '-uall'], { cwd, encoding: 'utf8' });
  expect([seen.status, seen.stdout]).toEqual([0, '']);

  expect((await cox('init', '--http', '--yes')).stdout).toContain('nothing to change');
  expect(readServeSettings(cwd)).toEqual(settings);
  expect((await cox('serve', 'start')).code).toBe(0);
  const undo = await cox('init', '--undo');
  expect(undo.stdout).toContain('the server is stopped');
  expect(await readFile(local(), 'utf8')).toBe(before);
  expect((await stat(local())).mode & 0o777).toBe(0o644);
  expect(await readFile(exclude, 'utf8')).toBe(excluded);
  expect(existsSync(serveFileOf(cwd))).toBe(false);
  expect(settings && (await serverHealth(settings)).kind).toBe('none');
});

test('what would put the token where it can be seen, or cannot be, is refused', async () => {
  await writeFile(local(), '{}\n');
  spawnSync('git', ['add', '-f', '.claude/settings.local.json'], { cwd });
  const tracked = await cox('init', '--http', '--yes');
  expect([tracked.code, tracked.stderr]).toEqual([2, expect.stringContaining('git rm --cached')]);
  expect(await readFile(local(), 'utf8')).toBe('{}\n');
  expect((await cox('init', '--http', '--user', '--yes')).stderr).toContain('omit --user');
  expect((await cox('init', '--port', '2000', '--yes')).code).toBe(2);
  expect((await cox('init', '--http', '--port', '80', '--yes')).code).toBe(2);
  expect((await cox('serve')).stderr).toContain('init claude-code --http');
  expect((await cox('serve', 'dance')).code).toBe(2);
  expect((await cox('serve', '--idle', 'soon')).code).toBe(2);
});

test('commands again in place of requests take the server away', async () => {
  await cox('init', '--http', '--yes');
  expect((await cox('serve', 'start')).code).toBe(0);
  expect((await cox('init', '--yes')).code).toBe(0);
  expect(await readFile(local(), 'utf8')).not.toContain('"http"');
  expect(existsSync(serveFileOf(cwd))).toBe(false);
  expect(findServer(cwd)).toBeUndefined();
});

test('serve starts once, tells how it is, and stops', async () => {
  await cox('init', '--http', '--yes');
  expect(await cox('serve', 'status')).toMatchObject({ code: 1, stdout: expect.stringContaining('not running') });
  const starts = await Promise.all([cox('serve'), cox('serve', 'start', '--idle', '2h')]);
  expect(starts.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const pid = await pidOf();
  expect(await cox('serve', 'start')).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
  expect(await pidOf()).toBe(pid);
  expect((await cox('serve', 'status')).stdout).toMatch(/^running: .*\nup .*0 events, 0 runs in memory, 0 faults/);
  const [status] = jsonLines((await cox('serve', 'status', '--json')).stdout);
  expect(status).toMatchObject({ running: true, pid, project: cwd });
  expect(JSON.stringify(status)).not.toContain(readServeSettings(cwd)?.token);
  expect((await cox('serve', 'stop')).stdout).toBe('stopped\n');
  expect(await cox('serve', 'stop')).toMatchObject({ code: 0, stdout: 'no server was running\n' });
  expect((await health()).kind).toBe('none');
});

test('a start that another start overtakes ends its process, which would serve once the other is stopped', async () => {
  await cox('init', '--http', '--yes');
  const settings = readServeSettings(cwd);
  if (settings === undefined) throw new Error('init wrote no settings');
  const pidFile = join(folder, 'pid');
  const slow = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setTimeout(() => {}, ${HANGS_AFTER_MS})`;
  const program = [process.execPath, '-e', slow, '--'];
  const overtaken = startServer(cwd, { settings: { ...settings, program }, env });
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/);
  expect((await cox('serve', 'start')).code).toBe(0);
  const pid = await pidOf();
  expect(await overtaken).toMatchObject({ kind: 'running', facts: { pid } });
  const slowPid = Number(readFileSync(pidFile, 'utf8'));
  await expect.poll(() => isRunning(slowPid)).toBe(false);
});

test('a port in use, and settings readable by others, are reported', async () => {
  const other = createServer((_request, response) => response.end('hello'));
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => {
      const address = other.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  writeServeSettings(cwd, { port, token: 'a token that is long enough for the tests', program: [process.execPath] });
  try {
    expect(await cox('serve')).toMatchObject({ code: 1, stderr: expect.stringContaining('another program uses port') });
    expect(await cox('serve', 'run')).toMatchObject({ code: 1, stderr: expect.stringContaining('another program') });
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
  await chmod(serveFileOf(cwd), 0o644);
  expect(await cox('serve', 'status')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('other users can read'),
  });
});

/** A hook process, as the settings start it. */
function hook(event: Readonly<Record<string, unknown>>): string {
  const input = JSON.stringify({ session_id: 's1', cwd, ...event });
  const started = { env: { ...env, CLAUDE_PROJECT_DIR: cwd }, input, timeout: HANGS_AFTER_MS };
  const ended = spawnSync(process.execPath, [join(built.path, 'hook.cjs')], started);
  expect([ended.status, String(ended.stderr)]).toEqual([0, '']);
  return String(ended.stdout);
}

test('a session or a prompt starts the server where there is one, also after a crash that left its record', async () => {
  hook({ hook_event_name: 'SessionStart', source: 'startup' });
  expect((await health()).kind).toBe('none');
  await cox('init', '--http', '--yes');
  hook({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {}, tool_use_id: 'c1' });
  expect((await health()).kind).toBe('none');
  hook({ hook_event_name: 'SessionStart', source: 'startup' });
  const first = await pidOf();
  hook({ hook_event_name: 'UserPromptSubmit', prompt: 'One' });
  expect(await pidOf()).toBe(first);
  process.kill(first, 'SIGKILL');
  expect(existsSync(stateFile('serverRecord', { env, projectFolder: cwd }))).toBe(true);
  hook({ hook_event_name: 'UserPromptSubmit', prompt: 'Two' });
  expect(await pidOf()).not.toBe(first);
  const lines = loggedFaults({ project: cwd, env }).split('\n');
  expect(lines.filter((line) => line !== '' && !line.includes('did not respond in 3 seconds'))).toEqual([]);
});

test('a silent server is left alone by a prompt, reported, and replaced by the next session', async () => {
  await cox('init', '--http', '--yes');
  hook({ hook_event_name: 'SessionStart', source: 'startup' });
  const pid = await pidOf();
  process.kill(pid, 'SIGSTOP');
  hook({ hook_event_name: 'UserPromptSubmit', prompt: 'One' });
  expect(findServer(cwd)?.holder.pid).toBe(pid);
  expect(loggedFaults({ project: cwd, env })).toContain('the server does not respond');
  hook({ hook_event_name: 'SessionStart', source: 'startup' });
  expect(await pidOf()).not.toBe(pid);
});

test('a record of a different process, or of another host, is not a server, and no process is stopped for it', async () => {
  await cox('init', '--http', '--yes');
  hook({ hook_event_name: 'SessionStart', source: 'startup' });
  const record = findServer(cwd);
  await stopServer(cwd);
  const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    for (const other of [{ pid: bystander.pid }, { pid: bystander.pid, processStart: '', host: 'elsewhere' }]) {
      const changed = { ...record, holder: { ...record?.holder, ...other } };
      await writeFile(stateFile('serverRecord', { env, projectFolder: cwd }), JSON.stringify(changed));
      expect(findServer(cwd)).toBeUndefined();
      expect(await stopServer(cwd)).toBe(false);
    }
    expect(bystander.exitCode).toBeNull();
    expect(bystander.signalCode).toBeNull();
  } finally {
    bystander.kill('SIGKILL');
  }
});

test('doctor reports a running server, a stopped one, one that does not answer and one with another token', async () => {
  await cox('init', '--http', '--yes');
  const doctor = async (): Promise<(check: string) => readonly unknown[]> => {
    const { stdout } = await cox('doctor', '--json');
    // The command's own answer.
    const lines = jsonLines(stdout)[0]?.['lines'] as readonly { readonly check: string }[];
    return (check) => lines.filter((line) => line.check === check);
  };
  const stopped = await doctor();
  expect(stopped('hooks')).toMatchObject([{ status: 'pass' }]);
  expect(stopped('server')).toMatchObject([{ status: 'unknown', found: expect.stringContaining('starts it') }]);

  await cox('serve', 'start');
  const there = await doctor();
  expect(there('server')).toMatchObject([{ status: 'pass' }]);
  const ways = [expect.stringContaining('sent through the hook'), expect.stringContaining('sent to the server')];
  expect(there('hook alive')).toMatchObject(ways.map((found) => ({ status: 'pass', found })));

  await writeFile(local(), (await readFile(local(), 'utf8')).replaceAll(/Bearer [\w-]+/g, 'Bearer another'));
  const found = expect.stringContaining('rejects the token');
  expect((await doctor())('server')).toMatchObject([{ status: 'fail', found }]);

  await cox('init', '--http', '--yes');
  const pid = findServer(cwd)?.holder.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  try {
    const silent = await doctor();
    expect(silent('server')).toMatchObject([{ status: 'fail', fix: expect.stringContaining('serve stop') }]);
  } finally {
    if (findServer(cwd)?.holder.pid === pid) process.kill(pid, 'SIGCONT');
  }
});
