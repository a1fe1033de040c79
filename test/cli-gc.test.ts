import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { useStoresFolder } from './cli-stores.ts';
import { recordLine } from './damage-record.ts';
import { jsonLines } from './run-cli.ts';

const here = useStoresFolder();
const DAY_MS = 24 * 60 * 60 * 1000;

/** A run with its last record so many days ago, as lines of an export. */
function runLines(run: string, daysAgo: number, options: { readonly parent?: string; readonly isOpen?: boolean } = {}) {
  const { parent, isOpen = false } = options;
  const atMs = Date.now() - daysAgo * DAY_MS;
  const payloads = [
    { kind: 'noted', text: `${run} words `.repeat(200) },
    isOpen ? { kind: 'turn_started' } : { kind: 'run_ended', outcome: 'ended', new_messages: [] },
  ];
  return payloads.map((payload, seq) => {
    const record: Record<string, unknown> = JSON.parse(recordLine(run, seq, payload));
    return JSON.stringify({
      ...record,
      recorded_at_unix_ms: atMs,
      ...(parent !== undefined && { parent_run_id: parent }),
    });
  });
}

async function stored(store: string, ...runs: readonly (readonly string[])[]): Promise<void> {
  const { code } = await here.run(['import', '-', '--store', store], { stdin: runs.flat().join('\n') });
  expect(code).toBe(0);
}

async function idsIn(store: string): Promise<readonly string[]> {
  const { stdout } = await here.run(['runs', '--store', store, '--json']);
  return jsonLines(stdout)
    .map((run) => String(run['runId']))
    .toSorted();
}

test('of many deleted runs some are listed and the rest is counted', async () => {
  await stored('runs.db', ...Array.from({ length: 25 }, (_, index) => runLines(`old-${index}`, 40)));
  const { stdout } = await here.run(['gc', 'runs.db', '--older-than', '30d']);
  expect(stdout.match(/^deleted /gm)).toHaveLength(20);
  expect(stdout).toMatch(/\nand 5 more runs; --json lists all\n[^\n]*: 25 runs deleted;/);
});

test('old runs are deleted, a line each, and a dry run only says so', async () => {
  const store = 'runs.db';
  await stored(
    store,
    runLines('new', 1),
    runLines('old', 40),
    runLines('older', 50),
    runLines('child', 2, { parent: 'old' }),
  );
  const dry = await here.run(['gc', store, '--older-than', '30d', '--dry-run']);
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  expect(dry.stdout).toMatch(
    /^would delete older {2}\S+ \S+ UTC\S* {2}2 records {2}\S+ kB {2}too old\n[^\n]*: 1 run would be deleted;/,
  );
  expect(await idsIn(store)).toHaveLength(4);

  const { code, stdout, stderr } = await here.run(['gc', store, '--older-than', '30d']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^deleted older {2}[^\n]+\n[^\n]*: 1 run deleted; [\d.]+ kB in use before, [\d.]+ kB after\n$/,
  );
  expect(await idsIn(store)).toEqual(['child', 'new', 'old']);
  expect((await here.run(['verify', store])).code).toBe(0);

  const again = await here.run(['gc', store, '--older-than', '4w']);
  expect(again.stdout).toMatch(/^[^\n]*: nothing to delete; [\d.]+ kB in use\n$/);
});

