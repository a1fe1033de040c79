import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';

import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { scriptRecord } from './support/script-records.ts';
import { tempFolder } from './support/temp-folder.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';

async function openNew(): Promise<{
  readonly store: TrajectoryStore;
  readonly raw: DatabaseSync;
  readonly file: string;
}> {
  const folder = await tempFolder();
  const file = join(folder.path, 'runs.db');
  const store = sqliteStore(file);
  const raw = new DatabaseSync(file);
  onTestFinished(async () => {
    if (raw.isOpen) raw.close();
    await store.close();
    await folder.dispose();
  });
  return { store, raw, file };
}

function text(runId: string, seq: number, trigger: string): TrajectoryRecord {
  return scriptRecord({ runId, seq, payload: { kind: 'compaction', trigger } });
}

/** Waits until the index holds what is stored; searching would hurry it. */
async function indexed(raw: DatabaseSync): Promise<void> {
  const read = raw.prepare('SELECT through_id = (SELECT max(id) FROM records) AS done FROM indexing');
  await expect.poll(() => Number(read.get()?.['done'])).toBe(1);
}

test('what is appended is indexed by itself, in the background', async () => {
  const { store, raw } = await openNew();
  for (let seq = 0; seq < 2000; seq += 500) {
    await store.append(Array.from({ length: 500 }, (_, index) => text('a', seq + index, `number${seq + index} word`)));
  }
  await indexed(raw);
  expect(raw.prepare("SELECT count(*) AS n FROM record_words WHERE record_words MATCH 'word'").get()).toEqual({
    n: 2000,
  });
  expect(await store.search({ text: 'number1999' })).toMatchObject({ notIndexed: 0, hits: [{ seq: 1999 }] });
});

test('a search says what is not in the index yet, and answers from what is', async () => {
  const { store, raw } = await openNew();
  await store.append([text('a', 0, 'early word')]);
  expect((await store.search({ text: 'word' })).notIndexed).toBe(0);
  const lock = raw;
  await store.append([text('a', 1, 'late word'), text('a', 2, 'last word')]);
  lock.exec('BEGIN IMMEDIATE');
  const page = await store.search({ text: 'word' });
  lock.exec('ROLLBACK');
  expect(page).toMatchObject({ notIndexed: 2, hits: [{ seq: 0 }] });
  expect(await store.search({ text: 'word' })).toMatchObject({
    notIndexed: 0,
    hits: [{ seq: 2 }, { seq: 1 }, { seq: 0 }],
  });
});

test('one process indexes at a time, and another takes over when it was deleted', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { store, raw } = await openNew();
  raw.prepare("UPDATE indexing SET owner = 'another', until_ms = ?").run(Date.now() + 3_600_000);
  await store.append([text('a', 0, 'word')]);
  vi.advanceTimersByTime(10_000);
  expect(raw.prepare('SELECT through_id, owner FROM indexing').get()).toEqual({ through_id: 0, owner: 'another' });
  raw.exec('UPDATE indexing SET until_ms = 0');
  vi.advanceTimersByTime(10_000);
  expect(raw.prepare('SELECT owner FROM indexing').get()).not.toEqual({ owner: 'another' });
});

test('two stores on one file index each record once', async () => {
  const { store, raw, file } = await openNew();
  const other = sqliteStore(file);
  onTestFinished(() => other.close());
  await store.append(Array.from({ length: 400 }, (_, seq) => text('a', seq, 'word')));
  await Promise.all([store.search({ text: 'word' }), other.search({ text: 'word' }), store.search({ text: 'word' })]);
  await indexed(raw);
  expect(raw.prepare("SELECT count(*) AS n FROM record_words WHERE record_words MATCH 'word'").get()).toEqual({
    n: 400,
  });
  expect((await other.search({ text: 'word', limit: 1000 })).hits).toHaveLength(400);
});

test('a damaged record does not stop the index', async () => {
  const { store, raw } = await openNew();
  await store.append([text('a', 0, 'word'), text('a', 1, 'word'), text('a', 2, 'word')]);
  raw.exec("UPDATE records SET json = '{torn' WHERE seq = 1");
  await indexed(raw);
  expect((await store.search({ text: 'word' })).hits.map((hit) => hit.seq)).toEqual([2, 0]);
});

test('records whose damage came after they were indexed are no hits and no error', async () => {
  const { store, raw } = await openNew();
  await store.append([text('a', 0, 'word'), text('a', 1, 'word')]);
  await indexed(raw);
  raw.exec("UPDATE records SET json = '{torn' WHERE seq = 1");
  expect((await store.search({ text: 'word' })).hits.map((hit) => hit.seq)).toEqual([0]);
});

test('ids that come again after a removal are indexed again', async () => {
  const { store, raw } = await openNew();
  await store.append([text('a', 0, 'keep'), text('a', 1, 'keep')]);
  await store.append([text('b', 0, 'remove'), text('b', 1, 'remove')]);
  await indexed(raw);
  raw.exec(`
    BEGIN IMMEDIATE;
    DELETE FROM record_words WHERE rowid IN (SELECT id FROM records WHERE run_id = 'b');
    DELETE FROM indexed_records WHERE run_id = 'b';
    DELETE FROM records WHERE run_id = 'b';
    DELETE FROM runs WHERE run_id = 'b';
    UPDATE indexing SET removals = removals + 1, through_id = min(through_id, (SELECT coalesce(max(id), 0) FROM records));
    COMMIT`);
  await store.append([text('c', 0, 'again')]);
  expect((await store.search({ text: 'again' })).hits).toHaveLength(1);
  expect((await store.search({ text: 'remove' })).hits).toEqual([]);
  expect((await store.search({ text: 'keep' })).hits).toHaveLength(2);
});

test('random texts are found as a scan finds them', async () => {
  const word = fc.constantFrom(
    'a',
    'b',
    'A',
    'ä',
    'a\u0308',
    '磁',
    '盘',
    'x1',
    'ﬁ',
    'fi',
    'ı',
    'İ',
    'ß',
    'SS',
    '😀',
    "'",
    '"',
    '*',
    '-',
    '\0',
    '\ud800',
    ' ',
    ' ',
    '\n',
  );
  const anyText = fc.array(word, { maxLength: 12 }).map((words) => words.join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyText, { minLength: 1, maxLength: 8 }),
      fc.array(anyText, { minLength: 1, maxLength: 6 }),
      async (texts, queries) => {
        const folder = await tempFolder();
        const stores = [memoryStore(), sqliteStore(join(folder.path, 'runs.db'))];
        const answers = await Promise.all(
          stores.map(async (store) => {
            await store.append(texts.map((trigger, seq) => text('a', seq, trigger)));
            const pages = [];
            for (const query of [...queries, ...texts]) {
              pages.push(await store.search({ text: query }).catch((thrown: unknown) => String(thrown)));
            }
            await store.close();
            return pages;
          }),
        );
        await folder.dispose();
        expect(answers[1]).toEqual(answers[0]);
      },
    ),
    { numRuns: 40 },
  );
});
