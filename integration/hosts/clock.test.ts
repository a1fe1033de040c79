import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

import type { HostName } from '../../src/hosts/dialects/hook-dialect.ts';
import type { ModelFault, ModelTurn } from '../../src/testing/model-script.ts';
import { HOST_DRIVERS, type HostRun } from './host-drivers.ts';

const BIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'bin.ts');
const TASK = 'Fix the login test';
const MINUTE_MS = 60_000;
/** Both clocks of the watch run ahead by the number in a file, as if that time had passed. */
const CLOCKS = `
import { existsSync, readFileSync } from 'node:fs';
const [now, steady] = [Date.now, process.hrtime.bigint];
const laterMs = () => (existsSync(process.env.LATER) ? Number(readFileSync(process.env.LATER, 'utf8')) : 0);
Date.now = () => now() + laterMs();
process.hrtime.bigint = () => steady() + BigInt(laterMs()) * 1_000_000n;
`;

interface Scene {
  readonly host: HostName;
  readonly about: string;
  readonly turns: (host: HostName) => readonly (ModelTurn | ModelFault)[];
  /** Sessions, one after another. Default: 1. */
  readonly sessions?: number;
  /** What the notification says about the session; nothing if there must be none. */
  readonly told?: RegExp;
  /** True if the program still runs when the time has passed. */
  readonly isOpen?: true;
  /** True if a person at a terminal is asked. */
  readonly isAsked?: true;
  /** True if only a hook reports the start of a call. */
  readonly isHooked?: true;
  /** Answers every request of the program instead of the model. */
  readonly refusal?: object;
}

const shell = (host: HostName, command: string): ModelTurn => {
  const { args, name } = HOST_DRIVERS[host].shell(command);
  // Codex returns to the model after this time at most.
  const more = host === 'codex' ? { yield_time_ms: 30_000 } : {};
  return { text: 'I see.', calls: [{ id: 'call_1', name, args: { ...(args as object), ...more } }] };
};
const hangs = (host: HostName): readonly ModelTurn[] => [shell(host, 'sh deploy.sh')];
const isQuiet = (host: HostName): readonly ModelTurn[] => [shell(host, 'echo one'), { text: 'Done.' }];
const asks = (): readonly ModelTurn[] => [
  { calls: [{ id: 'toolu_w', name: 'Write', args: { file_path: '/etc/night', content: 'x' } }] },
];
const resets = "You've hit your limit · resets 3am (UTC)";
const SILENT = /^shop, ‘Fix the login test’ has had no record for 11 minutes: "sh deploy.sh" has no result;/;

const SCENES: readonly Scene[] = [
  { host: 'claude-code', about: 'a command hangs', turns: hangs, told: SILENT, isOpen: true },
  { host: 'codex', about: 'a command hangs', turns: hangs, told: SILENT, isOpen: true },
  { host: 'gemini', about: 'a command hangs', turns: hangs, told: SILENT, isOpen: true, isHooked: true },
  {
    host: 'claude-code',
    about: 'a person is asked for a permission',
    turns: asks,
    told: /^shop, ‘Fix the login test’ waits for permission/,
    isOpen: true,
    isAsked: true,
  },
  {
    host: 'claude-code',
    about: 'a limit is reached that says when it resets',
    turns: () => [{ error: { status: 429, message: resets } }],
    told: /^shop, ‘Fix the login test’ reached a limit: ".*resets 3am \(UTC\)"/,
  },
  {
    host: 'codex',
    about: 'a limit is reached that says when it resets',
    turns: () => [],
    refusal: { error: { type: 'usage_limit_reached', message: 'x', plan_type: 'plus', resets_at: 4_000_000_000 } },
    told: /^shop, ‘Fix the login test’ reached a limit: ".*[Tt]ry again at/,
  },
  ...(['claude-code', 'codex', 'gemini'] as const).map((host): Scene => ({
    host,
    about: 'sessions that answer cause no notification',
    turns: isQuiet,
    sessions: 10,
  })),
];

const programOf = (host: HostName): string => {
  const { program, version } = HOST_DRIVERS[host];
  return join(process.env['COXSWAIN_HOSTS'] ?? '', `${host}-${version}`, 'node_modules', '.bin', program);
};
const children: ChildProcess[] = [];
const homes: string[] = [];

