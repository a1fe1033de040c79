import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { homeOnly, runCli } from './run-cli.ts';
import { storeFileOf } from './user-state.ts';
import { testFolder } from './support/test-folder.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 11, 1, 8);
const SECRET = 'ghp_Zx81kQw7Lm3vNc5tRb9yHd2jPf6sGaXe4uTo';

/** Sessions of other programs, as these wrote them. */
const SAMPLES = {
  '.codex/sessions/2026/11/23/rollout-1.jsonl': 'codex-rollout.jsonl',
  '.copilot/session-state/c1/events.jsonl': 'copilot-events.jsonl',
  '.gemini/tmp/p/chats/session-1.jsonl': 'gemini-stream.jsonl',
  '.pi/agent/sessions/--p--/1.jsonl': 'pi-session.jsonl',
  '.qwen/projects/p/chats/1.jsonl': 'qwen-chat.jsonl',
  '.kimi/sessions/p/1/wire.jsonl': 'kimi-wire.jsonl',
  '.kimi-code/sessions/p/1/agents/main/wire.jsonl': 'kimi-code-wire.jsonl',
  '.local/share/goose/sessions/1.jsonl': 'goose-session.jsonl',
  'project/.aider.chat.history.md': 'aider-history.txt',
};

const user = (content: unknown): object => ({ type: 'user', message: { role: 'user', content } });
const says = (content: readonly object[], stop_reason: string, more: object = {}): object => ({
  type: 'assistant',
  message: { role: 'assistant', model: 'claude-opus-4-8', content, stop_reason },
  ...more,
});
const uses = (id: string, name: string, input: object): object =>
  says([{ type: 'tool_use', id, name, input }], 'tool_use');
const result = (id: string, content: string, is_error = false): object =>
  user([{ type: 'tool_result', tool_use_id: id, content, is_error }]);
const done = says([{ type: 'text', text: 'Done.' }], 'end_turn');
const tests = (output: string, failed: boolean): readonly object[] => [
  uses('c1', 'Bash', { command: `npm test -- --token ${SECRET}` }),
  result('c1', `${output} ${SECRET}`, failed),
];
const limit = { isApiErrorMessage: true, error: 'rate_limit' };

/** Sessions of Claude Code, by how they end. */
const ENDS: Readonly<Record<string, readonly object[]>> = {
  answered: [done],
  worked: [...tests('Tests  3 passed (3)', false), done],
  failing: [...tests('Tests  1 failed (3)', true), done],
  limited: [says([{ type: 'text', text: 'Rate limit' }], 'stop_sequence', limit)],
  interrupted: [uses('c1', 'Bash', { command: 'npm run dev' }), user('[Request interrupted by user]')],
  running: [uses('c1', 'Bash', { command: 'npm run build' })],
  silent: [...tests('Tests  3 passed (3)', false)],
  asking: [uses('c1', 'AskUserQuestion', { questions: [{ question: 'Which table?' }] })],
  asked: [says([{ type: 'text', text: 'Shall I push it?' }], 'end_turn')],
  prompt: [],
};

let home = '';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS });
  home = testFolder();
  for (const [path, sample] of Object.entries(SAMPLES))
    writeSession(path, readFileSync(join(import.meta.dirname, 'session-samples', sample), 'utf8'));
  for (const [id, entries] of Object.entries(ENDS)) writeSession(claudeFile(id), claudeSession(id, entries));
  const agent = claudeSession('worked', [done], { agentId: 'a1', isSidechain: true });
  writeSession('.claude/projects/-p/worked/subagents/agent-a1.jsonl', agent);
});
afterEach(() => void vi.useRealTimers());

const claudeFile = (id: string): string => `.claude/projects/-p/${id}.jsonl`;

function claudeSession(sessionId: string, entries: readonly object[], more: object = {}): string {
  return [user(`Do ${sessionId}`), ...entries]
    .map((entry, at) => {
      const timestamp = new Date(NOW_MS - HOUR_MS + at * 1_000).toISOString();
      return `${JSON.stringify({ sessionId, uuid: `${sessionId}${at}`, cwd: '/gone/p', timestamp, ...entry, ...more })}\n`;
    })
    .join('');
}

