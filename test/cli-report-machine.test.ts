import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { trustProject } from '../src/hosts/config/trust-project.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { useStoresFolder } from './cli-stores.ts';
import { homeOnly, jsonLines } from './run-cli.ts';
import { storeFileOf } from './user-state.ts';

interface NumberedItem {
  readonly number: number;
  readonly runId: string;
}

const here = useStoresFolder();
const HOUR_MS = 3_600_000;
const AN_HOUR_AGO = new Date(Date.now() - HOUR_MS).toISOString();

async function writeFileAt(path: string, text: string, hoursAgo = 0): Promise<void> {
  const full = join(here.cwd, 'home', path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, text);
  const atS = (Date.now() - hoursAgo * HOUR_MS) / 1_000;
  await utimes(full, atS, atS);
}

/** A Claude Code session of an hour ago that answered, or died of a rate limit. */
function session(sessionId: string, { died = false, cwd = '/gone/other', agentId = '' } = {}): string {
  const common = {
    sessionId,
    cwd,
    timestamp: AN_HOUR_AGO,
    ...(agentId === '' ? {} : { agentId, isSidechain: true }),
  };
  const usage = { input_tokens: 10, output_tokens: 5 };
  const content = [{ type: 'text', text: 'done' }];
  const answer = { role: 'assistant', model: 'm', stop_reason: 'end_turn', content, usage };
  const failure = { isApiErrorMessage: true, error: 'rate_limit' };
  const entries = [
    { ...common, type: 'user', uuid: `${agentId}1`, message: { role: 'user', content: `task of ${sessionId}` } },
    { ...common, type: 'assistant', uuid: `${agentId}2`, message: answer, ...(died ? failure : {}) },
  ];
  return entries.map((entry) => JSON.stringify(entry)).join('\n');
}

/** A store with the run `both` and its subagent, neither with an end on record. */
async function record(): Promise<void> {
  await writeFile(join(here.cwd, 'coxswain.config.json'), JSON.stringify({ store: { address: 'mine.db' } }));
  trustProject(here.cwd, { env: process.env });
  const store = sqliteStore(join(here.cwd, 'mine.db'));
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId: 'both', task: 'as the store has it' });
  run.emit({ type: 'turn_start' });
  run.child({ runId: 'both/a1' }).emit({ type: 'turn_start' });
  cox.startRun({ runId: 'sdk', conversationId: 'sdk-session' }).emit({ type: 'turn_start' });
  await cox.close();
  await store.close();
}

test('a report without a path covers the project store and the sessions of every program, each run once', async () => {
  await record();
  const rollout = await readFile(
    fileURLToPath(new URL('session-samples/codex-rollout.jsonl', import.meta.url)),
    'utf8',
  );
  await writeFileAt('.codex/sessions/rollout-1.jsonl', rollout.replaceAll('2026-11-23T03', AN_HOUR_AGO.slice(0, 13)));
  await writeFileAt('.claude/projects/-p/both.jsonl', session('both', { died: true }));
  await writeFileAt('.claude/projects/-p/both/subagents/agent-a1.jsonl', session('both', { agentId: 'a1' }));
  await writeFileAt('.claude/projects/-p/sdk-session.jsonl', session('sdk-session'));
  await writeFileAt('.claude/projects/-o/alone.jsonl', session('alone', { died: true }));
  await writeFileAt('.claude/projects/-o/nowhere.jsonl', session('nowhere', { cwd: '' }));
  await writeFileAt('.claude/projects/-o/old.jsonl', session('old'), 48);
  await writeFileAt('.claude/projects/-o/alone/subagents/agent-old.jsonl', session('alone', { agentId: 'old' }), 48);
  await writeFileAt('.claude/projects/-o/empty.jsonl', '');
  await writeFileAt('.cursor/chats/p/1/store.db', '');
  const env = homeOnly(join(here.cwd, 'home'));

  const { code, stderr, stdout } = await here.run(['report', '--json'], { env });
  expect([code, stderr]).toEqual([0, '']);
  const lines = jsonLines(stdout);
  const runs = lines.slice(0, -1);
  const codexId = /"session_id": "([^"]+)"/.exec(rollout)?.[1];
  expect(runs.length).toBe(6);
  expect(new Set(runs.map(({ id }) => id))).toEqual(new Set([codexId, 'alone', 'both', 'both/a1', 'nowhere', 'sdk']));
  const runOf = (wanted: string | undefined) => runs.find(({ id }) => id === wanted);
  expect(runOf('both')).toMatchObject({
    task: 'as the store has it',
    project: here.cwd,
    verdict: { verdict: 'failed', evidence: expect.stringContaining('rate limit') },
  });
  expect(runOf('both/a1')).toMatchObject({ ending: { reason: 'answered' } });
  // The records of a hook have no tokens.
  expect(runOf('sdk')).toMatchObject({ tokens: 15 });
  expect(runOf('alone')).toMatchObject({ project: '/gone/other', verdict: { verdict: 'failed' } });
  expect(runOf('nowhere')).toMatchObject({ project: join(here.cwd, 'home/.claude/projects/-o') });
  expect(runOf(codexId)).toMatchObject({ project: '/home/dev/project' });
  expect(lines.at(-1)).toMatchObject({
    projects: expect.arrayContaining([
      { project: here.cwd, count: 3, died: 1 },
      { project: '/gone/other', count: 1, died: 1 },
    ]),
    moments: expect.arrayContaining([
      expect.objectContaining({
        runId: 'both',
        command: expect.stringContaining(`coxswain view ${here.cwd}/mine.db --run both`),
      }),
      expect.objectContaining({
        runId: 'alone',
        command: expect.stringMatching(/^coxswain view \S*alone\.jsonl --run alone/),
      }),
    ]),
  });

  const plain = await here.run(['--all'], { env });
  expect([plain.code, plain.stderr]).toEqual([0, '']);
  expect(plain.stdout).toMatch(
    /\n\S*mine\.db, 5 session files of Claude Code, 1 session file of Codex, not read: 1 of\s+Cursor CLI\n/,
  );
  expect(plain.stdout).toContain('\nFailed or cut off: 2 (');
  expect((await here.run(['report', '--html', 'night.html'], { env })).code).toBe(0);
  expect(await readFile(join(here.cwd, 'night.html'), 'utf8')).toContain('/gone/other');
  const one = await here.run(['--project', 'other'], { env });
  expect(one.stdout).toContain('1 session in 1 project in the last 12 hours\n1 needs you: 1 failed (');
});

