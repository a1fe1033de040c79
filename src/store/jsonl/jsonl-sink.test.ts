import { appendFile, mkdir, open, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { encodeRecord } from '../../records/encode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { listAll, readAll } from '../../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../../testing/record-script.ts';
import { linesStore, type LinesStore } from '../../../test/support/lines-store.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { bytesOfWrite } from './jsonl-line.ts';
import type { JsonlSinkOptions } from './jsonl-sink.ts';
import type { StoreProblem } from '../trajectory-store.ts';

const FIRST = '0000000000000000.jsonl';

function openLines(folder: string, options?: JsonlSinkOptions): LinesStore {
  const store = linesStore(folder, options);
  onTestFinished(() => store.close());
  return store;
}

async function newFolder(): Promise<string> {
  const folder = testFolder();
  return join(folder, 'deep', 'runs');
}

/** Writes a run as this driver would, each list one append and one write. */
function bytesOf(...appends: readonly (readonly TrajectoryRecord[])[]): Buffer {
  return Buffer.concat(
    appends.map((records) => bytesOfWrite([records.map((record) => ({ json: encodeRecord(record) }))])),
  );
}

async function writeRun(folder: string, content: Buffer): Promise<string> {
  const run = join(folder, 'run-a');
  await mkdir(run, { recursive: true });
  const file = join(run, FIRST);
  await writeFile(file, content);
  return file;
}

async function problemsOf(store: LinesStore): Promise<readonly StoreProblem[]> {
  return Array.fromAsync(store.verify());
}

test('folders and files are accessible to their owner only', async () => {
  const folder = await newFolder();
  const store = openLines(folder);
  await store.append(scriptCalls('a', 5));
  await store.append(scriptCalls('a', 5, 5));
  await store.close();
  const run = join(folder, 'run-a');
  for (const path of [join(folder, '..'), folder, run]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  const names = await readdir(run);
  expect(names.toSorted()).toEqual([FIRST, 'lock']);
  for (const name of names) expect((await stat(join(run, name))).mode & 0o777).toBe(0o600);
});

test('a line is the JSON of its record with one more member', async () => {
  const folder = await newFolder();
  const records = scriptCalls('a', 3);
  const store = openLines(folder);
  await store.append(records);
  await store.close();
  const text = await readFile(join(folder, 'run-a', FIRST), 'utf8');
  const lines = text.trimEnd().split('\n');
  expect(lines.map((line) => line.replace(/,"line_check":"[0-9a-f]{8}[0-3]"}$/, '}'))).toEqual(
    records.map(encodeRecord),
  );
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject(records);
});

test('reading a missing folder does not create it', async () => {
  const folder = await newFolder();
  const store = openLines(folder);
  expect(await store.listRuns()).toEqual({ runs: [] });
  expect(await readAll(store, 'a')).toEqual([]);
  expect(await store.findRun('a')).toBeUndefined();
  expect(await problemsOf(store)).toEqual([]);
  await expect(stat(folder)).rejects.toThrow('ENOENT');
});

test('an append torn at any byte is not read, is not rewritten by readers, and does not affect the next record', async () => {
  const folder = await newFolder();
  const intact = scriptCalls('a', 2);
  const torn = [2, 3].map((seq) =>
    scriptRecord({ runId: 'a', seq, payload: { kind: 'compaction', trigger: `é€😀 ${seq}` } }),
  );
  const whole = bytesOf(intact, torn);
  for (let bytes = bytesOf(intact).length; bytes < whole.length; bytes += 1) {
    await rm(folder, { recursive: true, force: true });
    const file = await writeRun(folder, whole.subarray(0, bytes));
    const store = openLines(folder, { fsync: 'none' });
    expect(await readAll(store, 'a')).toEqual(intact);
    const summary = await store.findRun('a');
    expect(summary).toMatchObject({ records: 2, lastSeq: 1 });
    expect(summary?.problem).toBeUndefined();
    expect(await problemsOf(store)).toHaveLength(bytes === bytesOf(intact).length ? 0 : 1);
    expect(await readFile(file)).toEqual(whole.subarray(0, bytes));
    expect(await store.append(torn)).toBe(3);
    expect(await readAll(store, 'a')).toEqual([...intact, ...torn]);
    await store.close();
    expect(await readFile(file)).toEqual(whole);
  }
});

test('a run torn in its first append does not exist until something is appended', async () => {
  const folder = await newFolder();
  await writeRun(folder, bytesOf(scriptCalls('a', 3)).subarray(0, -1));
  const store = openLines(folder);
  expect(await store.listRuns()).toEqual({ runs: [] });
  await store.append(scriptCalls('a', 2));
  expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 2));
});

