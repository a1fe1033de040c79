import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import type { HostName } from '../../src/hosts/dialects/hook-dialect.ts';
import { viewOf } from '../../src/core/facts/run-view.ts';
import { RunCounter } from '../../src/core/facts/run-summary.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { FakeModelServer, ModelCall, ModelTurn } from '../../src/testing/model-script.ts';
import { trustAs } from '../../test/user-state.ts';
import { HOST_DRIVERS, type AdviceFate, type HostRun } from './host-drivers.ts';
import { projectStoreFile } from '../../src/core/node/git-folder.ts';

const BIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'bin.ts');
/** Where `scripts/test-hosts.ts` has installed the programs. */
const INSTALLED = process.env['COXSWAIN_HOSTS'] ?? '';
const made: string[] = [];

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
  // opencode leaves many files.
}, 300_000);

/** Something to do to the place before the agent runs; what it gives back is called afterwards. */
type Trouble = (place: HostRun & { readonly env: Readonly<Record<string, string>> }) => (() => void) | undefined;

interface Ran {
  readonly code: number | null;
  /** Standard output. On standard error hosts name the hooks that they run. */
  readonly output: string;
  readonly requests: readonly string[];
  readonly place: HostRun;
}

const programOf = (host: HostName): string => {
  const { program, version } = HOST_DRIVERS[host];
  return join(INSTALLED, `${host}-${version}`, 'node_modules', '.bin', program);
};

async function run(
  host: HostName,
  turns: readonly ModelTurn[],
  how: { hooked: boolean; trouble?: Trouble },
): Promise<Ran> {
  const driver = HOST_DRIVERS[host];
  const server: FakeModelServer = await driver.startServer({ script: { turns } });
  const home = mkdtempSync(join(tmpdir(), `coxswain-${host}-`));
  made.push(home);
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const place = { home, project, url: server.url };
  const PATH = `${dirname(process.execPath)}:${dirname(programOf(host))}:${process.env['PATH'] ?? ''}`;
  const env = { HOME: home, PATH, XDG_STATE_HOME: join(home, 'state'), ...driver.env(place) };
  driver.prepare?.(place);
  if (how.hooked) {
    const scope = driver.scope === 'user' ? ['--user'] : [];
    const init = spawnSync(process.execPath, [BIN, 'init', host, '--yes', ...scope], {
      cwd: project,
      env,
      encoding: 'utf8',
    });
    if (init.status !== 0 || init.stderr !== '') throw new Error(`init ${host}: ${init.status} ${init.stderr}`);
  }
  const undo = how.trouble?.({ ...place, env });
  const child = spawn(programOf(host), driver.args('Investigate', place), {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), 330_000);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  undo?.();
  const requests = server.mainRequests().map(({ raw }) => raw);
  await server.close();
  return { code, output, requests, place };
}

/** The file of the project's runs. */
function storeOf({ home, project }: Pick<HostRun, 'home' | 'project'>): string {
  return projectStoreFile(project, { env: { HOME: home } });
}

async function recordsOf(place: HostRun): Promise<readonly TrajectoryRecord[]> {
  const store = sqliteStore(storeOf(place));
  try {
    const [summary] = (await store.listRuns({ limit: 1 })).runs;
    return await Array.fromAsync(store.readRun(summary?.runId ?? ''));
  } finally {
    await store.close();
  }
}

/** After which call each piece of feedback was given, and whether it reached the agent. */
function feedbackOf(records: readonly TrajectoryRecord[]): readonly string[] {
  const counter = new RunCounter();
  return records.flatMap((record) => {
    counter.fold(record);
    const { payload } = record;
    return payload.kind === 'feedback_delivered'
      ? [`call ${counter.calls}: ${payload.delivered ? 'delivered' : 'not'}`]
      : [];
  });
}

const endsOf = (records: readonly TrajectoryRecord[]): readonly boolean[] =>
  records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload.is_error] : []));

/** Writes the configuration of the project, which the user trusts. */
function configured(config: object): Trouble {
  return ({ project, env }) => {
    writeFileSync(join(project, 'coxswain.config.json'), JSON.stringify(config));
    trustAs({ project, env });
    return undefined;
  };
}