test('sessions are reported without a project store, and an empty night names the older files', async () => {
  await writeFileAt('.claude/projects/-o/alone.jsonl', session('alone'));
  const env = homeOnly(join(here.cwd, 'home'));
  const { code, stderr, stdout } = await here.run([], { env });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('task of alone');
  await writeFileAt('.claude/projects/-o/alone.jsonl', session('alone'), 48);
  const empty = await here.run([], { env });
  expect([empty.code, empty.stderr]).toEqual([0, expect.stringContaining('--since all reads 1 session file')]);
  const past = session('past').replaceAll(AN_HOUR_AGO, '2020-01-01T00:00:00.000Z');
  await writeFileAt('.claude/projects/-o/past.jsonl', past);
  const copied = await here.run([], { env });
  expect([copied.code, copied.stderr]).toEqual([0, expect.stringContaining('--since all reads 2 session files')]);
});

test('a prompt under the id of another session, with which a file begins, is no session of its own', async () => {
  const [prompt = ''] = session('earlier').split('\n');
  await writeFileAt('.claude/projects/-o/alone.jsonl', `${prompt}\n${session('alone')}`);
  const { stdout } = await here.run(['report', '--json', '--all'], { env: homeOnly(join(here.cwd, 'home')) });
  expect(jsonLines(stdout).flatMap(({ id }) => (typeof id === 'string' ? [id] : []))).toEqual(['alone']);
  // So is the interruption of that session, which may be dated a millisecond after the plan that this one begins with.
  const at = new Date(Date.parse(AN_HOUR_AGO) + 1).toISOString();
  const stray = prompt.replaceAll(AN_HOUR_AGO, at).replace('task of earlier', '[Request interrupted by user]');
  await writeFileAt('.claude/projects/-o/alone.jsonl', `${stray}\n${session('alone')}`);
  const again = await here.run(['report', '--json', '--all'], { env: homeOnly(join(here.cwd, 'home')) });
  expect(jsonLines(again.stdout).flatMap(({ id }) => (typeof id === 'string' ? [id] : []))).toEqual(['alone']);
});