test('any changed bit before the last write is found and located', async () => {
  const folder = await newFolder();
  const content = bytesOf(scriptCalls('a', 1), scriptCalls('a', 2, 1), scriptCalls('a', 1, 3));
  const lastWrite = bytesOf(scriptCalls('a', 1, 3)).length;
  for (let at = 0; at < content.length - lastWrite; at += 1) {
    const broken = Buffer.from(content);
    broken[at] = (broken[at] ?? 0) ^ (1 << (at % 8));
    const file = await writeRun(folder, broken);
    const line = content.subarray(0, at).toString('latin1').split('\n').length;
    const store = openLines(folder);
    const where = { code: 'invalid-record', message: expect.stringContaining(`${file}, line ${line}: `) };
    await expect(readAll(store, 'a')).rejects.toMatchObject(where);
    expect((await problemsOf(store))[0]?.place).toBe(`${file}, line ${line}`);
  }
});

test('a damaged run is listed with its problem, and refuses appends', async () => {
  const folder = await newFolder();
  const content = bytesOf(scriptCalls('a', 2), scriptCalls('a', 1, 2), scriptCalls('a', 1, 3));
  const at = content.indexOf('call-2');
  const file = await writeRun(
    folder,
    Buffer.concat([content.subarray(0, at), Buffer.from('X'), content.subarray(at + 1)]),
  );
  const store = openLines(folder);
  await store.append(scriptCalls('good', 1));
  expect((await listAll(store)).map(({ runId, problem }) => [runId, problem])).toEqual([
    ['a', expect.stringContaining(`${file}, line 3: `)],
    ['good', undefined],
  ]);
  expect(await readAll(store, 'a', { limit: 2 })).toEqual(scriptCalls('a', 2));
  await expect(store.append(scriptCalls('a', 1, 4))).rejects.toMatchObject({ code: 'store-io' });
  expect((await problemsOf(store)).map(({ seq, place }) => [seq, place])).toEqual([
    [2, `${file}, line 3`],
    [2, `${file}, line 4`],
  ]);
});

test('a record that cannot belong to a run is reported with its line', async () => {
  const folder = await newFolder();
  const { run_id: _, ...nameless } = scriptRecord({ runId: 'a', seq: 0 });
  const newer = scriptRecord({ runId: 'a', seq: 0 });
  const start = bytesOf(scriptCalls('a', 1));
  const broken: readonly (readonly [Buffer, string, RegExp])[] = [
    [Buffer.concat([start, bytesOf(scriptCalls('a', 1, 2))]), 'invalid-record', /line 2: seq 1 is missing/],
    [Buffer.concat([start, bytesOf(scriptCalls('b', 1, 1))]), 'invalid-record', /line 2: the record is of another run/],
    [bytesOf([nameless]), 'invalid-record', /line 1: the record has no run_id/],
    [bytesOf([{ ...newer, schema_version: 9 }]), 'schema-version', /line 1: .*schema version 9/],
    [Buffer.concat([Buffer.from('\n'), start]), 'invalid-record', /line 1: the line is damaged/],
  ];
  for (const [content, code, message] of broken) {
    await writeRun(folder, content);
    const store = openLines(folder);
    await expect(readAll(store, 'a')).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect((await listAll(store))[0]).toMatchObject({ runId: 'a', problem: expect.stringMatching(message) });
    expect(await problemsOf(store)).not.toEqual([]);
  }
});

test('a reader in front of a torn line gets complete records when a writer replaces the line', async () => {
  const folder = await newFolder();
  await writeRun(folder, Buffer.concat([bytesOf(scriptCalls('a', 3)), Buffer.from('{"seq":3,"torn')]));
  const store = openLines(folder);
  const reading = store.readRun('a')[Symbol.asyncIterator]();
  await reading.next();
  await store.append(scriptCalls('a', 5, 3));
  const rest: number[] = [];
  for (let next = await reading.next(); next.done !== true; next = await reading.next()) rest.push(next.value.seq);
  expect(rest.slice(0, 2)).toEqual([1, 2]);
});

