import { spawn } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';

import { rounds, thorough } from './support/rounds.ts';
import { putHook } from './support/built-hook.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { endWithTest } from './support/end-with-test.ts';
import { fakeSecrets } from './support/fake-secrets.ts';
import { jsonLines, runCli } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';
import { storedRecords } from './support/stored-records.ts';
import { loggedFaults, storeFileOf } from './user-state.ts';

/** Hook processes on one run. */
const PROCESSES = rounds({ full: 40, short: 12 });
const AT_ONCE = thorough ? 16 : 6;
/** The store is locked until so many processes have given it up. */
const GIVEN_UP = 4;
/** Processes are killed within this time of their start, in which most of them end on an idle machine. */
const KILLED_WITHIN_MS = 4_000;

const built = testFolder();

beforeAll(async () => {
  await putHook(built);
});

interface Place {
  readonly project: string;
  readonly store: string;
  readonly spills: string;
  readonly env: Readonly<Record<string, string>>;
}

function newPlace(): Place {
  const home = testFolder();
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CACHE_HOME: join(built, 'cache'),
    XDG_STATE_HOME: join(home, 'state'),
    CLAUDE_PROJECT_DIR: project,
  };
  const store = storeFileOf({ project, env });
  return { project, store, spills: `${store}-spills`, env };
}

const event = (name: string, more: object = {}): object => ({ session_id: 's1', hook_event_name: name, ...more });

const call = (id: string, command = 'npm test'): object => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
});

/** Runs a hook process, killed after so long if it still runs. @returns its exit code; null if it was killed */
async function hook({ env }: Place, input: object, killAfterMs?: number): Promise<number | null> {
  const child = spawn(process.execPath, [join(built, 'hook.cjs')], { env, stdio: ['pipe', 'ignore', 'ignore'] });
  endWithTest(child);
  // One that is killed leaves its input unread.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(input));
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  return code;
}

/** Does something while no one else can write to the store. */
async function whileLocked<Result>({ store }: Place, work: () => Promise<Result>): Promise<Result> {
  const database = new DatabaseSync(store, { timeout: 60_000 });
  database.exec('BEGIN IMMEDIATE');
  try {
    return await work();
  } finally {
    database.exec('ROLLBACK');
    database.close();
  }
}

const startedCalls = (all: readonly TrajectoryRecord[]): readonly string[] =>
  all.flatMap(({ payload }) => (payload.kind === 'tool_started' ? [payload.tool_call_id] : []));

const spillsIn = ({ spills }: Place, extension = '.spill'): readonly string[] =>
  existsSync(spills) ? readdirSync(spills).filter((name) => name.endsWith(extension)) : [];

test.each([
  ['none of them killed', 0],
  ['a third of them killed at random moments', 3],
])(
  'of many processes on one run, %s, each that exited with code 0 is recorded exactly once',
  async (title, killedOf) => {
    const place = newPlace();
    await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
    const acknowledged: string[] = [];
    let begun = 0;
    const worker = async (): Promise<void> => {
      while (begun < PROCESSES) {
        const index = begun++;
        const killAfterMs = killedOf > 0 && index % killedOf === 0 ? Math.random() * KILLED_WITHIN_MS : undefined;
        if ((await hook(place, event('PreToolUse', call(`c${index}`)), killAfterMs)) === 0) {
          acknowledged.push(`c${index}`);
        }
      }
    };
    let working: Promise<unknown> = Promise.resolve();
    await whileLocked(place, async () => {
      working = Promise.all(Array.from({ length: AT_ONCE }, worker));
      while (acknowledged.length < GIVEN_UP) await new Promise((resolve) => setTimeout(resolve, 20));
    });
    await working;
    // Each folds for a second at most.
    while (spillsIn(place).length > 0) await hook(place, event('SessionStart', { source: 'resume' }));

    const stored = await storedRecords(place);
    const started = startedCalls(stored);
    expect(acknowledged.filter((id) => !started.includes(id))).toEqual([]);
    expect(started).toHaveLength(new Set(started).size);
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index));
    expect(stored.some(({ late_input_id: id }) => id !== undefined)).toBe(true);
    expect(acknowledged.length).toBeGreaterThanOrEqual(killedOf === 0 ? PROCESSES : 1);
    process.stdout.write(
      `${PROCESSES} hook processes, ${AT_ONCE} at a time, ${title}: ${acknowledged.length} with exit code 0, none lost\n`,
    );
  },
);