test('the number of a run in the last report, or the beginning of its id, opens the run', async () => {
  await writeFileAt('.claude/projects/-o/alone.jsonl', session('alone', { died: true }));
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  expect((await here.run([], { env })).stdout).toContain('Open first: coxswain 1 (other: failed).');
  const opened = await here.run(['1'], { env });
  expect([opened.code, opened.stdout]).toEqual([0, expect.stringContaining('coxswain view')]);
  expect(opened.stdout).toContain('rate limit');
  expect((await here.run(['show', 'alo'], { env })).stdout).toContain('run alone');
  const narrow = { ...env, COLUMNS: '60' };
  for (const args of [['1'], ['--all'], ['failures']]) {
    const { stdout } = await here.run(args, { env: narrow });
    // A path in a command is one word of a shell.
    const long = stdout.split('\n').filter((line) => line.length > 60 && !/^ *\/\S+(?: \\|,)$/.test(line));
    expect([args, long]).toEqual([args, []]);
  }
  const said = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const { code, stderr } = await here.run(args, { env });
    return [code, stderr.replaceAll(here.cwd, '').replace(/^coxswain: |\n$/g, '')];
  };
  const ids = ['9ea477a8-0f3c-4a41-9d2f-1f4d7a5c9e10', '019f0675-1111-7922-bc85-6667a164e1c3'];
  for (const id of ids) await writeFileAt(`.claude/projects/-o/${id}.jsonl`, session(id));
  for (const start of ['9ea477a8', '019f0675-1111'])
    expect((await here.run([start], { env })).stdout).toContain(`task of ${start}`);
  expect(await said('9ea477a9')).toEqual([1, expect.stringContaining('no session 9ea477a9')]);
  const numbers = 'no run 9 in the last report: it has the number 1 only';
  expect(await said('9')).toEqual([2, numbers]);
  expect(await said('export', '9')).toEqual([2, numbers]);
  expect(await said('1', '2')).toEqual([2, 'a number opens one run of the last report: coxswain 1, or coxswain 2']);
  const exported = await here.run(['export', '1', '--format', 'openai'], { env });
  expect(exported.code).toBe(0);
  expect(exported.stdout).toContain('"role":"user"');
  for (const id of ids) {
    const { stdout } = await here.run(['export', id, '--format', 'openai'], { env });
    expect(stdout).toContain(`task of ${id.slice(0, 8)}`);
  }
  expect(await said('export', '9ea477a9')).toEqual([1, expect.stringContaining('no session 9ea477a9')]);
});

test('the page of a run says when it ended, what its subagents did, and which call to open first', async () => {
  const id = '9ea477a8-0f3c-4a41-9d2f-1f4d7a5c9e10';
  const [prompt = '', answer = ''] = session(id).split('\n');
  const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } };
  const result = { type: 'tool_result', tool_use_id: 't1', content: '1 failed, 2 passed', is_error: true };
  const at = { sessionId: id, cwd: '/gone/other', timestamp: AN_HOUR_AGO };
  const checked = [
    { ...at, type: 'assistant', uuid: 'a', message: { role: 'assistant', model: 'm', content: [call] } },
    { ...at, type: 'user', uuid: 'b', message: { role: 'user', content: [result] } },
  ].map((entry) => JSON.stringify(entry));
  await writeFileAt(`.claude/projects/-o/${id}.jsonl`, [prompt, ...checked, answer].join('\n'));
  const child = (agentId: string, died: boolean): Promise<void> =>
    writeFileAt(`.claude/projects/-o/${id}/subagents/agent-${agentId}.jsonl`, session(id, { agentId, died }));
  await child('a1', false);
  await child('a2', true);
  // The program's own requests are no subagents, and none of them is cut-off work.
  await child('acompact-1f', true);
  await child('aprompt_suggestion-2f', true);
  // A subagent of Codex has a file beside that of its session.
  const meta = (own: string, source: unknown): string =>
    JSON.stringify({ timestamp: AN_HOUR_AGO, type: 'session_meta', payload: { id: own, cwd: '/gone/c', source } });
  const codex = ['019f0675-1111-7922-bc85-6667a164e1c3', '019f0675-2222-7922-bc85-6667a164e1c3'] as const;
  const asked = JSON.stringify({
    timestamp: AN_HOUR_AGO,
    type: 'event_msg',
    payload: { type: 'user_message', message: 'sum it up' },
  });
  const spawned = { subagent: { thread_spawn: { parent_thread_id: codex[0], depth: 1 } } };
  await writeFileAt(`.codex/sessions/rollout-${codex[0]}.jsonl`, `${meta(codex[0], 'cli')}\n${asked}`);
  await writeFileAt(`.codex/sessions/rollout-${codex[1]}.jsonl`, `${meta(codex[1], spawned)}\n${asked}`);
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  const screen = (await here.run([], { env })).stdout;
  const number = / (\d+)$/m.exec(screen.split('\n').find((line) => line.startsWith('failed check ')) ?? '')?.[1] ?? '';
  const { stdout } = await here.run([number], { env });
  expect(stdout).toMatch(/\n {2}started \d{4}-\d\d-\d\d \d\d:\d\d, ended \d{4}-\d\d-\d\d \d\d:\d\d UTC\n/);
  expect(stdout).toContain(
    '\n  2 subagents with 0 calls; 1 failed or was cut off: task of 9ea477a8-0f3c-4a41-9d2f-1f4d7a5c9e10 (rate limit: done)\n',
  );
  expect(stdout).toContain('\n  open first call 1: 1 failed, 2 passed; npm test failed\n');
  expect(stdout).toContain(
    `\n  subagent task of ${id}: rate limit: done\n  coxswain show ${id.slice(0, 8)}/a2\n  subagent task of ${id}: it answered; no check that coxswain recognises\n  coxswain show ${id.slice(0, 8)}/a1\n`,
  );
  expect((await here.run(['show', `${id}/agent-a2`], { env })).stdout).toContain(`run ${id}/agent-a2\n`);
  expect(stdout).toContain(`\n  coxswain ${number} --call 1\n  coxswain view ${number} --call 1\n`);
  expect(stdout).toContain(`\n  to go on:\n  cd /gone/other && claude --resume ${id}\n`);
  expect(stdout).not.toContain('\n\n\n');
  expect((await here.run([number, '--call', '1'], { env })).stdout).toContain('1 failed, 2 passed');
  const all = jsonLines((await here.run(['--json'], { env })).stdout).at(-1)?.['sections'];
  const items = (all as readonly { readonly items: readonly NumberedItem[] }[]).flatMap((one) => one.items);
  const other = items.find(({ runId }) => runId === codex[0])?.number;
  expect((await here.run([String(other)], { env })).stdout).toContain('\n  1 subagent with 0 calls\n');
});

