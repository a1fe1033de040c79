import { basename, join, resolve } from 'node:path';

import { isRunId } from '../check-batch.ts';
import { isMissing, nodeFileSystem } from '../file-system.ts';
import { isGone } from './jsonl-delete-run.ts';
import { refreshRun, summaryOf, type RunState } from './jsonl-run-state.ts';
import { jsonlStore } from './jsonl-store.ts';
import { isRunFolderName, runFolderName } from './run-folder-name.ts';
import type { RunSummary } from '../run-summary.ts';
import type { StoreReader } from '../trajectory-store.ts';
import { toStoreError } from '../store-error.ts';

/** A reader that lists at once, and tells what was written since it last looked. */
export interface JsonlReader extends StoreReader {
  /** Every run once, in no order. Cost: as the first look at each run; runs that are known are asked for twice each. */
  listAll(): AsyncIterable<RunSummary>;
  /**
   * Ids of the runs that were written to, appeared or are gone since the last call; undefined at the first. A run that nobody wrote to
   * for long may be told late: each call looks at the 64 that were written last, and at 500 of the others in turn.
   *
   * @throws CoxswainError `store-io`
   */
  changes(): Promise<readonly string[] | undefined>;
}

/** Runs that each call of `changes` looks at: those written last, and of the rest so many in turn. */
const RECENT_RUNS = 64;
const RUNS_IN_TURN = 500;
/** Runs that are looked at side by side: the file system answers several at once. */
const SIDE_BY_SIDE = 16;

interface KnownRun {
  readonly state: RunState;
  readonly summary: RunSummary | undefined;
}

/**
 * Opens a folder of `jsonlStore` for reading only, for somebody who looks at it again and again. Memory: as its listing.
 */
export function openJsonlReader(folder: string): JsonlReader {
  return new Reader(resolve(folder));
}

class Reader implements JsonlReader {
  readonly #folder: string;
  readonly #store: StoreReader;
  readonly #known = new Map<string, KnownRun>();
  #hasListed = false;
  #turn = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#store = jsonlStore(folder);
  }

  get listRuns(): StoreReader['listRuns'] {
    return (query) => this.#store.listRuns(query);
  }

  get readRun(): StoreReader['readRun'] {
    return (runId, query) => this.#store.readRun(runId, query);
  }

  get search(): StoreReader['search'] {
    return (query) => this.#store.search(query);
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    return isRunId(runId) ? (await this.#look(runFolderName(runId))).summary : undefined;
  }

  async *listAll(): AsyncGenerator<RunSummary, void, void> {
    const names = await this.#names();
    for (let from = 0; from < names.length; from += SIDE_BY_SIDE) {
      const looks = names.slice(from, from + SIDE_BY_SIDE).map((name) => this.#look(name));
      for (const { summary } of await Promise.all(looks)) if (summary !== undefined) yield summary;
    }
    this.#hasListed = true;
  }

  async changes(): Promise<readonly string[] | undefined> {
    if (!this.#hasListed) return undefined;
    const names = await this.#names();
    const there = new Set(names);
    const changed: string[] = [];
    for (const [name, { summary }] of this.#known) {
      if (there.has(name)) continue;
      this.#known.delete(name);
      if (summary !== undefined) changed.push(summary.runId);
    }
    const wanted = this.#wanted(names);
    for (let from = 0; from < wanted.length; from += SIDE_BY_SIDE) {
      const looks = wanted.slice(from, from + SIDE_BY_SIDE).map(async (name) => {
        const before = this.#known.get(name);
        const now = await this.#look(name);
        return now.state === before?.state ? undefined : (now.summary ?? before?.summary)?.runId;
      });
      for (const runId of await Promise.all(looks)) if (runId !== undefined) changed.push(runId);
    }
    return changed;
  }

  close(): Promise<void> {
    this.#known.clear();
    return this.#store.close();
  }

  /** New runs, those that were written last, and some of the others. */
  #wanted(names: readonly string[]): readonly string[] {
    const isNew = (name: string): boolean => this.#known.get(name)?.state.last === undefined;
    const modified = (name: string): number => this.#known.get(name)?.state.last?.facts.modifiedMs ?? 0;
    const recent = names.toSorted((a, b) => modified(b) - modified(a)).slice(0, RECENT_RUNS);
    const start = names.length === 0 ? 0 : this.#turn % names.length;
    this.#turn = start + RUNS_IN_TURN;
    const inTurn = names.slice(start, start + RUNS_IN_TURN);
    return [...new Set([...names.filter(isNew), ...recent, ...inTurn])];
  }

  async #look(name: string): Promise<KnownRun> {
    const run = { fileSystem: nodeFileSystem, folder: join(this.#folder, basename(name)) };
    const known = this.#known.get(name);
    try {
      const state = await refreshRun(run, known?.state);
      if (state === known?.state) return known;
      const isThere = state.problem === undefined || !(await isGone(run));
      const now = { state, summary: isThere ? summaryOf(run, state) : undefined };
      this.#known.set(name, now);
      return now;
    } catch (thrown) {
      if (!isMissing(thrown) || !(await isGone(run))) throw toStoreError(thrown, `look at ${run.folder}`);
      this.#known.delete(name);
      return { state: {}, summary: undefined };
    }
  }

  async #names(): Promise<readonly string[]> {
    try {
      return (await nodeFileSystem.list(this.#folder)).filter(isRunFolderName);
    } catch (thrown) {
      throw toStoreError(thrown, `list ${this.#folder}`);
    }
  }
}