afterEach(() => {
  for (const { pid } of children.splice(0)) if (pid !== undefined) kill(pid);
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

function kill(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function startServer({
  host,
  refusal,
  sessions = 1,
  turns,
}: Scene): Promise<{ url: string; close: () => unknown; asked: () => number }> {
  if (refusal !== undefined) {
    let count = 0;
    const server = createServer((request, response) => {
      count += 1;
      request
        .resume()
        .on('end', () => response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.on('listening', resolve));
    // It listens on a port, not on a pipe.
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, close: () => server.close(), asked: () => count };
  }
  const left = Array.from({ length: sessions }, () => turns(host)).flat();
  const last = turns(host).at(-1) ?? { text: 'Done.' };
  const server = await HOST_DRIVERS[host].startServer({ script: () => left.shift() ?? last });
  return { url: server.url, close: () => server.close(), asked: () => server.mainRequests().length };
}

test.each(SCENES.filter(({ host }) => existsSync(programOf(host))))('$host: $about', async (scene) => {
  const { host, isAsked, isHooked, isOpen, sessions = 1, told } = scene;
  const driver = HOST_DRIVERS[host];
  const home = mkdtempSync(join(tmpdir(), 'coxswain-clock-'));
  homes.push(home);
  const [project, later, toldFile] = [join(home, 'shop'), join(home, 'later'), join(home, 'told.jsonl')];
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(project, 'deploy.sh'), 'sleep 500\n');
  writeFileSync(join(home, 'clocks.mjs'), CLOCKS);
  mkdirSync(join(home, '.config', 'coxswain'), { recursive: true });
  const on = ['waiting', 'silent', 'limit', 'context', 'runaway', 'stuck', 'failed'];
  const notify = { on, command: ['sh', '-c', `cat >> '${toldFile}'; echo >> '${toldFile}'`] };
  writeFileSync(join(home, '.config', 'coxswain', 'config.json'), JSON.stringify({ notify }));
  const server = await startServer(scene);
  const place: HostRun = { home, project, url: server.url };
  driver.prepare?.(place);
  const PATH = `${dirname(process.execPath)}:${dirname(programOf(host))}:${process.env['PATH'] ?? ''}`;
  const env = { HOME: home, PATH, XDG_STATE_HOME: join(home, 'state'), TZ: 'UTC', TERM: 'xterm', LATER: later };
  const start = (
    program: string,
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): ChildProcess => {
    const options = {
      cwd: project,
      env: { ...env, ...more },
      detached: true,
    };
    const child = spawn(program, args, { ...options, stdio: ['pipe', 'ignore', 'ignore'] });
    if (isAsked !== true) child.stdin?.end();
    children.push(child);
    return child;
  };
  if (isHooked === true) spawnSync(process.execPath, [BIN, 'init', host, '--yes', '--user'], { cwd: project, env });
  start(process.execPath, ['--import', join(home, 'clocks.mjs'), BIN, 'watch', '--json']);
  const more = { CLAUDE_CODE_MAX_RETRIES: '1', ...driver.env(place) };
  const isTrusted = { hasTrustDialogAccepted: true };
  if (isAsked === true) {
    const key = { approved: [driver.env(place)['ANTHROPIC_API_KEY']], rejected: [] };
    const settings = { hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: key };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ ...settings, projects: { [project]: isTrusted } }));
  }
  for (let session = 0; session < sessions; session += 1) {
    const child =
      isAsked === true
        ? start('script', ['-qfec', `'${programOf(host)}' '${TASK}' --model claude-sonnet-4-5`, '/dev/null'], more)
        : start(programOf(host), driver.args(TASK, place), more);
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
    await expect.poll(isOpen === true ? () => server.asked() > 0 : isOver).toBe(true);
  }
  expect(server.asked()).toBeGreaterThanOrEqual(sessions);
  // The watch takes a small file for settled after ten seconds.
  await new Promise((resolve) => setTimeout(resolve, 13_000));
  writeFileSync(later, String(11 * MINUTE_MS));
  const toldLines = (): readonly string[] =>
    existsSync(toldFile) ? readFileSync(toldFile, 'utf8').trim().split(/\n+/).filter(Boolean) : [];
  const wanted = told === undefined ? 0 : 1;
  await expect.poll(() => toldLines().length).toBeGreaterThanOrEqual(wanted);
  // Nothing follows.
  await new Promise((resolve) => setTimeout(resolve, told === undefined ? 15_000 : 5_000));
  await server.close();
  const messages = toldLines().map((line) => (JSON.parse(line) as { readonly message: string }).message);
  process.stdout.write(`${host}, ${scene.about}: ${messages.join(' | ')}\n`);
  expect(messages.length).toBe(wanted);
  for (const message of messages) expect(message).toMatch(told ?? /^$/);
});
