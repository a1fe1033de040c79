import { basename, join, resolve } from 'node:path';

import { invalidArgument } from '../../base/error.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { isRunId } from '../check-batch.ts';
import { checkReadQuery } from '../check-read-query.ts';
import { isMissing, nodeFileSystem, type FileSystem } from '../file-system.ts';
import { refuseLinks } from '../records-folder.ts';
import { isGone, recordsPath, sizeOfRun, type RunFiles } from './run-files.ts';
import { isRunFolderName, runFolderName } from './run-folder-name.ts';
import { damageError, walkRun, type RunPlace } from './walk-run.ts';
import { checkRunQuery, pageOfAllRuns } from '../run-page.ts';
import { damagedSummary, RunCounter, type RunSummary } from '../run-summary.ts';
import type { LiveReader, ReadQuery, RunPage, RunQuery, SearchPage, StoreProblem } from '../trajectory-store.ts';
import { storeClosed, toStoreError } from '../store-error.ts';

/**
 * Number of most recently written runs that each call of `changes` checks. The call also checks the same number of other
 * runs, in rotation.
 */
const RECENT_RUNS = 64;
const ROTATED_RUNS = 500;
/** Number of runs that are read concurrently. */
const CONCURRENT_RUNS = 16;
const TORN_PROBLEM = 'torn from here on: an unacknowledged append, which the next one truncates';

interface KnownRun {
  /** A text that changes when the file of the run changes. */
  readonly stamp: string;
  readonly modifiedMs: number;
  /** Absent while the run has no complete append. */
  readonly summary?: RunSummary;
  /** The position at which reading continues. Absent if the run is damaged. */
  readonly end?: RunPlace;
}

/**
 * Opens a folder that `jsonlSink` writes, for reading only. It lists, reads, verifies and follows the runs. There is no
 * index, so `search` throws.
 *
 * Cost: the first read of a run reads all of it. A later listing makes two file system calls per run and reads only new
 * data. `readRun` always reads from the start of the file. Memory: a summary per run.
 *
 * @throws CoxswainError `unsafe-path` for a `.coxswain` that is a link
 */
export function openJsonlReader(folder: string): LiveReader {
  const path = resolve(folder);
  refuseLinks(path);
  return new JsonlReader(path, nodeFileSystem);
}

export class JsonlReader implements LiveReader {
  readonly #folder: string;
  readonly #fileSystem: FileSystem;
  readonly #knownRuns = new Map<string, KnownRun>();
  #hasListed = false;
  #isClosed = false;
  #rotation = 0;

