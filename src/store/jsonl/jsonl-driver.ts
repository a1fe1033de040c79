import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { checkBatch, checkRunId, isRunId } from '../check-batch.ts';
import type { CheckedBatch } from '../check-batch.ts';
import type { CheckedSink } from '../checked-sink.ts';
import { checkReadQuery } from '../check-read-query.ts';
import { isMissing } from '../file-system.ts';
import type { FileSystem } from '../file-system.ts';
import { bytesOfRun, bytesOfStore, isGone, removeLeftOvers } from './jsonl-delete-run.ts';
import { isDamage, readRunLines } from './jsonl-read-run.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { refreshRun, summaryOf } from './jsonl-run-state.ts';
import type { RunState } from './jsonl-run-state.ts';
import { RunWriters } from './jsonl-run-writers.ts';
import type { JsonlSettings } from './jsonl-settings.ts';
import { verifyRun } from './jsonl-verify.ts';
import type { LockIdentity } from '../lock-identity.ts';
import { isRunFolderName, runFolderName } from './run-folder-name.ts';
import { checkRunQuery, pageOfAllRuns } from '../run-page.ts';
import type { RunSummary } from '../run-summary.ts';
import { checkSearchQuery } from '../search-page.ts';
import { createSearchScan } from '../search-scan.ts';
import { storeClosed, toStoreError } from '../store-error.ts';
import type {
  ReadQuery,
  RunChange,
  RunPage,
  RunQuery,
  StoredRun,
  SearchPage,
  SearchQuery,
  StoreProblem,
  TrajectoryStore,
} from '../trajectory-store.ts';

/** What a driver is built on, so that tests can refuse, cut the power, and stand for several machines. */
export interface JsonlPorts {
  readonly fileSystem: FileSystem;
  readonly identity: LockIdentity;
}

/** The store behind `jsonlStore`. */
export class JsonlDriver implements TrajectoryStore, CheckedSink {
  readonly #folder: string;
  readonly #fileSystem: FileSystem;
  readonly #writers: RunWriters;
  /** By folder name: what was read of runs that others write, or nobody. */
  readonly #states = new Map<string, RunState>();
  #isClosed = false;
  #mayHaveLeftOvers = true;

  /** @param folder  an absolute path */
  constructor(folder: string, settings: JsonlSettings, { fileSystem, identity }: JsonlPorts) {
    this.#folder = folder;
    this.#fileSystem = fileSystem;
    this.#writers = new RunWriters((name) => this.#files(name), settings, identity);
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#mustBeOpen();
    return this.appendChecked(checkBatch(batch));
  }

  async appendChecked(checked: CheckedBatch): Promise<number> {
    this.#mustBeOpen();
    return this.#writers.of(runFolderName(checked.runId)).append(checked);
  }

  async transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result> {
    this.#mustBeOpen();
    checkRunId(runId);
    return this.#writers.of(runFolderName(runId)).transact(runId, fold);
  }