test('the page of a session opens first the check that failed in its subagent', async () => {
  const id = '8ea477a8-0f3c-4a41-9d2f-1f4d7a5c9e10';
  const [prompt = '', answer = ''] = session(id).split('\n');
  const used = (name: string, input: object, text: string, more: object = {}): readonly string[] => {
    const at = { sessionId: id, cwd: '/gone/other', timestamp: AN_HOUR_AGO, ...more };
    const content = [{ type: 'tool_use', id: name, name, input }];
    const result = { type: 'tool_result', tool_use_id: name, content: text, is_error: text.includes('failed') };
    return [
      { ...at, type: 'assistant', uuid: `${name}1`, message: { role: 'assistant', model: 'm', content } },
      { ...at, type: 'user', uuid: `${name}2`, message: { role: 'user', content: [result] } },
    ].map((entry) => JSON.stringify(entry));
  };
  const task = { description: 'Test it', prompt: 'Run the tests', subagent_type: 'general' };
  await writeFileAt(`.claude/projects/-o/${id}.jsonl`, [prompt, ...used('Task', task, 'done'), answer].join('\n'));
  const child = { agentId: 'a1', isSidechain: true };
  const [asked = '', said = ''] = session(id, { agentId: 'a1' }).split('\n');
  const tested = used('Bash', { command: 'npm test' }, '1 failed, 2 passed', child);
  await writeFileAt(`.claude/projects/-o/${id}/subagents/agent-a1.jsonl`, [asked, ...tested, said].join('\n'));
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  expect((await here.run([], { env })).stdout).toContain('npm test failed in a subagent');
  const { stdout } = await here.run(['1'], { env });
  expect(stdout).toContain(
    `\n  open first call 1: 1 failed, 2 passed; npm test failed in a subagent\n  coxswain show ${id.slice(0, 8)}/a1 --call 1\n  coxswain view `,
  );
  expect(stdout).toContain(`--run ${id}/agent-a1 --call 1\n`);
  expect((await here.run(['show', `${id}/agent-a1`, '--call', '1'], { env })).stdout).toContain('1 failed, 2 passed');
});

test('the page of a run that was cut off says that nothing tells why, its last request, and the end of its last message', async () => {
  const id = '7ea477a8-0f3c-4a41-9d2f-1f4d7a5c9e10';
  const at = { sessionId: id, cwd: "/gone/it's mine", timestamp: AN_HOUR_AGO };
  const call = { type: 'tool_use', id: 't1', name: 'Write', input: { file_path: '/gone/a.ts', content: 'x' } };
  const text = `All is planned.\n\n${'- a step\n'.repeat(60)}\n\nNow the files.`;
  const entries = [
    { ...at, type: 'user', uuid: 'a', message: { role: 'user', content: 'Plan it' } },
    {
      ...at,
      type: 'assistant',
      uuid: 'b',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Planned.' }] },
    },
    { ...at, type: 'user', uuid: 'c', message: { role: 'user', content: 'Now write it' } },
    { ...at, type: 'assistant', uuid: 'd', message: { role: 'assistant', content: [{ type: 'text', text }, call] } },
    {
      ...at,
      type: 'user',
      uuid: 'e',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'created' }] },
    },
    { ...at, type: 'assistant', uuid: 'f', message: { role: 'assistant', content: [{ ...call, id: 't2' }] } },
  ].map((entry) => JSON.stringify({ ...entry, timestamp: '2026-01-02T03:04:05.000Z' }));
  await writeFileAt(`.claude/projects/-o/${id}.jsonl`, entries.join('\n'));
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  const { stdout } = await here.run([id], { env });
  expect(stdout).toContain('\n  its records do not say why it ended\n');
  expect(stdout).toContain('\n  1 file changed, no commit seen\n');
  expect(stdout).toContain('\n  last request: Now write it\n  “All is planned. […] Now the files.”\n');
  expect(stdout).toContain(String.raw`cd '/gone/it'\''s mine' && claude --resume `);
});