test('events that a locked store does not take wait in private files, and the next hook folds them before its own', async () => {
  const place = newPlace();
  await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  await whileLocked(place, async () => {
    expect(await hook(place, event('PreToolUse', call('c1')))).toBe(0);
    expect(await hook(place, event('PostToolUse', { ...call('c1'), tool_response: { stdout: 'ok' } }))).toBe(0);
    expect(await hook(place, { ...event('PreToolUse', call('c2')), session_id: 's2' })).toBe(0);
  });
  expect(spillsIn(place)).toHaveLength(3);
  expect(statSync(place.spills).mode & 0o777).toBe(0o700);
  for (const name of spillsIn(place)) expect(statSync(join(place.spills, name)).mode & 0o777).toBe(0o600);
  expect(loggedFaults(place)).toContain('waits in a spill file');
  const beforeMs = Date.now();

  expect(await hook(place, event('PreToolUse', call('c3')))).toBe(0);
  expect(readdirSync(place.spills)).toEqual([]);
  const all = await storedRecords(place);
  expect(startedCalls(all)).toEqual(['c1', 'c3']);
  expect(startedCalls(await storedRecords(place, 's2'))).toEqual(['c2']);
  expect(all.find(({ payload }) => payload.kind === 'tool_ended')?.payload).toMatchObject({ result: 'ok' });
  // The time is that of their arrival.
  const late = all.filter(({ late_input_id: id }) => id !== undefined);
  expect(late.every(({ recorded_at_unix_ms: ms }) => ms <= beforeMs)).toBe(true);
  expect(new Set(late.map(({ late_input_id: id }) => id)).size).toBe(2);
});

test.skipIf(!thorough)(
  'an event whose file still exists after the fold, as after a crash, is not folded again',
  async () => {
    const place = newPlace();
    await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
    await whileLocked(place, () => hook(place, event('UserPromptSubmit', { prompt: 'And that' })));
    const [name = ''] = spillsIn(place);
    const bytes = readFileSync(join(place.spills, name));
    await hook(place, event('PreToolUse', call('c1')));
    const before = await storedRecords(place);
    writeFileSync(join(place.spills, name), bytes, { mode: 0o600 });
    await hook(place, event('PreToolUse', call('c2')));
    expect(readdirSync(place.spills)).toEqual([]);
    const after = await storedRecords(place);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.filter(({ payload }) => JSON.stringify(payload).includes('And that'))).toHaveLength(1);
    expect(startedCalls(after)).toEqual(['c1', 'c2']);
  },
);

test.skipIf(!thorough)('advice on an event that is folded late is recorded as undelivered', async () => {
  const place = newPlace();
  await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  const turn = async (id: string): Promise<void> => {
    await hook(place, event('PreToolUse', call(id)));
    await hook(place, event('PostToolUse', { ...call(id), tool_response: { stdout: 'up to date' } }));
    await hook(place, event('PostToolBatch', { tool_calls: [{ ...call(id), tool_response: 'up to date' }] }));
  };
  for (const id of ['t1', 't2']) await turn(id);
  await whileLocked(place, () => turn('t3'));
  await hook(place, event('SessionEnd', { reason: 'other' }));
  const answers = (await storedRecords(place)).flatMap(({ payload }) =>
    payload.kind === 'feedback_delivered' ? [payload] : [],
  );
  expect(answers).toContainEqual(
    expect.objectContaining({ delivered: false, reason: expect.stringContaining('not available in time') }),
  );
  expect(answers.filter(({ delivered }) => delivered)).toEqual([]);
});

test.skipIf(!thorough)('damaged and half-written files are set aside and reported, and block no event', async () => {
  const place = newPlace();
  await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  await whileLocked(place, async () => {
    await hook(place, event('PreToolUse', call('c1')));
    await hook(place, event('PreToolUse', call('c2')));
  });
  const [first = ''] = spillsIn(place).toSorted();
  const file = join(place.spills, first);
  writeFileSync(file, readFileSync(file).subarray(0, -9));
  writeFileSync(join(place.spills, '000000000000000001-0-1-x.writing'), 'half', { mode: 0o600 });
  await hook(place, event('PreToolUse', call('c3')));
  expect(startedCalls(await storedRecords(place))).toEqual(['c2', 'c3']);
  expect(spillsIn(place)).toEqual([]);
  expect(spillsIn(place, '.damaged')).toHaveLength(2);
  expect(loggedFaults(place)).toMatch(/is damaged/);
  expect(loggedFaults(place)).toMatch(/are incomplete/);
  const verified = await runCli(['verify', place.store], { cwd: place.project, env: place.env });
  expect([verified.code, verified.stderr]).toEqual([1, expect.stringContaining('2 damaged files')]);
});