test('a store reads the writes of another store on the same folder', async () => {
  const folder = await newFolder();
  const [writer, reader] = [openLines(folder), openLines(folder)];
  for (let seq = 0; seq < 30; seq += 2) {
    await writer.append(scriptCalls('a', 2, seq));
    expect((await listAll(reader))[0]).toMatchObject({ runId: 'a', calls: seq + 2 });
  }
  await writer.append(scriptCalls('b', 1));
  expect((await listAll(reader)).map((run) => run.runId)).toEqual(['a', 'b']);
  await writer.close();
  expect(await reader.append(scriptCalls('a', 1, 30))).toBe(30);
});

test('a later listing reads only the changed runs', async () => {
  const folder = await newFolder();
  const file = await writeRun(folder, bytesOf(scriptCalls('a', 2)));
  const store = openLines(folder);
  const { size, atime, mtime } = await stat(file);
  await utimes(file, atime, mtime);
  await store.listRuns();
  // Same size and time: only a store that reads the file again would notice.
  await writeFile(file, 'x'.repeat(size));
  await utimes(file, atime, mtime);
  expect((await listAll(store))[0]).toMatchObject({ runId: 'a', calls: 2 });
  await writeFile(file, bytesOf(scriptCalls('a', 3)));
  expect((await listAll(store))[0]).toMatchObject({ runId: 'a', calls: 3 });
});

/** Overwrites one byte of a file. */
async function damage(file: string, at: number): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write('#', at);
  await handle.close();
}

test('a changed byte in the last write of a run is damage, not a torn end', async () => {
  for (const line of [1, 2, 3]) {
    const folder = await newFolder();
    const records = scriptCalls('a', 3);
    const store = openLines(folder);
    await store.append(records);
    await store.close();
    const file = join(folder, 'run-a', FIRST);
    const at = bytesOf(records).indexOf(`call-${line - 1}`);
    await damage(file, at);
    const content = await readFile(file);
    const place = `${file}, line ${line}`;
    const wrong = { code: 'invalid-record', message: expect.stringContaining(`${place}: `) };
    await expect(readAll(openLines(folder), 'a')).rejects.toMatchObject(wrong);
    expect((await problemsOf(openLines(folder)))[0]).toMatchObject({ runId: 'a', place });
    // Stored records are never truncated: the next append is refused.
    const writer = openLines(folder);
    const refused = { code: 'store-io', message: expect.stringContaining(place) };
    await expect(writer.append(scriptCalls('a', 1, 3))).rejects.toMatchObject(refused);
    await writer.close();
    expect(await readFile(file)).toEqual(content);
    await expect(readAll(openLines(folder), 'a')).rejects.toMatchObject(wrong);
  }
});

test('zero bytes are a torn end in the last write, and damage before a later write', async () => {
  const folder = await newFolder();
  const [first, second] = [bytesOf(scriptCalls('a', 2)), bytesOf(scriptCalls('a', 3, 2))];
  const unfilled = Buffer.from(second).fill(0, 10, second.indexOf('\n') + 10);
  const file = await writeRun(folder, Buffer.concat([first, unfilled]));
  expect(await readAll(openLines(folder), 'a')).toEqual(scriptCalls('a', 2));
  expect(await problemsOf(openLines(folder))).toMatchObject([{ seq: 4, place: `${file}, line 3` }]);
  await writeRun(folder, Buffer.concat([first, unfilled, bytesOf(scriptCalls('a', 1, 5))]));
  const damaged = { code: 'invalid-record', message: expect.stringContaining(`${file}, line 3: `) };
  await expect(readAll(openLines(folder), 'a')).rejects.toMatchObject(damaged);
});

test('a run with a damaged last line is listed with its location', async () => {
  const folder = await newFolder();
  const store = openLines(folder);
  await store.append(scriptCalls('a', 2));
  await store.close();
  const file = join(folder, 'run-a', FIRST);
  await damage(file, bytesOf(scriptCalls('a', 2)).indexOf('call-1'));
  const problem = expect.stringContaining(`${file}, line 2: `);
  expect(await openLines(folder).findRun('a')).toMatchObject({ runId: 'a', problem });
});

