import { allRuns } from '../../../store/all-runs.ts';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { CoxswainError } from '../../../base/error.ts';
import { carveSqlite, type CarvedRun } from '../../../store/sqlite/carve-sqlite.ts';
import { nodeFileSystem } from '../../../store/file-system.ts';
import { isRunFolderName, runIdInFolderName } from '../../../store/jsonl/run-folder-name.ts';
import { walkRun } from '../../../store/jsonl/walk-run.ts';
import { lastSeqOf } from '../../../store/run-summary.ts';
import type { LiveReader } from '../../../store/trajectory-store.ts';
import { isDamaged, damageText, toStoreError } from '../../../store/store-error.ts';
import { kindOfStore } from '../../../store/registry/open-store.ts';
import { storePath } from '../../../store/store-address.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';
import { salvageLines, type Salvaged } from './salvage-lines.ts';

export interface RunToSave {
  readonly runId: string;
  /** Last `seq` of the run according to the store; -1 if unknown. */
  readonly lastSeq: number;
  /** False if the end of the run is unknown, so that its last records may be missing. */
  readonly isEndKnown: boolean;
  readonly items: AsyncIterable<Salvaged> | Iterable<Salvaged>;
}

/** A damaged store. */
export interface RecoverSource {
  runs(): AsyncIterable<RunToSave> | Iterable<RunToSave>;
  /** Number of problems found by `verify`. */
  readonly problems: number;
  close(): void | Promise<void>;
}

/**
 * Opens a damaged store for recovery. Never writes to it. For a SQLite file, reads the pages directly instead of the B-trees.
 *
 * @throws CoxswainError `store-io`, and the errors of opening the store if it contains no readable run
 */
export async function openRecoverSource(address: string): Promise<RecoverSource> {
  const { problems, error } = await problemsOf(address);
  const kind = await kindOfStore(address);
  const path = storePath(address) ?? '';
  if (kind !== 'jsonl' && kind !== 'sqlite') {
    if (error !== undefined) throw error;
    return readableRows(await openReadableStore(address), problems);
  }
  if (kind === 'jsonl') return { runs: () => runFolders(resolve(path)), problems, close: () => {} };
  try {
    const carvedRows = carveSqlite(resolve(path));
    const { runs } = carvedRows;
    if (error === undefined || runs.length > 0)
      return { runs: () => runs.map(toSave), problems, close: () => carvedRows.close() };
    carvedRows.close();
  } catch (thrown) {
    throw toStoreError(thrown, `read ${path}`);
  }
  throw new CoxswainError(error.code, `${shownStore(address)}: nothing can be recovered: ${error.message}`, {
    cause: error,
  });
}

/** Counts the problems of a store. `error` is set if the store cannot be opened or read. */
async function problemsOf(address: string): Promise<{ readonly problems: number; readonly error?: CoxswainError }> {
  let problems = 0;
  try {
    const store = await openReadableStore(address);
    try {
      for await (const { problem } of store.verify()) if (problem !== '') problems += 1;
    } finally {
      await store.close();
    }
    return { problems };
  } catch (thrown) {
    return { problems: problems + 1, error: toStoreError(thrown, `read ${shownStore(address)}`) };
  }
}

/** Reads a database and skips damaged records. */
function readableRows(store: LiveReader, problems: number): RecoverSource {
  return {
    async *runs() {
      for await (const { lastSeq, problem, runId } of allRuns(store)) {
        yield { runId, lastSeq, isEndKnown: problem === undefined, items: readPastDamage(store, runId, lastSeq) };
      }
    },
    problems,
    close: () => store.close(),
  };
}

async function* readPastDamage(
  store: LiveReader,
  runId: string,
  lastSeq: number,
): AsyncGenerator<Salvaged, void, void> {
  for (let fromSeq = 0; fromSeq <= lastSeq;) {
    try {
      for await (const record of store.readRun(runId, { fromSeq })) {
        yield { type: 'record', record };
        fromSeq = lastSeqOf(record) + 1;
      }
      return;
    } catch (thrown) {
      if (!(thrown instanceof CoxswainError) || (!isDamaged(thrown) && thrown.code !== 'invalid-record')) throw thrown;
      const seq = thrown.details['seq'];
      yield { type: 'damage', reason: damageText(thrown) };
      fromSeq = Math.max(fromSeq, typeof seq === 'number' ? seq : fromSeq) + 1;
    }
  }
}

function toSave(run: CarvedRun): RunToSave {
  const { hasSummary, lastSeq, runId } = run;
  return { runId, lastSeq, isEndKnown: hasSummary, items: itemsOf(run) };
}

/** Yields the records, with a damage item at each damaged position. */
function* itemsOf(run: CarvedRun): Generator<Salvaged, void, void> {
  const remainingDamage = [...run.damaged];
  let throughSeq = -1;
  const damageBefore = function* (seq: number): Generator<Salvaged, void, void> {
    for (let one = remainingDamage[0]; one !== undefined && one < seq; one = remainingDamage[0]) {
      remainingDamage.shift();
      if (one > throughSeq) yield { type: 'damage', reason: 'its checksum is wrong' };
    }
  };
  for (const record of run.records()) {
    yield* damageBefore(record.seq);
    yield { type: 'record', record };
    throughSeq = lastSeqOf(record);
  }
  yield* damageBefore(Infinity);
}

async function* runFolders(folder: string): AsyncGenerator<RunToSave, void, void> {
  for (const name of (await readdir(folder)).filter(isRunFolderName).sort()) {
    const path = join(folder, name);
    let runId = runIdInFolderName(name);
    let isEndKnown = true;
    for await (const item of walkRun({ fileSystem: nodeFileSystem, folder: path })) {
      if (item.type === 'record') runId = item.end.runId;
      if (item.type === 'torn') isEndKnown = false;
    }
    yield { runId, lastSeq: -1, isEndKnown, items: salvageLines(path) };
  }
}