/** A text of the project that is given once, at the first of these decision points. */
function textAt(decisionPoint: string): object {
  const when = { not: { errorStreak: true } };
  return { bank: [{ key: 'test', content: TEXT, when, decisionPoints: [decisionPoint], maxPerRun: 1 }] };
}

const TEXT = 'Number each step of your answer.';

/** Whether the text of `textAt` reached the agent. */
function textDelivered(records: readonly TrajectoryRecord[]): readonly boolean[] {
  return records.flatMap(({ payload }) => (payload.kind === 'guidance_delivered' ? [payload.guidance.delivered] : []));
}

/** Which requests hold the first piece of feedback, by the longest of its lines. */
function requestsWith(records: readonly TrajectoryRecord[], requests: readonly string[]): readonly boolean[] {
  const text = records.flatMap(({ payload }) => (payload.kind === 'feedback_produced' ? [payload.text] : []))[0] ?? '';
  const [line = ''] = text.split('\n').toSorted((a, b) => b.length - a.length);
  return requests.map((raw) => line !== '' && raw.includes(JSON.stringify(line).slice(1, -1)));
}

/** The same, as the table of the hosts has it, for five requests after which the third call was advised on. */
const EXPECTED: Readonly<Record<AdviceFate, readonly boolean[]>> = {
  stays: [false, false, false, true, true],
  'one request': [false, false, false, true, false],
  'next event': [false, false, false, false, true],
};

/** The bytes of every file below a folder. */
function bytesBelow(folder: string): string {
  if (!existsSync(folder)) return '';
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
}

/** Tokens of each answer in a loop. */
const USAGE = { inputTokens: 1_200, outputTokens: 34 };

/** How every piece of feedback begins. */
const HEAD = '[Feedback - ';
const TROUBLES: Readonly<Record<string, Trouble>> = {
  'the store cannot be opened': (place) => {
    mkdirSync(storeOf(place), { recursive: true });
    return undefined;
  },
  'the store is locked': (place) => {
    configured({ store: 'locked.db' })(place);
    const holder = new DatabaseSync(join(place.project, 'locked.db'));
    holder.exec('BEGIN EXCLUSIVE');
    return () => holder.close();
  },
};