function writeSession(path: string, text: string, agoMs = HOUR_MS): void {
  const full = join(home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  utimesSync(full, (NOW_MS - agoMs) / 1_000, (NOW_MS - agoMs) / 1_000);
}

/** What `coxswain` prints, with the facts that earlier commands with the same cache folder kept. */
async function report(cache: string, ...args: readonly string[]): Promise<readonly unknown[]> {
  const env = { ...homeOnly(home), XDG_CACHE_HOME: join(home, cache), XDG_STATE_HOME: join(home, 'state') };
  // Else the numbers of the last screen stay.
  rmSync(join(home, 'state'), { recursive: true, force: true });
  const { code, stderr, stdout } = await runCli(['report', ...args], { cwd: join(home, 'project'), env });
  return [code, stdout, stderr];
}

let colds = 0;

async function expectSame(...args: readonly string[]): Promise<readonly unknown[]> {
  const cold = await report(`cold-${(colds += 1)}`, ...args);
  expect(await report('warm', ...args)).toEqual(cold);
  return cold;
}

const STANDINGS: Readonly<Record<string, () => void>> = {
  'no processes are known': () => rmSync(join(home, '.claude/sessions'), { recursive: true, force: true }),
  'no process runs': () => {
    rmSync(join(home, '.claude/sessions'), { recursive: true, force: true });
    mkdirSync(join(home, '.claude/sessions'));
  },
  'each session is open': () => {
    for (const [at, sessionId] of Object.keys(ENDS).entries()) {
      const waits = at % 2 === 0 ? { waitingFor: 'permission prompt' } : {};
      // Each has a file of its own, named for a process.
      writeFileSync(
        join(home, '.claude/sessions', `${at + 1}.json`),
        JSON.stringify({ pid: process.pid, sessionId, ...waits }),
      );
    }
  },
};
const CLOCKS_MS = [0, 5.5 * HOUR_MS, 9 * HOUR_MS, 11.5 * HOUR_MS, 40 * 24 * HOUR_MS];
const FORMS = [[], ['--json'], ['--since', 'all'], ['--since', 'all', '--json'], ['--since', '2h', '--all']];

test('a report that finds facts kept is the one that reads every file, at any time and whatever processes run', async () => {
  const screens = new Set<unknown>();
  for (const stand of Object.values(STANDINGS)) {
    stand();
    for (const afterMs of CLOCKS_MS) {
      vi.setSystemTime(NOW_MS + afterMs);
      for (const args of FORMS) screens.add((await expectSame(...args))[1]);
    }
  }
  expect(screens.size).toBeGreaterThan(40);
});

test('a recorded run is kept until its records or its process say more', async () => {
  const env = homeOnly(home);
  const store = storeFileOf({ project: join(home, 'project'), env });
  const ids = ['answered', 'running', 'silent', 'limited'];
  for (const id of ids) {
    const { code, stderr } = await runCli(['analyze', join(home, claudeFile(id)), '--summary', '--store', store], {
      cwd: join(home, 'project'),
      env,
    });
    expect([code, stderr]).toEqual([0, '']);
  }
  // Their files are not in the report: what it says of them is in the store.
  for (const id of ['running', 'silent']) rmSync(join(home, claudeFile(id)));
  for (const stand of Object.values(STANDINGS)) {
    stand();
    for (const afterMs of CLOCKS_MS) {
      vi.setSystemTime(NOW_MS + afterMs);
      expect(String((await expectSame('--since', 'all', '--json'))[1])).toContain('Do silent');
      await expectSame('--since', 'all');
    }
  }
  const before = rowsIn('warm');
  STANDINGS['no process runs']?.();
  await report('warm', '--since', 'all');
  const files = Object.keys(SAMPLES).length + Object.keys(ENDS).length - 2 + 1;
  expect([before, rowsIn('warm')]).toEqual([files + ids.length, before]);
});

function rowsIn(cache: string): number {
  const database = new DatabaseSync(join(home, cache, 'coxswain/reports.db'), { readOnly: true });
  const found = database.prepare('SELECT count(*) AS rows FROM sources').get();
  database.close();
  return Number(found?.['rows']);
}

test('a file at rest is not read again, and one that changed is', async () => {
  const first = await report('warm');
  const other = claudeSession('answered', ENDS['answered'] ?? []).replace('Do answered', 'Do anything');
  writeSession(claudeFile('answered'), other);
  expect(await report('warm')).toEqual(first);
  expect(await report('cold')).not.toEqual(first);
  writeSession(claudeFile('answered'), `${other}${JSON.stringify(user('Go on'))}\n`, 0);
  expect(String((await expectSame('--json'))[1])).toContain('Do anything');
  vi.setSystemTime(NOW_MS + 9 * HOUR_MS);
  expect(String((await expectSame('--json'))[1])).toContain('Do anything');
});

test('a session of opencode is read again if one of its messages or parts changed', async () => {
  const storage = '.local/share/opencode/storage';
  const store = (path: string, value: object, agoMs?: number): void =>
    writeSession(`${storage}/${path}.json`, JSON.stringify(value), agoMs);
  const created = NOW_MS - HOUR_MS;
  store('session/p/ses_1', {
    id: 'ses_1',
    directory: '/gone/p',
    title: 'Mend it',
    time: { created, updated: created },
  });
  store('message/ses_1/msg_1', { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created } });
  store('part/msg_1/prt_1', { id: 'prt_1', messageID: 'msg_1', type: 'text', text: 'Mend the door' });
  const info = { id: 'msg_2', sessionID: 'ses_1', role: 'assistant', finish: 'stop', modelID: 'm' };
  store('message/ses_1/msg_2', { ...info, time: { created, completed: created } });
  const said = { id: 'prt_2', messageID: 'msg_2', type: 'text', text: 'It is mended.' };
  store('part/msg_2/prt_2', said);
  expect(String((await expectSame('--json'))[1])).toContain('It is mended.');
  store('part/msg_2/prt_2', { ...said, text: 'It was mended.' }, HOUR_MS / 2);
  expect(String((await expectSame('--json'))[1])).toContain('It was mended.');
});

