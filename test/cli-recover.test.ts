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
