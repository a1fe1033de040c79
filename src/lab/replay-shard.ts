import { present } from '../core/base/present.ts';
import { assertNever } from '../core/base/assert-never.ts';
import { CoxswainError, messageOf } from '../core/base/error.ts';
import { importGroups } from '../formats/import-source.ts';
import { readRunGroups, type ReadRun, type ReadRunsItem } from '../formats/read-runs.ts';
import type { Configuration } from './configuration.ts';
import { openStoreReader } from '../stores/registry/open-store.ts';
import { shownSource, type Shard } from './list-shards.ts';
import { replaysOf, type OpenReplay } from './sweep-replay.ts';
import { withoutPath } from './run-items.ts';
import { FiringKeys, type RunRow, type ShardProblem, type ShardResult } from './run-row.ts';

/** Maximum number of open runs per file. */
const MAX_OPEN = 1000;
/** Maximum number of problems kept per shard. Further problems are only counted. */
const MAX_PROBLEMS = 20;

/**
 * Replays every run of a shard. Read errors become problems in the result, and reading continues.
 *
 * Memory: the importers' buffers, the state of at most 1,000 open runs (in a sweep also their records), and a row per run.
 */
export async function replayShard(shard: Shard, configurations: readonly Configuration[]): Promise<ShardResult> {
  const replay = new ShardReplay(shard, configurations);
  try {
    if (shard.kind === 'store') await replay.store(shard);
    else await replay.file(shard.path);
  } catch (error) {
    const code = error instanceof CoxswainError ? error.code : undefined;
    // A file in a folder that is not a trajectory is not a problem.
    if (code !== 'format-unknown' || shard.kind === 'store' || shard.named) replay.failure(error);
  }
  return replay.result();
}

class ShardReplay {
  readonly #path: string;
  readonly #replayOf: (id: string) => OpenReplay;
  readonly #keys = new FiringKeys();
  readonly #rows: RunRow[] = [];
  readonly #problems: ShardProblem[] = [];
  readonly #open = new Map<ReadRun, OpenReplay>();
  readonly #shortenedRuns = new Set<ReadRun>();
  #problemsLeft = 0;
  #last: ReadRun | undefined;
  #lastReplay: OpenReplay | undefined;

  constructor(shard: Shard, configurations: readonly Configuration[]) {
    this.#path = shownSource(shard);
    this.#replayOf = replaysOf(configurations, this.#keys);
  }

  async store({ address, runs }: Extract<Shard, { readonly kind: 'store' }>): Promise<void> {
    const store = await openStoreReader(address);
    try {
      for (const id of runs) {
        const replay = this.#replayOf(id);
        try {
          for await (const record of store.readRun(id)) replay.fold(record);
        } catch (error) {
          this.failure(error, id);
        }
        this.#rows.push(replay.row());
      }
    } finally {
      await store.close();
    }
  }

  async file(path: string): Promise<void> {
    for await (const items of readRunGroups(importGroups(path), { source: path })) {
      this.#takeAll(items);
    }
  }

  // This is a separate function because V8 would deoptimise the loop at every await.
  #takeAll(items: Iterable<ReadRunsItem>): void {
    for (const item of items) this.#takeItem(item);
  }

  #takeItem(item: ReadRunsItem): void {
    switch (item.type) {
      case 'record':
        (item.run === this.#last ? this.#lastReplay : this.#turnTo(item.run))?.fold(item.record);
        return;
      case 'end':
        this.#endRun(item.run);
        return;
      case 'diagnostic': {
        const { severity, message, line } = item.diagnostic;
        if (severity === 'error') this.#addProblem({ message, ...present({ line }) });
        return;
      }
      default:
        assertNever(item);
    }
  }

  failure(error: unknown, run?: string): void {
    const { details = {} } = error instanceof CoxswainError ? error : {};
    const line = details['line'];
    const message = withoutPath(messageOf(error), this.#path);
    this.#addProblem({
      message: run === undefined ? message : `run ${run}: ${message}`,
      ...(typeof line === 'number' ? { line } : {}),
    });
  }

  result(): ShardResult {
    const hiddenProblems = this.#problemsLeft;
    const remainder = hiddenProblems === 0 ? [] : [{ path: this.#path, message: `and ${hiddenProblems} more` }];
    return { keys: this.#keys.keys, rows: this.#rows, problems: [...this.#problems, ...remainder] };
  }

  /** Marks this run as the most recently used, and makes room if the run is new. */
  #turnTo(run: ReadRun): OpenReplay | undefined {
    this.#last = run;
    let replay = this.#open.get(run);
    if (replay !== undefined) {
      this.#open.delete(run);
      this.#open.set(run, replay);
    } else if (!this.#shortenedRuns.has(run)) {
      replay = this.#replayOf(run.id);
      this.#open.set(run, replay);
      this.#makeRoom();
    }
    this.#lastReplay = replay;
    return replay;
  }

  #makeRoom(): void {
    if (this.#open.size <= MAX_OPEN) return;
    const oldest = this.#open.keys().next();
    if (oldest.done === true) return;
    const run = oldest.value;
    this.#endRun(run);
    this.#shortenedRuns.add(run);
    this.#addProblem({ message: `run ${run.id} was left open for ${MAX_OPEN} other runs; the rest of it is not read` });
  }

  #endRun(run: ReadRun): void {
    if (this.#last === run) this.#last = undefined;
    const replay = this.#open.get(run);
    if (replay === undefined) return;
    this.#open.delete(run);
    this.#rows.push(replay.row());
  }

  #addProblem(problem: Omit<ShardProblem, 'path'>): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ path: this.#path, ...problem });
    else this.#problemsLeft += 1;
  }
}