test('a report on one project, and one for a program, leave the numbers of the last report and continue them', async () => {
  for (const id of ['shop-1', 'blog-1', 'shop-2'])
    await writeFileAt(`.claude/projects/-o/${id}.jsonl`, session(id, { cwd: `/gone/${id.slice(0, 4)}` }));
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  const numbersOf = async (...args: readonly string[]): Promise<Readonly<Record<string, number>>> => {
    const { stdout } = await here.run([...args, '--json'], { env });
    const sections = jsonLines(stdout).at(-1)?.['sections'] as readonly { readonly items: readonly NumberedItem[] }[];
    return Object.fromEntries(sections.flatMap(({ items }) => items).map(({ number, runId }) => [runId, number]));
  };
  await here.run(['report', '--project', 'blog'], { env });
  await here.run(['report', '--project', 'shop'], { env });
  expect(await numbersOf()).toEqual({ 'blog-1': 1, 'shop-1': expect.any(Number), 'shop-2': expect.any(Number) });
  await here.run([], { env });
  const printed = await numbersOf();
  expect(Object.values(printed).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  for (const project of ['shop', 'blog']) {
    await here.run(['report', '--project', project], { env });
    for (const [id, number] of Object.entries(printed))
      expect((await here.run([String(number)], { env })).stdout).toContain(`run ${id}`);
  }
});

test('a command for recorded runs says that none is recorded, and show says which ids it looked at', async () => {
  await writeFileAt('.claude/projects/-o/alone-1.jsonl', session('alone-1'));
  await writeFileAt('.claude/projects/-o/alone-2.jsonl', session('alone-2'));
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  const listed = await here.run(['runs'], { env });
  expect([listed.code, listed.stderr]).toEqual([
    1,
    'coxswain: no run of this project is recorded yet: coxswain --since all --all lists the session files of this machine, coxswain init records them from now on, coxswain demo a sample run\n',
  ]);
  const found = await here.run(['search', 'task', 'alone', '2'], { env });
  expect([found.code, found.stderr]).toEqual([0, '']);
  expect(found.stdout).toMatch(
    /^2 hits in 2 session files of this machine, .*\n\S+ \d\d:\d\d {2}alone-2 {2}start {2}user +task of alone-2\n/,
  );
  const nothing = await here.run(['search', 'zebra'], { env });
  expect([nothing.code, nothing.stderr, nothing.stdout]).toEqual([
    0,
    'coxswain: nothing found in recorded runs and in 2 session files of this machine\n',
    '',
  ]);
  for (const args of [['verify'], ['export'], ['gc', '--older-than', '1d']]) {
    const { code, stderr } = await here.run(args, { env });
    expect([args[0], code, stderr]).toEqual([
      args[0],
      1,
      'coxswain: no run of this project is recorded yet, and this command reads recorded runs only: coxswain init records sessions from now on, coxswain demo a sample run, coxswain analyze PATH --store FILE those of files\n',
    ]);
  }
  const none = await here.run(['show', 'zzzz'], { env });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no session zzzz: neither a recorded run nor')]);
  const both = await here.run(['show', 'alone'], { env });
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('matches 2 sessions: alone-')]);
});

test('search shows an id that opens the run of a subagent, and show accepts its own id, its start, and that of its session', async () => {
  const id = '52af27c1-0f3c-4a41-9d2f-1f4d7a5c9e10';
  const agentId = 'a19d63f0123456789';
  await writeFileAt(`.claude/projects/-o/${id}.jsonl`, session(id));
  await writeFileAt(`.claude/projects/-o/${id}/subagents/agent-${agentId}.jsonl`, session(id, { agentId }));
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  const { stdout } = await here.run(['search', 'done'], { env });
  expect(stdout).toContain('2 hits in 1 session file of this machine, the newest first');
  expect(stdout).toContain('  52af27c1/a19d63f0  ');
  expect(stdout).toMatch(/ {2}52af27c1 {2}/);
  for (const name of ['52af27c1/a19d63f0', 'a19d63f0', agentId, `${id}/${agentId}`]) {
    const shown = await here.run(['show', name, '--json'], { env });
    expect(shown.stderr).toBe('');
    expect([name, jsonLines(shown.stdout)[0]?.['id']]).toEqual([name, `${id}/agent-${agentId}`]);
  }
  const parent = await here.run(['show', '52af27c1', '--json'], { env });
  expect(jsonLines(parent.stdout)[0]?.['id']).toBe(id);
});

