import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

import { useStoresFolder } from './cli-stores.ts';
import { damageRecord, recordLine } from './damage-record.ts';
import { jsonLines } from './run-cli.ts';

const here = useStoresFolder();

test('recover saves what is around the damage and leaves the original', async () => {
  const store = 'runs.db';
  const other = 'other.db';
  await writeFile(join(here.cwd, 'c.ndjson'), [recordLine('open', 0), recordLine('open', 1)].join('\n'));
  await here.recorded(store);
  await here.run(['import', 'c.ndjson', '--store', store]);
  const whole = jsonLines(await here.exported(store));
  for (const seq of [5, 6, 200]) damageRecord(join(here.cwd, store), 'beta', seq);
  const before = await bytesOf(store);

  const { code, stdout, stderr } = await here.run(['recover', store, '--to', other, '--json']);
  expect([code, stderr]).toEqual([1, '']);
  expect(await bytesOf(store)).toEqual(before);
  const report = jsonLines(stdout);
  expect(report.at(-1)).toMatchObject({ runs: 3, saved: whole.length - 3, lost: 3, interrupted: 1, problems: 0 });
  expect(report.find((run) => run['runId'] === 'beta')).toMatchObject({
    lost: [expect.objectContaining({ fromSeq: 5, throughSeq: 6 }), expect.objectContaining({ fromSeq: 200 })],
    interrupted: false,
  });
  const saved = jsonLines((await here.run(['export', '--store', other])).stdout);
  const untouched = whole.filter(({ run_id: run, seq }) => run !== 'beta' || ![5, 6, 200].includes(Number(seq)));
  expect(saved).toEqual(expect.arrayContaining([...untouched]));
  expect(saved.findLast(({ run_id: run }) => run === 'open')).toMatchObject({
    seq: 2,
    payload: { kind: 'run_ended', outcome: 'interrupted' },
  });
  expect((await here.run(['verify', other])).code).toBe(0);
  expect((await readdir(here.cwd)).filter((name) => name.startsWith('.coxswain-recover'))).toEqual([]);
  expect((await here.run(['recover', store, '--to', other])).code).toBe(2);
});

test('of a SQLite file with a broken page every record is saved that SQLite can still read by itself', async () => {
  await here.recorded('runs.db');
  const whole = jsonLines((await here.run(['export', 'beta', '--store', 'runs.db'])).stdout);
  const bytes = await readFile(join(here.cwd, 'runs.db'));
  const page = Math.floor(bytes.indexOf('src/part-150.ts') / 4096);
  bytes.fill(0xff, page * 4096, (page + 1) * 4096);
  await writeFile(join(here.cwd, 'runs.db'), bytes);
  await writeFile(join(here.cwd, 'copy.db'), bytes);
  const readable = await readableRows(join(here.cwd, 'copy.db'), 'beta', 1000);

  const { code, stdout } = await here.run(['recover', 'runs.db', '--to', 'saved.db', '--json']);
  expect(code).toBe(1);
  const beta = jsonLines(stdout).find((run) => run['runId'] === 'beta');
  expect(beta?.['saved']).toBe(readable);
  expect(readable).toBeLessThan(whole.length);
  expect(stdout).not.toContain('.coxswain-recover');
  expect((await here.run(['verify', 'saved.db'])).code).toBe(0);
});

/** How many records a plain query gives, one at a time. */
async function readableRows(file: string, runId: string, throughSeq: number): Promise<number> {
  let rows = 0;
  for (let seq = 0; seq <= throughSeq; seq += 1) {
    const database = new DatabaseSync(file);
    try {
      const row = database.prepare('SELECT json FROM records WHERE run_id = ? AND seq = ?').get(runId, seq);
      if (row !== undefined) rows += 1;
    } catch {
      // Counted as not readable.
    }
    database.close();
  }
  return rows;
}

