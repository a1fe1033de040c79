import { resolve } from 'node:path';

import { CoxswainError, invalidArgument, messageOf } from '../../../core/base/error.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { lastSeqOf } from '../../../core/facts/run-summary.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { countOf } from '../../../core/base/number-text.ts';
import { openReadableStore, openStoreNamed, shownStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine, printable } from '../../../core/base/printable.ts';
import { Problems, spillNote } from '../../runs/problems.ts';
import { allRuns } from '../../../core/store/run-page.ts';
import { storeKindAt } from '../../../stores/registry/open-store.ts';
import { RunRecorder } from '../../runs/run-recorder.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { isJsonObject } from '../../../core/base/json.ts';
import { decodeParsed } from '../../../core/records/decode-record.ts';
import { decompress, packingOf, openBytes } from '../../../formats/reading/open-bytes.ts';
import { LineReader, type TextLine } from '../../../formats/reading/line-reader.ts';
import { nextChunk } from '../../../formats/reading/text-head.ts';

const LINE_BYTES = 64 * 1024 * 1024;

interface RecordLine {
  readonly line: number;
  readonly record: TrajectoryRecord | Error;
}

/**
 * Reads the output of `coxswain export`, also gzip and zstd; an invalid line yields an error.
 *
 * @throws CoxswainError `format-unknown` if the first line does not resemble a record; `format-invalid` for damaged
 * compressed data; `input-io`
 */
async function* readRecordFile(path: string): AsyncGenerator<RecordLine, void, void> {
  const openedFile = await openBytes(path, { stdin: process.stdin });
  try {
    const packing = packingOf(openedFile.magic);
    if (packing === 'zip') throw notRecords('it is a zip archive', path);
    const bytes = packing === 'none' ? openedFile.chunks : decompress(openedFile.chunks, packing);
    let isFirst = true;
    for await (const line of linesOf(bytes)) {
      const record = recordOf(line);
      if (isFirst && record instanceof NoRecord) throw notRecords(record.message, path);
      isFirst = false;
      yield { line: line.number, record };
    }
    if (isFirst) throw notRecords('it is empty', path);
  } finally {
    await openedFile.close();
  }
}

class NoRecord extends Error {}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<TextLine, void, void> {
  const reader = new LineReader(LINE_BYTES);
  const chunks = bytes[Symbol.asyncIterator]();
  for (let chunk = await nextChunk(chunks); chunk !== undefined; chunk = await nextChunk(chunks)) {
    if (chunk instanceof CoxswainError) throw chunk;
    yield* reader.push(chunk);
  }
  const last = reader.end();
  if (last !== undefined) yield last;
}

function recordOf({ bytes }: TextLine): TrajectoryRecord | Error {
  if (bytes === undefined) return new Error('the line is over the limit of 64 MiB and is skipped');
  const text = bytes.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return new NoRecord(`the line is not JSON: ${messageOf(error)}`);
  }
  if (!isJsonObject(value) || !('seq' in value) || !('payload' in value)) {
    return new NoRecord('the line lacks the fields of a record');
  }
  try {
    return decodeParsed(value, text);
  } catch (error) {
    return new Error(messageOf(error));
  }
}

function notRecords(reason: string, path: string): CoxswainError {
  const message = `not records of coxswain (${reason}); to record an agent's own file: coxswain analyze ${path} --store STORE`;
  return new CoxswainError('format-unknown', message);
}

export interface ImportCommandOptions {
  readonly store?: string;
  readonly json?: boolean;
}

