import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';

import { endWithTest } from './support/end-with-test.ts';
import { freePort } from './support/free-port.ts';
import { buildHook } from '../scripts/build-hook.ts';
import { runServer, type RunningServer } from '../src/hosts/claude-code/run-server.ts';
import { readServeSettings, serveFileOf, writeServeSettings } from '../src/hosts/claude-code/serve-settings.ts';
import { serverHealth } from '../src/hosts/claude-code/server-health.ts';
import { findServer } from '../src/hosts/claude-code/server-process.ts';
import { noPostgres, startPostgres } from './support/postgres-server.ts';
import { stateFile } from '../src/core/node/state-places.ts';
import { testFolder } from './support/test-folder.ts';
import { storedRecords } from './support/stored-records.ts';
import { loggedFaults, storeFileOf, trustAs } from './user-state.ts';

const TOKEN = 'a token of the tests that is long enough';
const built = testFolder();
const running: RunningServer[] = [];

beforeAll(async () => {
  await buildHook(built);
  // As in the package, where this one lies beside the hook.
  mkdirSync(join(built, 'stores', 'registry'), { recursive: true });
  const registry = new URL('../src/stores/registry/open-store.ts', import.meta.url).href;
  writeFileSync(join(built, 'stores', 'registry', 'open-store.js'), `export * from ${JSON.stringify(registry)};\n`);
});

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

interface Place {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

function newPlace(): Place {
  const home = testFolder();
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const XDG_CONFIG_HOME = join(home, '.config');
  // Without a limit over the run, so that a short one hears several pieces.
  mkdirSync(join(XDG_CONFIG_HOME, 'coxswain'), { recursive: true });
  writeFileSync(join(XDG_CONFIG_HOME, 'coxswain', 'config.json'), '{ "noise": { "callsPerAdvice": 0 } }');
  return {
    project,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      XDG_CONFIG_HOME,
      XDG_DATA_HOME: join(home, 'data'),
      // As in this process, which has the server in it.
      XDG_STATE_HOME: process.env['XDG_STATE_HOME'] ?? '',
      CLAUDE_PROJECT_DIR: project,
    },
  };
}

async function serve(
  place: Place,
  more: { readonly maxRuns?: number; readonly idleLimitMs?: number } = {},
): Promise<RunningServer> {
  const { project, env } = place;
  if (!existsSync(serveFileOf(project))) {
    writeServeSettings(project, { port: await freePort(), token: TOKEN, program: [process.execPath, 'unused'] });
  }
  const settings = readServeSettings(project);
  if (settings === undefined) throw new Error('the settings of the server are not there');
  const server = await runServer({ projectFolder: project, settings, env, ...more });
  running.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send({ port }: RunningServer, body: string | Buffer, sent: Sent = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...sent.headers };
  const { path = '/coxswain-hook', method = 'POST' } = sent;
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends all of an event but its last byte, and that when it is told to. */
function hold(
  { port }: RunningServer,
  body: string,
): { readonly sent: Promise<void>; readonly finish: () => Promise<Answer> } {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-length': String(Buffer.byteLength(body)) };
  const outgoing = request({ host: '127.0.0.1', port, path: '/coxswain-hook', method: 'POST', headers });
  const answer = new Promise<Answer>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: '' }));
    });
  });
  const sent = new Promise<void>((resolve) => outgoing.write(body.slice(0, -1), () => resolve()));
  return {
    sent,
    finish: () => {
      outgoing.end(body.slice(-1));
      return answer;
    },
  };
}

/** Not waited for with this thread, because the server is in it. */
async function hook({ env }: Place, input: string): Promise<string> {
  const child = spawn(process.execPath, [join(built, 'hook.cjs')], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  endWithTest(child);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code).toBe(0);
  return stdout;
}

const event = (name: string, more: object = {}, session = 's1'): string =>
  JSON.stringify({ session_id: session, hook_event_name: name, ...more });

const call = (id: string, command = 'npm test'): object => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
});