test('the oldest go down to a size, those at work stay, and the totals are JSON', async () => {
  const store = 'runs.db';
  const runs = Array.from({ length: 30 }, (_, index) => runLines(`run-${index}`, 60 - index));
  await stored(store, ...runs, runLines('at work', 0, { isOpen: true }));
  const before = jsonLines((await here.run(['gc', store, '--dry-run', '--json'])).stdout);
  expect(before).toEqual([
    { runs: 0, failed: 0, bytesBefore: expect.any(Number), bytesAfter: expect.any(Number), dryRun: true },
  ]);
  const half = Math.floor(Number(before[0]?.['bytesBefore']) * 0.6);
  const { code, stdout } = await here.run(['gc', store, '--max-size', `${half}B`, '--json']);
  expect(code).toBe(0);
  const printed = jsonLines(stdout);
  expect(printed[0]).toEqual({
    runId: 'run-0',
    bytes: expect.any(Number),
    records: 2,
    lastAtMs: expect.any(Number),
    reason: 'size',
  });
  expect(printed.at(-1)).toMatchObject({ runs: printed.length - 1, failed: 0, dryRun: false });
  expect(Number(printed.at(-1)?.['bytesAfter'])).toBeLessThanOrEqual(half);
  expect(printed.slice(0, -1).map((run) => run['runId'])).toEqual(
    runs.slice(0, printed.length - 1).map((_, index) => `run-${index}`),
  );
  expect(printed.length).toBeGreaterThan(5);
  expect(printed.length).toBeLessThan(30);

  const most = await here.run(['gc', store, '--max-size', '1B']);
  expect(await idsIn(store)).toEqual(['at work']);
  expect(most.stderr).toMatch(/^coxswain: [^\n]*: still over 1 B: kept: 1 run active in the last 24 hours\n$/);
});

test('a store that is over the size without a run to delete says that no run is left', async () => {
  await stored('runs.db', runLines('old', 40));
  const { code, stdout, stderr } = await here.run(['gc', 'runs.db', '--max-size', '1B']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 run deleted')]);
  expect(stderr).toMatch(/^coxswain: [^\n]*: still over 1 B: no run is left; the rest is the store itself\n$/);
});

test('bad input is one line and exit code 2, a missing store one line and 1, and nothing is made', async () => {
  await stored('runs.db', runLines('old', 900));
  const bad = [
    [['gc', 'runs.db', '--older-than', '30'], /^coxswain: --older-than 30: give a span such as 30d, 12h or 2w\n$/],
    [['gc', 'runs.db', '--older-than', '0d'], /^coxswain: --older-than 0d: /],
    [
      ['gc', 'runs.db', '--max-size', '2'],
      /^coxswain: --max-size 2: give bytes with a unit, such as 500MB, 2GB or 1GiB\n$/,
    ],
    [['gc', 'runs.db', '--max-size', '-1GB'], /^coxswain: --max-size -1GB: /],
    [['gc', 'runs.db', 'another'], /^coxswain: [^\n]*too many arguments[^\n]*[^.\n]; see coxswain gc --help\n$/],
  ] as const;
  for (const [args, line] of bad) {
    const { code, stdout, stderr } = await here.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(line);
  }
  const missing = await here.run(['gc', 'missing.db', '--older-than', '30d']);
  expect([missing.code, missing.stdout]).toEqual([1, '']);
  expect(missing.stderr).toMatch(/^coxswain: missing\.db: no runs are recorded here yet[^\n]*\n$/);
  await expect(stat(join(here.cwd, 'missing.db'))).rejects.toThrow('ENOENT');
  await writeFile(join(here.cwd, 'other.db'), 'no database at all, but long enough to be looked at'.repeat(100));
  expect((await here.run(['gc', 'other.db'])).code).toBe(1);
  expect(await idsIn('runs.db')).toEqual(['old']);
});

test('the help has an example, and run ids do not act on the terminal', async () => {
  const help = await here.run(['gc', '--help']);
  expect([help.code, help.stderr]).toEqual([0, '']);
  expect(help.stdout).toMatch(/\nExamples:\n {2}coxswain gc/);
  await stored('runs.db', runLines('\u001b[2Jevil\u202e\nrun', 50));
  for (const args of [['--dry-run'], ['--dry-run', '--json'], []]) {
    const { stdout } = await here.run(['gc', 'runs.db', '--older-than', '30d', ...args]);
    expect(stdout).toContain('evil');
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
});