test('a run whose summary is lost or damaged is saved, and its end counts as unknown', async () => {
  await here.recorded('runs.db');
  const database = new DatabaseSync(join(here.cwd, 'runs.db'));
  database.exec(`DELETE FROM runs WHERE run_id = 'alpha'; UPDATE runs SET summary = '{' WHERE run_id = 'beta'`);
  database.close();
  const { code, stdout } = await here.run(['recover', 'runs.db', '--to', 'saved.db', '--json']);
  expect(code).toBe(1);
  const whole = recordCounts(join(here.cwd, 'runs.db'));
  for (const run of ['alpha', 'beta']) {
    expect(jsonLines(stdout).find((one) => one['runId'] === run)).toMatchObject({
      saved: whole.get(run),
      isEndKnown: false,
    });
  }
});

test.each([
  ["UPDATE records SET checksum = 3554722174258746825 WHERE run_id = 'beta' AND seq = 5", 1, 0],
  ["UPDATE records SET seq = 3554722174258746825 WHERE run_id = 'beta' AND seq = 5", 1, 0],
  ["UPDATE records SET id = 9223372036854775807 WHERE run_id = 'beta' AND seq = 5", 0, 0],
  ["UPDATE runs SET checksum = 3554722174258746825 WHERE run_id = 'beta'", 0, 1],
  ["UPDATE runs SET chars = -9223372036854775808 WHERE run_id = 'beta'", 0, 1],
])('an integer that JavaScript cannot represent costs its row at most: %s', async (sql, lost, endUnknown) => {
  await here.recorded('runs.db');
  const whole = recordCounts(join(here.cwd, 'runs.db'));
  const database = new DatabaseSync(join(here.cwd, 'runs.db'));
  database.exec(sql);
  database.close();
  const { stdout, stderr } = await here.run(['recover', 'runs.db', '--to', 'saved.db', '--json']);
  expect(stderr).toBe('');
  const saved = [...whole.values()].reduce((sum: number, records) => sum + Number(records), 0) - lost;
  // The place after the last record of a run whose end is unknown counts as lost.
  const totals = { runs: whole.size, saved, lost: lost + endUnknown, endUnknown, problems: 0 };
  expect(jsonLines(stdout).at(-1)).toMatchObject(totals);
  expect((await here.run(['verify', 'saved.db'])).code).toBe(0);
});

test('where the list of runs is damaged, recover says why it stops and prints the totals', async () => {
  await here.recorded('runs.db');
  const file = join(here.cwd, 'runs.db');
  const database = new DatabaseSync(file);
  const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'").get() ?? {};
  database.close();
  const bytes = await readFile(file);
  bytes.fill(0xff, (Number(rootpage) - 1) * 4096, Number(rootpage) * 4096);
  await writeFile(file, bytes);
  const { code, stdout, stderr } = await here.run(['recover', 'runs.db', '--to', 'saved.db', '--json']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('the other runs are not saved: database disk image')]);
  expect(jsonLines(stdout)).toEqual([
    expect.objectContaining({ runs: 0, saved: 0, sourceProblems: expect.any(Number) }),
  ]);
});

test('a file that is no store at all is one line, and nothing is left behind', async () => {
  await writeFile(join(here.cwd, 'junk.db'), 'no database at all, but long enough to be looked at'.repeat(100));
  const { code, stdout, stderr } = await here.run(['recover', 'junk.db', '--to', 'saved.db']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^coxswain: junk\.db: nothing can be recovered: [^\n]+\n$/);
  expect((await readdir(here.cwd)).toSorted()).toEqual(['a.json', 'b.json', 'junk.db']);
});

async function bytesOf(store: string): Promise<readonly string[]> {
  return [await readFile(join(here.cwd, store), 'base64')];
}

function recordCounts(file: string): ReadonlyMap<unknown, unknown> {
  const database = new DatabaseSync(file);
  const rows = database.prepare('SELECT run_id, count(*) AS records FROM records GROUP BY run_id').all();
  database.close();
  return new Map(rows.map((row) => [row['run_id'], row['records']]));
}