// The names of the table are hosts.
for (const host of Object.keys(HOST_DRIVERS) as readonly HostName[]) {
  const { advice, failing, hasNoEnd, hasTokens, isUnpriced, shell, version } = HOST_DRIVERS[host];
  const isThere = INSTALLED !== '' && existsSync(programOf(host));
  const why = isThere ? '' : `: skipped, not installed; npm run test:hosts -- ${host}`;
  describe.skipIf(!isThere)(`${host} ${version}${why}`, () => {
    const loopOf = (call: ModelCall | undefined): readonly ModelTurn[] => [
      ...Array.from({ length: 4 }, () => ({ calls: call === undefined ? [] : [call], usage: USAGE })),
      { text: 'All done.', usage: USAGE },
    ];

    test('a failing call that repeats is advised on at the third call, and the next request holds the advice', async () => {
      const { code, place, requests } = await run(host, loopOf(shell('cat nope.txt')), { hooked: true });
      expect(code).toBe(0);
      const records = await recordsOf(place);
      expect(records[0]?.payload).toMatchObject({ kind: 'run_started', host, task: 'Investigate' });
      expect(endsOf(records)).toEqual([true, true, true, true]);
      expect(feedbackOf(records)[0]).toBe('call 3: delivered');
      expect(requests.map((raw) => raw.includes(HEAD)).indexOf(true)).toBe(3);
      expect(requestsWith(records, requests)).toEqual(EXPECTED[advice.onCall]);
      expect(records.at(-1)?.payload.kind === 'run_ended').toBe(hasNoEnd !== true);
      const { costUsd = 0, tokens } = viewOf(records).usage;
      expect([tokens, costUsd > 0]).toEqual(
        hasTokens ? [5 * (USAGE.inputTokens + USAGE.outputTokens), isUnpriced !== true] : [undefined, false],
      );
    });

    test('advice on a call that fails without a shell reaches the model when the table says so', async () => {
      const { place, requests } = await run(host, loopOf(failing[0]), { hooked: true });
      expect(requestsWith(await recordsOf(place), requests)).toEqual(EXPECTED[advice.onFailure]);
    });

    test('advice at a prompt is in the first request, and in later ones if the table says so', async () => {
      const turns = [{ calls: [shell('echo one')] }, { text: 'All done.' }];
      const trouble = configured({ guidance: textAt('pre_render') });
      const { place, requests } = await run(host, turns, { hooked: true, trouble });
      expect(textDelivered(await recordsOf(place))).toEqual([true]);
      expect(requests.map((raw) => raw.includes(TEXT))).toEqual([true, advice.atPrompt === 'stays']);
    });

    test('advice at a stop makes the agent continue once, or is recorded as undelivered, as the table says', async () => {
      const turns = [{ text: 'All done.' }, { text: 'Really done.' }];
      const trouble = configured({ guidance: textAt('pre_response'), forceTurnAtStop: true });
      const { code, place, requests } = await run(host, turns, { hooked: true, trouble });
      const isForced = advice.atStop === 'one more turn';
      const records = await recordsOf(place);
      expect(code).toBe(0);
      expect(textDelivered(records)).toEqual([isForced]);
      expect(requests.map((raw) => raw.includes(TEXT))).toEqual(isForced ? [false, true] : [false]);
      expect(records.at(-1)?.payload.kind === 'run_ended').toBe(hasNoEnd !== true);
    });

    test('an unmet completion check makes the agent continue, or is only recorded, as the table says', async () => {
      const turns = [{ text: 'All done.' }, { text: 'Really done.' }];
      const trouble = configured({ completion: { files: ['REPORT.md'], maxAttempts: 1 } });
      const { code, place, requests } = await run(host, turns, { hooked: true, trouble });
      const isForced = advice.atStop === 'one more turn';
      const checks = (await recordsOf(place)).flatMap(({ payload }) =>
        payload.kind === 'completion_checked' ? [payload.gave_up === true] : [],
      );
      expect(code).toBe(0);
      expect(checks).toEqual(isForced ? [false, true] : [false]);
      expect(requests.map((raw) => raw.includes('REPORT.md'))).toEqual(isForced ? [false, true] : [false]);
    });

    test('calls that fail without a shell, and calls of one answer, are recorded as they were', async () => {
      const turns = [
        ...failing.map((one) => ({ calls: [one] })),
        { calls: [shell('echo one'), shell('echo two')] },
        { text: 'All done.' },
      ];
      const { place } = await run(host, turns, { hooked: true });
      const records = await recordsOf(place);
      expect(endsOf(records)).toEqual([...failing.map(() => true), false, false]);
      const turnsSeen = records.filter(({ payload }) => payload.kind === 'turn_started').length;
      // The last one is the answer.
      expect(turnsSeen).toBe(failing.length + 2);
    });

    test('no secret of the environment or of a result is written anywhere', async () => {
      const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
      const key = Object.values(HOST_DRIVERS[host].env({ home: '', project: '', url: '' })).find((value) =>
        value.startsWith('sk-'),
      );
      const { place } = await run(host, [{ calls: [shell(`echo ${secret}`)] }, { text: 'Done.' }], { hooked: true });
      const written = bytesBelow(dirname(storeOf(place))) + bytesBelow(join(place.home, 'state'));
      expect(written).toContain('run_started');
      expect(written).not.toContain(secret);
      expect(key !== undefined && written.includes(key)).toBe(false);
    });

    test.each(Object.keys(TROUBLES))('where %s, the agent does as it does without the hook', async (name) => {
      const turns = [{ calls: [shell('echo one')] }, { text: 'All done.' }];
      const bare = await run(host, turns, { hooked: false });
      const trouble = TROUBLES[name];
      const troubled = await run(host, turns, { hooked: true, ...(trouble === undefined ? {} : { trouble }) });
      expect([troubled.code, troubled.requests.length]).toEqual([bare.code, bare.requests.length]);
      expect(steady(troubled)).toBe(steady(bare));
    });
  });
}

/** Output of a host, without parts that differ between runs. */
function steady({ output, place }: Ran): string {
  return output
    .replaceAll(place.home, 'HOME')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|ses_\w+/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|127\.0\.0\.1:\d+|\d+(?:\.\d+)?m?s\b/g, 'TIME');
}