export async function importCommand(path: string, options: ImportCommandOptions, terminal: Terminal): Promise<number> {
  const file = storeNamed(options.store);
  const isStore = (await storeKindAt(path)) !== undefined;
  if (isStore && resolve(path) === resolve(file)) throw invalidArgument(`${shownStore(path)} is the store to write to`);
  const problems = new Problems(terminal);
  problems.source(path === '-' ? 'standard input' : path);
  let store: TrajectoryStore | undefined;
  let records: RecordImport | undefined;
  try {
    for await (const { line, record } of failuresOf(isStore ? readStore(path) : readRecordFile(path), problems)) {
      if (record instanceof Error) {
        problems.fault({ line, message: record.message });
        continue;
      }
      // A file without records does not create a store.
      store ??= await openStoreNamed(file);
      records ??= new RecordImport(store, problems, isStore);
      await records.take(record, line);
    }
    await records?.end();
  } finally {
    await store?.close();
  }
  problems.endSource();
  const { waiting } = isStore ? spillNote(path) : {};
  if (waiting !== undefined) terminal.complain(`coxswain: ${printable(waiting)}; then import again`);
  if (records !== undefined) {
    const { runs, stored, refused } = records;
    const refusedNote = refused === 0 ? '' : `; ${countOf(refused, 'run')} not, or not completely`;
    await terminal.write(
      options.json === true
        ? jsonLine({ runs, records: stored, refused, store: shownStore(file) })
        : `${countOf(runs, 'run')}, ${countOf(stored, 'record')} now in ${shownStore(file)}${refusedNote}\n`,
    );
  }
  return problems.any ? 1 : 0;
}

async function* readStore(address: string): AsyncGenerator<ImportedRecord, void, void> {
  const store = await openReadableStore(address);
  try {
    for await (const { runId } of allRuns(store)) {
      try {
        for await (const record of store.readRun(runId)) yield { record };
      } catch (error) {
        yield { record: new Error(`run ${runId}: ${messageOf(error)}`) };
      }
    }
  } finally {
    await store.close();
  }
}

async function* failuresOf<Item>(items: AsyncIterable<Item>, problems: Problems): AsyncGenerator<Item, void, void> {
  try {
    yield* items;
  } catch (error) {
    if (!(error instanceof CoxswainError)) throw error;
    problems.failure(error);
  }
}

interface ImportedRecord extends Pick<RecordLine, 'record'> {
  readonly line?: number;
}

interface RunProgress {
  nextSeq: number;
  records: number;
  isRefused: boolean;
}

class RecordImport {
  readonly #problems: Problems;
  readonly #recorder: RunRecorder;
  readonly #runs = new Map<string, RunProgress>();

  constructor(store: TrajectoryStore, problems: Problems, isCopy: boolean) {
    this.#problems = problems;
    this.#recorder = new RunRecorder(store, ({ runId, error }) => this.#refuseRun(runId, messageOf(error)), {
      isCopy,
      stored: store,
    });
  }

  get runs(): number {
    return this.#runs.size - this.refused;
  }

  get stored(): number {
    let records = 0;
    for (const run of this.#runs.values()) if (!run.isRefused) records += run.records;
    return records;
  }

  get refused(): number {
    let refusedCount = 0;
    for (const run of this.#runs.values()) if (run.isRefused) refusedCount += 1;
    return refusedCount;
  }

  async take(record: TrajectoryRecord, line: number | undefined): Promise<void> {
    const { run_id: runId, seq } = record;
    if (runId === undefined) {
      this.#problems.fault({ line, message: 'the record has no run_id and is skipped' });
      return;
    }
    const run = this.#runOf(runId, seq);
    if (run.isRefused) return;
    // A repeated record starts a new batch, because the store distinguishes repeats from conflicts.
    if (seq !== run.nextSeq) await this.#recorder.end(runId);
    if (seq > run.nextSeq) {
      this.#refuseRun(
        runId,
        `seq ${run.nextSeq} to ${seq - 1} are missing before this line; the rest is skipped`,
        line,
      );
      return;
    }
    run.nextSeq = lastSeqOf(record) + 1;
    run.records += 1;
    await this.#recorder.add(runId, record);
  }

  async end(): Promise<void> {
    for (const runId of this.#runs.keys()) await this.#recorder.end(runId);
  }

  #runOf(runId: string, seq: number): RunProgress {
    const knownRun = this.#runs.get(runId);
    if (knownRun !== undefined) return knownRun;
    const run = { nextSeq: seq, records: 0, isRefused: false };
    this.#runs.set(runId, run);
    return run;
  }

  #refuseRun(runId: string, reason: string, line?: number): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) run.isRefused = true;
    this.#problems.fault({ line, message: `run ${runId}: ${reason}` });
  }
}