test('show finds recorded subagents by the starts of both ids, and search says that it read this project only', async () => {
  await record();
  const env = homeOnly(join(here.cwd, 'home'));
  for (const name of ['bo/a1', 'both/a1'])
    expect((await here.run(['show', name], { env })).stdout).toContain('both/a1');
  expect((await here.run(['show', 'both'], { env })).stdout).toContain('as the store has it');
  const found = await here.run(['search', 'as', 'the', 'store'], { env });
  expect([found.code, found.stdout]).toEqual([0, expect.stringMatching(/ in the records of this project \(--all: /)]);
  await writeFileAt('.claude/projects/-o/alone-1.jsonl', session('alone-1'));
  const all = await here.run(['search', 'alone', '--all'], { env });
  expect(all.stdout).toMatch(/^2 hits in 1 session file of this machine, /);
});

test('without a command, a store and a session it says so in two lines', async () => {
  const { code, stderr, stdout } = await here.run([], { env: homeOnly(join(here.cwd, 'empty-home')) });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^No session of [^\n]+\nTry coxswain demo[^\n]+\n$/);
});

test('a session without an end is dead if its process is gone, and waits if the program says so', async () => {
  const [asked = ''] = session('waits').split('\n');
  await writeFileAt('.claude/projects/-o/waits.jsonl', asked);
  await writeFileAt('.claude/projects/-o/dead.jsonl', asked.replaceAll('waits', 'dead'));
  const env = homeOnly(join(here.cwd, 'home'));
  const evidence = async (): Promise<unknown> => {
    const runs = jsonLines((await here.run(['report', '--json'], { env })).stdout).slice(0, -1);
    return Object.fromEntries(runs.map(({ id, verdict }) => [id, (verdict as { readonly evidence: string }).evidence]));
  };
  const unknown = 'no answer yet, no record for 1.0 hours';
  expect(await evidence()).toEqual({ waits: unknown, dead: unknown });
  const open = { pid: process.pid, sessionId: 'waits', waitingFor: 'permission prompt' };
  await writeFileAt('.claude/sessions/1.json', JSON.stringify(open));
  expect(await evidence()).toEqual({ waits: 'waiting for permission', dead: 'its process ended before it answered' });
  const detail = async (id: string): Promise<string> => (await here.run(['show', id], { env })).stdout;
  const address = storeFileOf({ project: here.cwd, env });
  expect([await detail('dead'), await detail('waits')]).toEqual([
    expect.stringContaining('its process ended'),
    expect.stringContaining('waiting for permission'),
  ]);
  await here.run(['analyze', join('home', '.claude', 'projects', '-o', 'dead.jsonl'), '--store', address], { env });
  expect(await detail('dead')).toContain('its process ended');
});

test('a session without an end and without a record for hours counts as dead, unless its process exists', async () => {
  const atMs = Date.now() - 8 * HOUR_MS;
  const [asked = ''] = session('silent').replaceAll(AN_HOUR_AGO, new Date(atMs).toISOString()).split('\n');
  await writeFileAt('.claude/projects/-o/silent.jsonl', asked);
  const env = homeOnly(join(here.cwd, 'home'));
  const { stdout } = await here.run([], { env });
  expect(stdout).toContain('1 needs you: 1 cut off (no cause on record)');
  expect(stdout).not.toContain('At work');
  expect(stdout).toMatch(/cut off +other +before it answered – task of silent +(?:\d\d:\d\d +)?1\n/);
  const transcript = join('home', '.claude', 'projects', '-o', 'silent.jsonl');
  expect((await here.run(['analyze', transcript], { env })).stdout).toMatch(
    /✗ .* cut off before it answered; no record for 8\.\d hours/,
  );
  await writeFileAt('.claude/sessions/1.json', JSON.stringify({ pid: process.pid, sessionId: 'silent' }));
  expect((await here.run([], { env })).stdout).toMatch(
    /1 needs you: 1 silent\nsilent +other +no record for 8\.\d hours: its model has not answered – task of silent/,
  );
});

test('a session that hangs since before the time span is listed if its file was written in it, and others are counted', async () => {
  const earlier = new Date(Date.now() - 14 * HOUR_MS).toISOString();
  const [task = ''] = session('hangs').split('\n');
  const call = { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'git diff' } };
  const turn = { role: 'assistant', model: 'm', stop_reason: 'tool_use', content: [call] };
  const entry = { sessionId: 'hangs', cwd: '/gone/other', timestamp: earlier };
  // The user wrote to the session two hours ago. Claude Code queues the message until the agent is free.
  const queued = { type: 'queue-operation', operation: 'enqueue', content: 'are you alive?', ...entry };
  const lines = [
    task.replaceAll(AN_HOUR_AGO, earlier),
    JSON.stringify({ ...entry, type: 'assistant', uuid: 'a2', message: turn }),
    JSON.stringify({ ...queued, timestamp: new Date(Date.now() - 2 * HOUR_MS).toISOString() }),
  ];
  await writeFileAt('.claude/projects/-o/hangs.jsonl', lines.join('\n'), 2);
  await writeFileAt('.claude/projects/-o/answered.jsonl', session('answered').replaceAll(AN_HOUR_AGO, earlier), 2);
  const { code, stderr, stdout } = await here.run([], { env: homeOnly(join(here.cwd, 'home')) });
  expect([code, stderr]).toEqual([
    0,
    'coxswain: 1 session left out: written in this time, but the last record is older; --since all goes further back\n',
  ]);
  expect(stdout).toMatch(/1 session in 1 project.*\n.*\n.*while git diff.* ran.*task of hangs/);
});