  async flush(): Promise<void> {
    this.#mustBeOpen();
    await this.#writers.flush();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#states.clear();
    await this.#writers.close();
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    this.#mustBeOpen();
    const checked = checkRunQuery(query);
    const names = await this.#runNames();
    const runs: RunSummary[] = [];
    for (const name of names) {
      const summary = await this.#summary('list', name);
      this.#mustBeOpen();
      if (summary !== undefined) runs.push(summary);
    }
    const there = new Set(names);
    for (const name of this.#states.keys()) if (!there.has(name)) this.#states.delete(name);
    const page = pageOfAllRuns(runs, checked);
    return checked.withBytes ? { ...page, bytes: await this.#bytesOf(page.runs) } : page;
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    this.#mustBeOpen();
    return isRunId(runId) ? this.#summary('read', runFolderName(runId)) : undefined;
  }

  async *readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    const { fromSeq, limit } = checkReadQuery(query);
    this.#mustBeOpen();
    if (!isRunId(runId) || limit === 0) return;
    const run = this.#files(runFolderName(runId));
    let given = 0;
    try {
      for await (const lines of readRunLines(run, { fromSeq })) {
        for (const { record } of lines) {
          this.#mustBeOpen();
          if (record.seq < fromSeq) continue;
          yield record;
          given += 1;
          if (given === limit) return;
        }
      }
    } catch (thrown) {
      throw toStoreError(thrown, `read ${run.folder}`);
    }
  }

  async deleteRun(runId: string): Promise<boolean> {
    this.#mustBeOpen();
    if (!isRunId(runId)) return false;
    const name = runFolderName(runId);
    try {
      const hadAny = await this.#writers.of(name).deleteRun();
      this.#states.delete(name);
      if (this.#mayHaveLeftOvers) await removeLeftOvers(this.#fileSystem, this.#folder);
      this.#mayHaveLeftOvers = false;
      return hadAny;
    } catch (thrown) {
      this.#mayHaveLeftOvers = true;
      throw toStoreError(thrown, `remove what is left of deleted runs in ${this.#folder}`);
    }
  }

  async sizeOf(): Promise<number> {
    this.#mustBeOpen();
    try {
      return await bytesOfStore(this.#fileSystem, this.#folder);
    } catch (thrown) {
      throw toStoreError(thrown, `look at the files in ${this.#folder}`);
    }
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    this.#mustBeOpen();
    const checked = checkSearchQuery(query);
    const scan = createSearchScan(checked);
    const names = checked.runId === undefined ? await this.#runNames() : [runFolderName(checked.runId)];
    for (const name of names) {
      const run = this.#files(name);
      try {
        for await (const lines of readRunLines(run, { fromSeq: 0 })) {
          for (const { record } of lines) scan.offer(record);
          await nextTurn();
          this.#mustBeOpen();
        }
      } catch (thrown) {
        // What cannot be read is not found; `verify` and the run's summary tell of it.
        if (!isDamage(thrown) && !(await isGone(run))) throw toStoreError(thrown, `search ${run.folder}`);
      }
    }
    return scan.page();
  }

  async *verify(): AsyncGenerator<StoreProblem, void, void> {
    this.#mustBeOpen();
    for (const name of await this.#runNames()) {
      const run = this.#files(name);
      try {
        for await (const problem of verifyRun(run)) {
          this.#mustBeOpen();
          if (await isGone(run)) break;
          yield problem;
        }
      } catch (thrown) {
        if (!(await isGone(run))) throw toStoreError(thrown, `verify ${run.folder}`);
      }
    }
  }

  #files(name: string): RunFiles {
    return { fileSystem: this.#fileSystem, folder: join(this.#folder, name) };
  }

  async #bytesOf(runs: readonly RunSummary[]): Promise<readonly number[]> {
    const bytes: number[] = [];
    for (const { runId } of runs) bytes.push(await bytesOfRun(this.#files(runFolderName(runId))));
    return bytes;
  }

  async #runNames(): Promise<readonly string[]> {
    try {
      return (await this.#fileSystem.list(this.#folder)).filter(isRunFolderName);
    } catch (thrown) {
      if (isMissing(thrown)) return [];
      throw toStoreError(thrown, `list ${this.#folder}`);
    }
  }

  async #summary(doing: string, name: string): Promise<RunSummary | undefined> {
    const own = this.#writers.progressOf(name);
    if (own !== undefined) return own.summary;
    const run = this.#files(name);
    try {
      const state = await refreshRun(run, this.#states.get(name));
      if (state.last === undefined) this.#states.delete(name);
      else this.#states.set(name, state);
      if (state.problem !== undefined && (await isGone(run))) return undefined;
      return summaryOf(run, state);
    } catch (thrown) {
      if (isMissing(thrown) && (await isGone(run))) return undefined;
      throw toStoreError(thrown, `${doing} ${run.folder}`);
    }
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}