/** A session that goes round in circles, with a subagent, a failing tool, a denied call and a compaction. */
function script(session = 's1'): readonly string[] {
  const of = (name: string, more: object = {}): string => event(name, more, session);
  const agent = { agent_id: 'a1', agent_type: 'helper' };
  const turn = (id: string, command: string, stdout: string): readonly string[] => [
    of('PreToolUse', call(id, command)),
    of('PostToolUse', { ...call(id, command), tool_response: { stdout, stderr: '' } }),
    of('PostToolBatch', { tool_calls: [{ ...call(id, command), tool_response: stdout }] }),
  ];
  const failure = (id: string): readonly string[] => [
    of('PreToolUse', call(id, `make part-${id}`)),
    of('PostToolUseFailure', { ...call(id, `make part-${id}`), error: 'Exit code 2\nmake: cc: No such file' }),
    of('PostToolBatch', { tool_calls: [{ ...call(id, `make part-${id}`), tool_response: 'Exit code 2' }] }),
  ];
  return [
    of('SessionStart', { source: 'startup', model: 'model-x' }),
    of('UserPromptSubmit', { prompt: 'Fix the build' }),
    ...['t1', 't2', 't3', 't4'].flatMap((id) => turn(id, 'npm test', 'up to date')),
    of('SubagentStart', agent),
    of('PreToolUse', { ...agent, ...call('c1', 'ls') }),
    of('PostToolUse', { ...agent, ...call('c1', 'ls'), tool_response: { stdout: 'a', stderr: '' } }),
    of('SubagentStop', { ...agent, last_assistant_message: 'Done' }),
    ...['f1', 'f2', 'f3', 'f4', 'f5', 'f6'].flatMap(failure),
    of('PreToolUse', call('denied', 'rm x')),
    of('PostToolBatch', { tool_calls: [{ ...call('denied', 'rm x'), tool_response: 'Permission denied.' }] }),
    of('PreCompact', { trigger: 'auto' }),
    of('Stop', { stop_hook_active: false, last_assistant_message: 'All done' }),
    of('SessionEnd', { reason: 'other' }),
  ];
}

/** Texts of advice that answers hold; of a bare line, none. */
function textOf(answer: string): string | undefined {
  if (answer === '') return undefined;
  const parsed = JSON.parse(answer) as { readonly hookSpecificOutput?: { readonly additionalContext?: string } };
  return parsed.hookSpecificOutput?.additionalContext;
}

/** Records as they are stored, without what differs from one play to the next: times. */
async function comparableRecords(place: Place, runId?: string): Promise<readonly unknown[]> {
  const text = JSON.stringify(await storedRecords(place, runId), (key, value: unknown) =>
    /_ms$|^atMs$|At(Ms)?$|_hash$|Seen$/.test(key) ? 0 : value,
  );
  return JSON.parse(text) as readonly unknown[];
}

test('processes and the server in turn say and record what either way alone says and records', async () => {
  const ways = ['processes', 'server', 'in turn', 'in turns of three'] as const;
  const outcomes = new Map<string, unknown>();
  for (const way of ways) {
    const place = newPlace();
    const server = way === 'processes' ? undefined : await serve(place);
    const texts: (string | undefined)[] = [];
    for (const [index, input] of script().entries()) {
      const isServed =
        way === 'server' || (way === 'in turn' && index % 2 === 0) || (way === 'in turns of three' && index % 6 < 3);
      const answer = server !== undefined && isServed ? (await send(server, input)).body : await hook(place, input);
      texts.push(textOf(answer));
    }
    expect(loggedFaults(place)).toBe('');
    outcomes.set(way, {
      texts,
      session: await comparableRecords(place),
      agent: await comparableRecords(place, 's1/a1'),
    });
  }
  const alone = outcomes.get('processes') as { readonly texts: readonly unknown[] };
  expect(alone.texts.filter((text) => text !== undefined).length).toBeGreaterThan(2);
  for (const way of ways.slice(1)) expect([way, outcomes.get(way)]).toEqual([way, alone]);
});

test.skipIf(noPostgres !== undefined)('with a store in PostgreSQL the two ways mix as well', async () => {
  const database = await startPostgres({ fsync: 'off' });
  onTestFinished(() => database.dispose());
  const place = newPlace();
  const config = JSON.stringify({ store: { address: database.url } });
  writeFileSync(join(place.project, 'coxswain.config.json'), config);
  trustAs(place);
  const server = await serve(place);
  const texts: (string | undefined)[] = [];
  const events = script().slice(0, 14);
  for (const [index, input] of events.entries()) {
    texts.push(textOf(index % 2 === 0 ? (await send(server, input)).body : await hook(place, input)));
  }
  expect(loggedFaults(place)).toBe('');
  expect(texts.some((text) => text?.includes('same call of Bash (npm) 3 times'))).toBe(true);
});