test('a torn append after the end of a run is truncated without an error', async () => {
  const folder = await newFolder();
  const store = openLines(folder);
  await store.append(scriptCalls('a', 2));
  await store.close();
  const file = join(folder, 'run-a', FIRST);
  await appendFile(file, bytesOf(scriptCalls('a', 2, 2)).subarray(0, -5));
  const writer = openLines(folder);
  expect(await readAll(writer, 'a')).toEqual(scriptCalls('a', 2));
  expect(await writer.append(scriptCalls('a', 1, 2))).toBe(2);
  expect(await readAll(writer, 'a')).toEqual(scriptCalls('a', 3));
  await writer.close();
  expect(await problemsOf(openLines(folder))).toEqual([]);
});

test('other files in the folder are unchanged', async () => {
  const folder = await newFolder();
  const store = openLines(folder);
  await store.append(scriptCalls('a', 1));
  await writeFile(join(folder, 'notes.txt'), 'mine');
  await appendFile(join(folder, 'run-a', 'notes.txt'), 'mine too');
  expect((await listAll(store)).map((run) => run.runId)).toEqual(['a']);
  await store.close();
  expect(await readFile(join(folder, 'run-a', 'notes.txt'), 'utf8')).toBe('mine too');
  expect((await readdir(folder)).sort()).toEqual(['notes.txt', 'run-a']);
});

test('more runs than can be open at a time are written in turn', async () => {
  const folder = await newFolder();
  const store = openLines(folder, { fsync: 'none', lock: { waitMs: 0 } });
  for (const seq of [0, 1]) {
    const ids = Array.from({ length: 150 }, (_, index) => `run-${index}`);
    if (seq === 0) for (const id of ids) await store.append(scriptCalls(id, 1));
    else await Promise.all(ids.map((id) => store.append(scriptCalls(id, 1, 1))));
  }
  await store.close();
  const runs = await listAll(openLines(folder));
  expect(runs).toHaveLength(150);
  for (const run of runs) expect(run.records).toBe(2);
});

test('an append to a run whose idle writer is closing waits for the lock of that writer', async () => {
  const store = openLines(await newFolder(), { fsync: 'none', lock: { waitMs: 0 } });
  const turns = Array.from({ length: 12 }, (_, seq) => seq);
  // Each goes round its own runs, all at once, so that runs come back at every moment of the closing of others.
  const goRound = async (first: number): Promise<void> => {
    for (const seq of turns) {
      for (let run = first; run < 90; run += 9) await store.append(scriptCalls(`run-${run}`, 1, seq));
    }
  };
  await Promise.all(Array.from({ length: 9 }, (_, first) => goRound(first)));
  const runs = await listAll(store);
  await store.close();
  expect(runs).toHaveLength(90);
  expect(runs.filter(({ records }) => records === turns.length)).toHaveLength(90);
});

test('an option out of range is invalid-argument', () => {
  const wrong: readonly object[] = [{ fsync: 'sometimes' }, { lock: { waitMs: -1 } }];
  for (const options of wrong) {
    expect(() => linesStore('runs', options)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  }
});

test('a refusal of the file system is store-io with its cause', async () => {
  const folder = await newFolder();
  await mkdir(join(folder, '..'), { recursive: true });
  await writeFile(folder, 'a file, not a folder');
  const refused = { code: 'store-io', cause: expect.any(Error) };
  await expect(openLines(folder).append(scriptCalls('a', 1))).rejects.toMatchObject(refused);
  await expect(openLines(folder).listRuns()).rejects.toMatchObject(refused);
});

test('records of a write that was truncated after a read are not counted', async () => {
  const folder = await newFolder();
  const file = await writeRun(folder, bytesOf(scriptCalls('a', 2), scriptCalls('a', 3, 2)));
  const reader = openLines(folder);
  expect(await reader.findRun('a')).toMatchObject({ records: 5 });
  await writeFile(file, bytesOf(scriptCalls('a', 2), scriptCalls('a', 1, 2)));
  expect(await reader.findRun('a')).toMatchObject({ records: 3 });
});