test('a file that other users can write is not folded', async () => {
  const place = newPlace();
  await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  await whileLocked(place, () => hook(place, event('PreToolUse', call('c1'))));
  const [name = ''] = spillsIn(place);
  const bytes = readFileSync(join(place.spills, name));
  rmSync(join(place.spills, name));
  writeFileSync(join(place.spills, name), bytes, { mode: 0o644 });
  const elsewhere = join(place.project, 'elsewhere');
  writeFileSync(elsewhere, bytes, { mode: 0o600 });
  symlinkSync(elsewhere, join(place.spills, name.replace(/^0/, '1')));
  await hook(place, event('PreToolUse', call('c2')));
  expect(startedCalls(await storedRecords(place))).toEqual(['c2']);
  expect(readFileSync(elsewhere)).toEqual(bytes);
});

test.skipIf(!thorough)('a link in the place of the folder is not followed', async () => {
  const place = newPlace();
  await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  const elsewhere = join(place.project, 'elsewhere');
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, place.spills);
  await whileLocked(place, async () => expect(await hook(place, event('PreToolUse', call('c1')))).toBe(0));
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(lstatSync(place.spills).isSymbolicLink()).toBe(true);
  expect(loggedFaults(place)).toContain('the event waits in a spill file');
});

test.skipIf(!thorough)('a spill file holds no secret', async () => {
  const place = newPlace();
  await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  const secrets = fakeSecrets().slice(0, 10);
  const text = secrets.map(({ text: shown }) => shown).join('\n');
  await whileLocked(place, async () => {
    await hook(place, event('UserPromptSubmit', { prompt: text }));
    await hook(place, event('PreToolUse', call('c1', text)));
    await hook(place, event('PostToolUse', { ...call('c1', text), tool_response: { stdout: text } }));
    await hook(place, event('PostToolUseFailure', { ...call('c2', text), error: text }));
    await hook(place, event('PostToolBatch', { tool_calls: [{ ...call('c3', text), tool_response: text }] }));
    await hook(place, event('Stop', { last_assistant_message: text }));
  });
  const files = spillsIn(place).map((name) => readFileSync(join(place.spills, name), 'utf8'));
  expect(files).toHaveLength(6);
  for (const { secret } of secrets) expect(files.filter((file) => file.includes(secret))).toEqual([]);
  expect(files.every((file) => file.includes('[REDACTED'))).toBe(true);
});

test.skipIf(!thorough)('read-only commands report waiting events, and recover folds them', async () => {
  const place = newPlace();
  const run = (args: readonly string[]): ReturnType<typeof runCli> =>
    runCli(args, { cwd: place.project, env: place.env });
  await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }));
  await whileLocked(place, () => hook(place, event('PreToolUse', call('c1'))));
  for (const args of [['verify', place.store], ['report']]) {
    expect((await run(args)).stderr).toContain('1 event waits in spill files');
  }
  expect((await run(['status'])).stdout).toContain('1 event waiting');
  // The command prints one object.
  const doctor = jsonLines((await run(['doctor', '--json'])).stdout)[0]?.['lines'] as readonly object[];
  expect(doctor).toContainEqual(expect.objectContaining({ check: 'spilled events', status: 'unknown' }));
  expect(spillsIn(place)).toHaveLength(1);

  const { code, stdout } = await run(['recover', place.store]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 waiting event added, 0 left')]);
  expect(startedCalls(await storedRecords(place))).toEqual(['c1']);
  expect((await run(['verify', place.store])).stderr).toBe('');
});

test('events of a store that cannot be opened wait until it is replaced', async () => {
  const place = newPlace();
  mkdirSync(dirname(place.store), { recursive: true });
  writeFileSync(place.store, 'this is no database, but it is long enough to be looked at', { mode: 0o600 });
  expect(await hook(place, event('UserPromptSubmit', { prompt: 'Do it' }))).toBe(0);
  expect(await hook(place, event('PreToolUse', call('c1')))).toBe(0);
  rmSync(place.store);
  expect(await hook(place, event('PreToolUse', call('c2')))).toBe(0);
  const all = await storedRecords(place);
  expect(all[0]?.payload).toMatchObject({ kind: 'run_started', task: 'Do it' });
  expect(startedCalls(all)).toEqual(['c1', 'c2']);
});