test('a recorded session that this machine has no file of is not called dead: it may be at work in a container', async () => {
  const [asked = ''] = session('dead').split('\n');
  await writeFileAt('.claude/projects/-o/dead.jsonl', asked);
  await writeFileAt('.claude/sessions/1.json', JSON.stringify({ pid: process.pid, sessionId: 'other' }));
  await writeFile(join(here.cwd, 'elsewhere.jsonl'), asked.replaceAll('dead', 'elsewhere'));
  const env = homeOnly(join(here.cwd, 'home'));
  const address = storeFileOf({ project: here.cwd, env });
  await here.run(['analyze', 'elsewhere.jsonl', '--store', address], { env });
  await here.run(['analyze', join('home', '.claude', 'projects', '-o', 'dead.jsonl'), '--store', address], { env });
  const unknown = 'no answer yet, no record for 1.0 hours';
  for (const paths of [[], [address]]) {
    const runs = jsonLines((await here.run(['report', ...paths, '--json'], { env })).stdout).slice(0, -1);
    const evidence = runs.map(({ id, verdict }) => [id, (verdict as { readonly evidence: string }).evidence]);
    expect(Object.fromEntries(evidence)).toEqual({ dead: 'its process ended before it answered', elsewhere: unknown });
  }
});

test('the page of a recorded session has the calls, the times and the end that the list has from its file', async () => {
  await record();
  await writeFileAt('.claude/projects/-p/both.jsonl', session('both', { died: true }));
  await writeFileAt('.claude/projects/-p/both/subagents/agent-a1.jsonl', session('both', { agentId: 'a1' }));
  const env = homeOnly(join(here.cwd, 'home'));
  const { stdout: list } = await here.run(['--all'], { env });
  const { code, stderr, stdout: page } = await here.run(['show', 'both'], { env });
  expect([code, stderr]).toEqual([0, '']);
  const [, end = '', counts = ''] =
    /as the store has it.*\n {2}(.*)\n {2}\S+ \S+ (\d+ calls?, \d+ errors?)/.exec(list) ?? [];
  expect([end, counts]).toEqual(['rate limit: done', expect.any(String)]);
  expect(page).toContain(end);
  expect(page).toContain(counts);
});

test('the page of a recorded session names the folder to go on in, its number, and nothing that it has nothing to say about', async () => {
  await writeFile(join(here.cwd, 'coxswain.config.json'), JSON.stringify({ store: { address: 'mine.db' } }));
  trustProject(here.cwd, { env: process.env });
  const store = sqliteStore(join(here.cwd, 'mine.db'));
  const cox = createCoxswain({ store });
  await cox.startRun({ runId: 'hooked', task: 'go', host: 'claude-code' }).end('error');
  await cox.close();
  await store.close();
  await writeFileAt('.claude/projects/-p/hooked.jsonl', session('hooked', { died: true }));
  const env = { ...homeOnly(join(here.cwd, 'home')), XDG_STATE_HOME: join(here.cwd, 'state') };
  await here.run([], { env });
  const { stdout } = await here.run(['1'], { env });
  expect(stdout).toContain('\n  to go on:\n  cd /gone/other && claude --resume hooked\n');
  expect(stdout).toContain('\n  coxswain view 1\n');
  expect(stdout).not.toMatch(/Got stuck|Cost of it|Advice|Did it help/);
});

test('telemetry that names a session takes no row from it, and its own calls do not count twice', async () => {
  await record();
  const span = (attributes: Readonly<Record<string, string>>, spanId: string): object => ({
    traceId: 'ab'.repeat(16),
    spanId,
    name: 'x',
    startTimeUnixNano: `${Date.now() - HOUR_MS}000000`,
    endTimeUnixNano: `${Date.now() - HOUR_MS + 1_000}000000`,
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  });
  const agent = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.input.messages': '[{"role":"user","content":"tidy the readme"}]',
  };
  const spans = ['alone', 'both', 'sdk-session', 'unknown'].map((name, index) =>
    span({ ...agent, 'gen_ai.conversation.id': name }, `${index + 1}`),
  );
  await writeFile(join(here.cwd, 'spans.json'), JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
  const recorded = await here.run(['analyze', 'spans.json', '--summary', '--store', 'mine.db']);
  expect(recorded.stderr).toBe('');
  await writeFileAt('.claude/projects/-p/both.jsonl', session('both', { died: true }));
  await writeFileAt('.claude/projects/-p/sdk-session.jsonl', session('sdk-session'));
  await writeFileAt('.claude/projects/-o/alone.jsonl', session('alone', { died: true }));

  const { code, stderr, stdout } = await here.run(['report', '--json'], { env: homeOnly(join(here.cwd, 'home')) });
  expect([code, stderr]).toEqual([0, expect.stringContaining('note: 3 runs of telemetry left out')]);
  const runs = jsonLines(stdout).slice(0, -1);
  const trace = `otel-${'ab'.repeat(16)}`;
  expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(['alone', 'both', 'both/a1', `${trace}-4`, 'sdk']));
  expect(runs).toHaveLength(5);
  expect(runs.find(({ id }) => id === 'alone')).toMatchObject({ task: 'task of alone' });
  expect(runs.find(({ id }) => id === 'both')).toMatchObject({ task: 'as the store has it' });
});