test('concurrent events over the memory limit are skipped', async () => {
  const place = newPlace();
  const server = await serve(place);
  const big = Array.from({ length: 12 }, (_, index) =>
    event('UserPromptSubmit', { prompt: 'x'.repeat(7_900_000) }, `big-${index}`),
  );
  const holds = big.map((body) => hold(server, body));
  // All but the last byte of each is there, and the server, which is in this thread, has read what the system holds of them.
  await Promise.all(holds.map(({ sent }) => sent));
  for (let turn = 0; turn < 2_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  const answers = await Promise.all(holds.map(({ finish }) => finish()));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  const passed = loggedFaults(place).match(/arrived in concurrent requests/g)?.length ?? 0;
  expect(passed).toBeGreaterThan(2);
  expect(passed).toBeLessThan(12);
  expect(await send(server, event('UserPromptSubmit', { prompt: 'x'.repeat(7_900_000) }, 'later'))).toMatchObject({
    status: 200,
  });
  expect(await storedRecords(place, 'later')).not.toEqual([]);
});

test('sixteen requests at once on one run lose no record, beside processes that add to it', async () => {
  const place = newPlace();
  const server = await serve(place);
  await send(server, event('UserPromptSubmit', { prompt: 'Do it' }));
  const ids = Array.from({ length: 16 }, (_, index) => `p${index}`);
  const answers = await Promise.all(
    ids.map((id) => {
      const outcome = { ...call(id, `echo ${id}`), tool_response: { stdout: id, stderr: '' } };
      return send(server, event('PostToolUse', outcome));
    }),
  );
  await hook(place, event('PostToolUse', { ...call('last', 'echo'), tool_response: { stdout: 'x', stderr: '' } }));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const all = await storedRecords(place);
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index));
  const ended = all.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload.tool_call_id] : []));
  expect(ended.toSorted()).toEqual([...ids, 'last'].toSorted());
  expect(loggedFaults(place)).toBe('');
});

test('many runs at once, more than stay in memory, each hear and record their own', async () => {
  const place = newPlace();
  const server = await serve(place, { maxRuns: 4 });
  const sessions = Array.from({ length: 12 }, (_, index) => `session-${index}`);
  const textsOfSessions = await Promise.all(
    sessions.map(async (session) => {
      const texts: (string | undefined)[] = [];
      for (const input of script(session)) texts.push(textOf((await send(server, input)).body));
      return texts;
    }),
  );
  expect(server.facts()).toMatchObject({ runs: 4, faults: 0, events: 12 * script().length });
  for (const texts of textsOfSessions) expect(texts).toEqual(textsOfSessions[0]);
  expect(textsOfSessions[0]?.some((text) => text?.includes('same call of Bash (npm) 3 times'))).toBe(true);
  const counts = await Promise.all(sessions.map(async (session) => (await storedRecords(place, session)).length));
  expect(new Set(counts)).toEqual(new Set([(await storedRecords(place, 'session-0')).length]));
});

test('a server that restarts in the middle of a run continues the run', async () => {
  const whole = newPlace();
  const first = await serve(whole);
  const texts: (string | undefined)[] = [];
  for (const input of script()) texts.push(textOf((await send(first, input)).body));

  const place = newPlace();
  const again: (string | undefined)[] = [];
  const events = script();
  for (const part of [events.slice(0, 7), events.slice(7, 20), events.slice(20)]) {
    const server = await serve(place);
    for (const input of part) again.push(textOf((await send(server, input)).body));
    await server.stop();
  }
  expect(again).toEqual(texts);
  expect(await comparableRecords(place)).toEqual(await comparableRecords(whole));
});

test.each([
  ['nothing', ''],
  ['no JSON', 'hello'],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
  ['a list', '[]'],
  ['an unknown event', event('SomethingNew')],
  ['an event without its call', event('PreToolUse')],
  ['an event of more than 8 MB', event('UserPromptSubmit', { prompt: 'x'.repeat(9_000_000) })],
])('%s is answered with nothing and written down, and the server goes on', async (_name, body) => {
  const place = newPlace();
  const server = await serve(place);
  expect(await send(server, body)).toEqual({ status: 200, body: '' });
  expect(loggedFaults(place)).toContain('"where":"input"');
  await send(server, event('UserPromptSubmit', { prompt: 'One' }));
  expect(await storedRecords(place)).not.toEqual([]);
});