  /** @param folder  an absolute path */
  constructor(folder: string, fileSystem: FileSystem) {
    this.#folder = folder;
    this.#fileSystem = fileSystem;
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    const checkedQuery = checkRunQuery(query);
    const runs = await Array.fromAsync(this.listAll());
    const page = pageOfAllRuns(runs, checkedQuery);
    if (!checkedQuery.withBytes) return page;
    return {
      ...page,
      bytes: await Promise.all(page.runs.map(({ runId }) => sizeOfRun(this.#filesOf(runFolderName(runId))))),
    };
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    return isRunId(runId) ? (await this.#refresh(runFolderName(runId)))?.summary : undefined;
  }

  async *readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    const { fromSeq, limit } = checkReadQuery(query);
    this.#requireOpen();
    if (!isRunId(runId) || limit === 0) return;
    const run = this.#filesOf(runFolderName(runId));
    let count = 0;
    try {
      for await (const item of walkRun(run)) {
        this.#requireOpen();
        if (item.type === 'damage') throw damageError(item);
        if (item.type === 'torn') return;
        if (item.record.seq < fromSeq) continue;
        yield item.record;
        count += 1;
        if (count === limit) return;
      }
    } catch (thrown) {
      throw toStoreError(thrown, `read ${run.folder}`);
    }
  }

  async *verify(): AsyncGenerator<StoreProblem, void, void> {
    for (const name of await this.#listNames()) {
      const run = this.#filesOf(name);
      try {
        for await (const item of walkRun(run)) {
          this.#requireOpen();
          if (item.type === 'record') continue;
          if (await isGone(run)) break;
          const { place, runId, seq } = item;
          yield { runId, seq, place, problem: item.type === 'torn' ? TORN_PROBLEM : item.problem };
        }
      } catch (thrown) {
        if (!(await isGone(run))) throw toStoreError(thrown, `verify ${run.folder}`);
      }
    }
  }

  async search(): Promise<SearchPage> {
    throw invalidArgument(
      `${this.#folder}: a folder of JSON lines has no search index; copy it into a store that has one: ` +
        `coxswain import ${this.#folder} --store FILE`,
    );
  }

  async sizeOf(): Promise<number> {
    let bytes = 0;
    for (const name of await this.#listNames()) bytes += await sizeOfRun(this.#filesOf(name));
    return bytes;
  }

  async *listAll(): AsyncGenerator<RunSummary, void, void> {
    for await (const run of this.#inParallel(await this.#listNames(), (name) => this.#refresh(name))) {
      if (run?.summary !== undefined) yield run.summary;
    }
    this.#hasListed = true;
  }

  async changes(): Promise<readonly string[] | undefined> {
    if (!this.#hasListed) return undefined;
    const names = await this.#listNames();
    const existingNames = new Set(names);
    const changedRunIds: string[] = [];
    for (const [name, { summary }] of this.#knownRuns) {
      if (existingNames.has(name)) continue;
      this.#knownRuns.delete(name);
      if (summary !== undefined) changedRunIds.push(summary.runId);
    }
    const findChange = async (name: string): Promise<string | undefined> => {
      const previousRun = this.#knownRuns.get(name);
      const currentRun = await this.#refresh(name);
      return currentRun === previousRun ? undefined : (currentRun?.summary ?? previousRun?.summary)?.runId;
    };
    for await (const runId of this.#inParallel(this.#candidates(names), findChange)) {
      if (runId !== undefined) changedRunIds.push(runId);
    }
    return changedRunIds;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#knownRuns.clear();
  }

  async *#inParallel<Result>(
    names: readonly string[],
    readItem: (name: string) => Promise<Result>,
  ): AsyncGenerator<Result, void, void> {
    for (let from = 0; from < names.length; from += CONCURRENT_RUNS) {
      yield* await Promise.all(names.slice(from, from + CONCURRENT_RUNS).map(readItem));
    }
  }

  /** Returns new runs, the most recently written runs, and some of the others. */
  #candidates(names: readonly string[]): readonly string[] {
    const modifiedMsOf = (name: string): number => this.#knownRuns.get(name)?.modifiedMs ?? 0;
    const recentNames = names.toSorted((a, b) => modifiedMsOf(b) - modifiedMsOf(a)).slice(0, RECENT_RUNS);
    const start = names.length === 0 ? 0 : this.#rotation % names.length;
    this.#rotation = start + ROTATED_RUNS;
    const newNames = names.filter((name) => !this.#knownRuns.has(name));
    return [...new Set([...newNames, ...recentNames, ...names.slice(start, start + ROTATED_RUNS)])];
  }

  /** Reads the new data of a run. Returns undefined if the run no longer exists. */
  async #refresh(name: string): Promise<KnownRun | undefined> {
    this.#requireOpen();
    const run = this.#filesOf(name);
    const knownRun = this.#knownRuns.get(name);
    try {
      const facts = await this.#fileSystem.facts(recordsPath(run));
      const stamp = `${facts?.inode} ${facts?.sizeBytes} ${facts?.modifiedMs}`;
      if (stamp === knownRun?.stamp) return knownRun;
      // After a truncation, data that was read may no longer exist. The whole run is read again.
      const isShorter = (facts?.sizeBytes ?? 0) < (knownRun?.end?.offset ?? 0);
      const continued =
        (knownRun && !isShorter && (await readNewRecords(run, knownRun))) || (await readNewRecords(run, undefined));
      if (continued?.end === undefined && (await isGone(run))) {
        this.#knownRuns.delete(name);
        return undefined;
      }
      const currentRun = { stamp, modifiedMs: facts?.modifiedMs ?? 0, ...continued };
      this.#knownRuns.set(name, currentRun);
      return currentRun;
    } catch (thrown) {
      if (!isMissing(thrown) || !(await isGone(run))) throw toStoreError(thrown, `read ${run.folder}`);
      this.#knownRuns.delete(name);
      return undefined;
    }
  }

  #filesOf(name: string): RunFiles {
    return { fileSystem: this.#fileSystem, folder: join(this.#folder, basename(name)) };
  }

  #requireOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  async #listNames(): Promise<readonly string[]> {
    this.#requireOpen();
    try {
      return (await this.#fileSystem.list(this.#folder)).filter(isRunFolderName);
    } catch (thrown) {
      throw toStoreError(thrown, `list ${this.#folder}`);
    }
  }
}

/** Returns the summary and end of a run, continuing from `known`. Returns undefined if it cannot continue. */
async function readNewRecords(
  run: RunFiles,
  known: KnownRun | undefined,
): Promise<Pick<KnownRun, 'summary' | 'end'> | undefined> {
  if (known !== undefined && known.end === undefined) return undefined;
  const counter = new RunCounter(known?.summary);
  let end = known?.end;
  for await (const item of walkRun(run, end)) {
    if (item.type === 'torn') break;
    if (item.type === 'damage') {
      if (known !== undefined) return undefined;
      const problem = damageError(item).message;
      return { summary: end === undefined ? damagedSummary(item.runId, problem) : { ...counter.summary(), problem } };
    }
    counter.fold(item.record);
    end = item.end;
  }
  return end === undefined ? {} : { end, summary: counter.summary() };
}