test('a command completes the runs of every project from their session files, by the configuration of each project', async () => {
  const env = homeOnly(join(here.cwd, 'home'));
  const folders = ['left', 'right'].map((name) => join(here.cwd, name));
  for (const [at, cwd] of folders.entries()) {
    const id = `session-${at}`;
    await mkdir(join(cwd, '.git'), { recursive: true });
    await writeFileAt(`.claude/projects/p${at}/${id}.jsonl`, session(id, { cwd: at === 0 ? cwd : '/gone/other' }), 0.5);
    const file = storeFileOf({ project: cwd, env });
    await mkdir(dirname(file), { recursive: true });
    const store = sqliteStore(file);
    const cox = createCoxswain({ store, clock: { nowMs: () => Date.now() - 2 * HOUR_MS } });
    cox.startRun({ runId: id, task: 'go', host: 'claude-code' }).emit({ type: 'turn_start' });
    await cox.close();
    await store.close();
  }
  const runs = jsonLines((await here.run(['runs', '--json', '--cost'], { env })).stdout);
  const tokens = Object.fromEntries(runs.map(({ runId, tokens: count }) => [runId, count]));
  // The session file of the second one names another folder, so its rules of redaction are unknown.
  expect(tokens).toEqual({ 'session-0': 15, 'session-1': undefined });
});

test('a damaged line is told while its session is in the report, and no more when the session is older', async () => {
  const lines = session('broken').split('\n');
  const damaged = [lines[0], '{"type":"assistant","message":', lines[1]].join('\n');
  await writeFileAt('.claude/projects/-gone-other/broken.jsonl', damaged, 0.1);
  const env = homeOnly(join(here.cwd, 'home'));
  const now = await here.run(['report', '--since', '12h'], { env });
  expect([now.code, now.stderr]).toEqual([1, expect.stringContaining('broken.jsonl:2: the line is cut off')]);
  const more = [lines[0], ...Array.from({ length: 6 }, () => '{"type":"assistant","message":'), lines[1]].join('\n');
  await writeFileAt('.claude/projects/-gone-other/broken.jsonl', more, 0.1);
  await writeFileAt('.claude/projects/-gone-other/binary.jsonl', '\u0001\u0002\0'.repeat(400), 0.1);
  const { stderr } = await here.run(['report', '--since', '12h'], { env });
  expect(stderr.trim().split('\n').toSorted()).toEqual([
    expect.stringMatching(/binary\.jsonl: [^.]*$/),
    expect.stringMatching(
      /broken\.jsonl:2: the line is cut off .*, and 5 more; coxswain analyze of the file has more$/,
    ),
  ]);
  await rm(join(here.cwd, 'home/.claude/projects/-gone-other/binary.jsonl'));
  const later = await here.run(['report', '--since', '10m'], { env });
  expect([later.code, later.stderr]).toEqual([0, expect.not.stringContaining('broken.jsonl')]);
});

test('of a file that is being written only the unfinished last line is left out without a word', async () => {
  const [asked = '', answered = ''] = session('growing').split('\n');
  const env = homeOnly(join(here.cwd, 'home'));
  const report = async (...lines: readonly string[]): Promise<readonly unknown[]> => {
    await writeFileAt('.claude/projects/-gone-other/growing.jsonl', lines.join('\n'));
    const { code, stderr, stdout } = await here.run(['report', '--since', '12h'], { env });
    return [code, stderr, stdout.includes('task of growing')];
  };
  expect(await report(asked, answered, '{"type":"assistant","mess')).toEqual([0, '', true]);
  const zeros = expect.stringContaining('growing.jsonl:2: 50 zero bytes replace the line');
  expect(await report(asked, '\0'.repeat(50), answered)).toEqual([1, zeros, true]);
  const damaged = expect.stringContaining('growing.jsonl:2: the line');
  expect(await report(asked, '{"type":"assistant","mess', answered)).toEqual([1, damaged, true]);
});