test('a request without the token, for another host or another place is refused and not read', async () => {
  const place = newPlace();
  const server = await serve(place);
  const prompt = event('UserPromptSubmit', { prompt: 'One' });
  const status = async (sent: Sent): Promise<number> => (await send(server, prompt, sent)).status;
  expect(await status({ headers: { authorization: '' } })).toBe(401);
  expect(await status({ headers: { authorization: `Bearer ${TOKEN}x` } })).toBe(401);
  expect(await status({ headers: { authorization: TOKEN } })).toBe(401);
  expect(await status({ headers: { host: 'evil.example' } })).toBe(403);
  expect(await status({ headers: { host: 'evil.example:80', authorization: '' } })).toBe(403);
  expect(await status({ path: '/other' })).toBe(404);
  expect(await status({ method: 'PUT' })).toBe(405);
  expect(existsSync(storeFileOf(place))).toBe(false);
  // Once for all attempts, because attempts may be frequent.
  expect(loggedFaults(place).match(/without a valid token/g)).toHaveLength(1);
  expect(loggedFaults(place)).not.toContain(TOKEN);

  expect(await send(server, '', { method: 'GET', path: '/health', headers: { authorization: '' } })).toMatchObject({
    status: 401,
  });
  const { port } = server;
  expect(await serverHealth({ port, token: 'another token' })).toMatchObject({ kind: 'foreign' });
  expect(await serverHealth({ port, token: TOKEN })).toMatchObject({ kind: 'ours', facts: { pid: process.pid } });
  const open = await fetch(`http://127.0.0.1:${port}/health`);
  expect([open.status, await open.text()]).toEqual([200, '{"ok":true}']);
});

test('a session that switches coxswain off is not recorded', async () => {
  const place = newPlace();
  const server = await serve(place);
  const headers = { 'x-coxswain-disable': '1' };
  const prompt = event('UserPromptSubmit', { prompt: 'One' });
  expect(await send(server, prompt, { headers })).toEqual({ status: 200, body: '' });
  expect(existsSync(storeFileOf(place))).toBe(false);
  // As Claude Code sends it where the variable is not set.
  await send(server, prompt, { headers: { 'x-coxswain-disable': '' } });
  expect(await storedRecords(place)).not.toEqual([]);
});

test('a store that another process keeps locked does not hold the agent for long, and what waited is recorded afterwards, in order', async () => {
  const place = newPlace();
  const server = await serve(place);
  await send(server, event('UserPromptSubmit', { prompt: 'One' }));
  const database = new DatabaseSync(storeFileOf(place));
  database.exec('BEGIN IMMEDIATE');
  const waiting = send(server, event('PreToolUse', call('c1')));
  expect(await waiting).toEqual({ status: 200, body: '' });
  expect(loggedFaults(place)).toContain('locked');
  const late = send(server, event('PreToolUse', call('c2')));
  database.exec('ROLLBACK');
  database.close();
  expect((await late).status).toBe(200);
  const started = (await storedRecords(place)).flatMap(({ payload }) =>
    payload.kind === 'tool_started' ? [payload.tool_call_id] : [],
  );
  expect(started).toEqual(['c1', 'c2']);
});

test('a slow completion check delays no other session, and its result is reported', async () => {
  const place = newPlace();
  const config = join(place.env['XDG_CONFIG_HOME'] ?? '', 'coxswain');
  const started = join(place.project, 'started');
  const wait = `touch ${started}; while [ -e ${started} ]; do sleep 0.02; done; exit 3`;
  writeFileSync(join(config, 'config.json'), JSON.stringify({ completion: { command: ['sh', '-c', wait] } }));
  const server = await serve(place);
  await send(server, event('UserPromptSubmit', { prompt: 'One' }));
  const stop = send(server, event('Stop', { stop_hook_active: false, last_assistant_message: 'Done' }));
  await expect.poll(() => existsSync(started)).toBe(true);
  // Answered while the check still waits for this very line.
  expect(await send(server, event('UserPromptSubmit', { prompt: 'Two' }, 's2'))).toMatchObject({ status: 200 });
  rmSync(started);
  expect(JSON.parse((await stop).body)).toMatchObject({
    decision: 'block',
    reason: expect.stringContaining('exit code 3'),
  });
});