test('what is kept holds no secret, and only its owner can read it', async () => {
  await report('warm', '--since', 'all');
  const path = join(home, 'warm/coxswain/reports.db');
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare('SELECT runs, instructions FROM sources').all();
  database.close();
  const text = rows.map(({ instructions, runs }) => `${String(runs)}${String(instructions)}`).join('\n');
  expect([rows.length > 12, text.includes('npm test -- --token [REDACTED'), text.includes(SECRET)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(statSync(path).mode & (process.platform === 'win32' ? 0 : 0o077)).toBe(0);
});

test('kept facts that are damaged are read again and replaced', async () => {
  const first = await report('warm', '--json');
  const path = join(home, 'warm/coxswain/reports.db');
  writeFileSync(path, 'no database'.repeat(1_000));
  expect(await report('warm', '--json')).toEqual(first);
  expect(await report('warm', '--json')).toEqual(first);
  expect(readFileSync(path).subarray(0, 6).toString()).toBe('SQLite');
});

test('facts that another build kept are read again, and those of this one are not', async () => {
  const first = await report('warm', '--json');
  const change = (print: string): void => {
    const database = new DatabaseSync(join(home, 'warm/coxswain/reports.db'));
    database.exec(`UPDATE sources SET print = ${print}, runs = replace(runs, 'Do worked', 'Do nothing')`);
    database.close();
  };
  change(`'another' || substr(print, instr(print, ' '))`);
  expect(await report('warm', '--json')).toEqual(first);
  change('print');
  expect(String((await report('warm', '--json'))[1])).toContain('Do nothing');
});

test('what was not read for 30 days is deleted', async () => {
  await report('warm', '--since', 'all');
  expect(rowsIn('warm')).toBeGreaterThan(12);
  vi.setSystemTime(NOW_MS + 31 * 24 * HOUR_MS);
  for (const id of Object.keys(ENDS)) rmSync(join(home, claudeFile(id)));
  for (const path of Object.keys(SAMPLES)) rmSync(join(home, path));
  writeSession(claudeFile('new'), claudeSession('new', [done]));
  await report('warm', '--since', 'all');
  expect(rowsIn('warm')).toBe(1);
});