test('a server that is told to stop answers and stores what it has, and leaves no record of itself', async () => {
  const place = newPlace();
  const server = await serve(place);
  await send(server, event('UserPromptSubmit', { prompt: 'One' }));
  expect(findServer(place.project)?.holder.pid).toBe(process.pid);
  const database = new DatabaseSync(storeFileOf(place));
  database.exec('BEGIN IMMEDIATE');
  const waiting = send(server, event('PreToolUse', call('c1')));
  await expect.poll(() => server.facts().events).toBe(2);
  const stopped = server.stop();
  database.exec('ROLLBACK');
  database.close();
  expect((await waiting).status).toBe(200);
  await stopped;
  expect((await storedRecords(place)).map(({ payload }) => payload.kind)).toContain('tool_started');
  expect(existsSync(stateFile('serverRecord', { env: place.env, projectFolder: place.project }))).toBe(false);
  await expect(send(server, event('PreToolUse', call('c2')))).rejects.toThrow('ECONNREFUSED');
});

test('a server without events leaves, and so does one whose settings are gone', async () => {
  const idle = newPlace();
  const leaving = await serve(idle, { idleLimitMs: 50 });
  await leaving.stopped;
  expect(findServer(idle.project)).toBeUndefined();
  const place = newPlace();
  const server = await serve(place, { idleLimitMs: 1_000 });
  expect(findServer(place.project)).toBeDefined();
  rmSync(serveFileOf(place.project));
  await server.stopped;
  expect(findServer(place.project)).toBeUndefined();
});

test('a configuration that changes and a store that is replaced count from the next event on', async () => {
  const place = newPlace();
  const server = await serve(place);
  await send(server, event('UserPromptSubmit', { prompt: 'One' }, 'before'));
  writeFileSync(join(place.project, 'coxswain.config.json'), '{ "mode": "shadow", "deadlin": 1 }');
  trustAs(place);
  await send(server, event('UserPromptSubmit', { prompt: 'Two' }, 'after'));
  await send(server, event('UserPromptSubmit', { prompt: 'Three' }, 'after'));
  expect((await storedRecords(place, 'before'))[0]?.payload).toMatchObject({ steering: { mode: 'steer' } });
  expect((await storedRecords(place, 'after'))[0]?.payload).toMatchObject({ steering: { mode: 'shadow' } });
  expect(loggedFaults(place).trim().split('\n')).toEqual([expect.stringContaining('deadlin')]);

  const store = storeFileOf(place);
  for (const end of ['', '-wal', '-shm']) if (existsSync(store + end)) renameSync(store + end, `${store}.old${end}`);
  await send(server, event('UserPromptSubmit', { prompt: 'Four' }, 'moved'));
  expect(await storedRecords(place, 'moved')).not.toEqual([]);
});

test('settings that others may read do not count, because what they name is run', async () => {
  const place = newPlace();
  await serve(place);
  const file = serveFileOf(place.project);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, readFileSync(file), { mode: 0o644 });
  spawnSync('chmod', ['644', file]);
  expect(() => readServeSettings(place.project)).toThrow(/other users can read it/);
});

test("notifications of a stuck session come from the user's configuration, never from a repository's", async () => {
  const place = newPlace();
  const got: { readonly event: string; readonly run: string }[] = [];
  const people = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      const body = /\{.*\}$/s.exec(text)?.[0];
      if (body === undefined) return;
      got.push(JSON.parse(body) as (typeof got)[number]);
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => people.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void people.close());
  // It listens on a port.
  const { port } = people.address() as AddressInfo;
  const notify = (path: string): string => JSON.stringify({ notify: { webhook: `http://127.0.0.1:${port}/${path}` } });
  const config = join(place.env['XDG_CONFIG_HOME'] ?? '', 'coxswain');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(place.project, 'coxswain.config.json'), notify('of-the-repository'));
  const server = await serve(place);
  for (const input of script('s1')) await send(server, input);
  expect(got).toEqual([]);
  writeFileSync(join(config, 'config.json'), notify('own'));
  for (const input of script('s2')) await send(server, input);
  await server.stop();
  expect(got.map(({ event: what, run }) => `${what} ${run}`)).toContain('stuck s2');
  expect(got.filter(({ run }) => run !== 's2')).toEqual([]);
});
