import { CoxswainError } from '../base/error.ts';
import { LruMap } from '../base/lru-map.ts';
import { roleOf } from '../records/kind-definition.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { adviceIdElsewhere } from '../steering/advice/advice.ts';
import { lastSeqOf } from '../store/run-summary.ts';
import type { TrajectorySink, TrajectoryStore } from '../store/trajectory-store.ts';

/** Number of runs whose moves are remembered. Each takes a few bytes. */
const MAX_MOVED_RUNS = 10_000;

/** Maximum number of consecutive conflicts for one batch. */
const MAX_MOVES = 50;

/** A shift of records. From `fromSeq` on, the `seq` of a record in the store is its own `seq` plus `by`. */
interface Move {
  readonly fromSeq: number;
  readonly by: number;
}

/** The state of a run that another process writes too. */
interface SharedRun {
  moves: readonly Move[];
  /** Number of batches waiting to be moved, and the promise of the last one. */
  waiting: number;
  last: Promise<unknown>;
}

/**
 * Lets several processes write the same run. If another process has stored records meanwhile, this process's records are
 * moved after them. Their references (`cause_seq`, `advice_id`) are adjusted. No record is lost, and `seq` has no gaps. A
 * process reads only the records that were stored when it opened the run, and its own.
 */
export class SharedRuns implements TrajectorySink {
  readonly #store: TrajectoryStore;
  readonly #runs = new LruMap<SharedRun>(MAX_MOVED_RUNS);
  readonly #refused = new LruMap<CoxswainError>(MAX_MOVED_RUNS);

  constructor(store: TrajectoryStore) {
    this.#store = store;
  }

  /** Returns the error of a run that already existed in the store, and undefined for any other run. */
  refusal(runId: string): CoxswainError | undefined {
    return this.#refused.get(runId);
  }

  /** Forgets the moves of a run that continues with the store's `seq`. */
  reopen(runId: string): void {
    this.#runs.delete(runId);
    this.#refused.delete(runId);
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    const [first] = batch;
    // The store reports the fault of such a batch.
    if (first?.run_id === undefined) return await this.#store.append(batch);
    try {
      await this.#store.append(this.#moved(batch, first.run_id));
    } catch (error) {
      if (!this.#isConflict(error, first.run_id)) throw error;
      await this.#inTurn(batch, first.run_id);
    }
    return batch.reduce((last, record) => Math.max(last, lastSeqOf(record)), first.seq);
  }

  async flush(): Promise<void> {
    await this.#store.flush();
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  #moved(batch: readonly TrajectoryRecord[], runId: string): readonly TrajectoryRecord[] {
    const moves = this.#runs.get(runId)?.moves ?? [];
    return moves.length === 0 ? batch : batch.map((record) => moved(record, moves));
  }

  /** Returns true if other records are stored there, or if the preceding records are being moved. */
  #isConflict(error: unknown, runId: string): boolean {
    if (!(error instanceof CoxswainError)) return false;
    return error.code === 'store-conflict' || (error.code === 'store-gap' && (this.#runs.get(runId)?.waiting ?? 0) > 0);
  }

  async #inTurn(batch: readonly TrajectoryRecord[], runId: string): Promise<void> {
    const run: SharedRun = this.#runs.get(runId) ?? { moves: [], waiting: 0, last: Promise.resolve() };
    this.#runs.set(runId, run);
    run.waiting += 1;
    const append = run.last.then(async () => await this.#append(batch, run, runId));
    run.last = append.catch(() => undefined);
    try {
      await append;
    } finally {
      run.waiting -= 1;
    }
  }

  async #append(batch: readonly TrajectoryRecord[], run: SharedRun, runId: string): Promise<void> {
    const firstSeq = batch[0]?.seq ?? 0;
    for (let moves = 0; ; moves += 1) {
      try {
        await this.#store.append(this.#moved(batch, runId));
        return;
      } catch (error) {
        if (!(error instanceof CoxswainError) || error.code !== 'store-conflict' || moves >= MAX_MOVES) throw error;
        if (firstSeq === 0) throw this.#exists(runId, error);
      }
      const nextSeq = await this.#store.transact(runId, (view) => ({ records: [], result: view.nextSeq }));
      const before = run.moves.filter(({ fromSeq }) => fromSeq < firstSeq);
      run.moves = [...before, { fromSeq: firstSeq, by: nextSeq - firstSeq }];
    }
  }

  #exists(runId: string, cause: CoxswainError): CoxswainError {
    const error = runExists(runId, { cause });
    this.#refused.set(runId, error);
    return error;
  }
}

/** The error of a run that is started under the id of an existing one. */
export function runExists(runId: string, options: { readonly cause?: unknown } = {}): CoxswainError {
  const message = `there is a run ${JSON.stringify(runId)} already: continue it with openRun, or start one under another id`;
  return new CoxswainError('run-exists', message, { details: { runId }, ...options });
}

function moved(record: TrajectoryRecord, moves: readonly Move[]): TrajectoryRecord {
  if (moves.length === 0) return record;
  return { ...record, seq: placeOf(record.seq, moves), payload: withPlaces(record.payload, moves) };
}

function placeOf(seq: number, moves: readonly Move[]): number {
  return seq + (moves.findLast(({ fromSeq }) => seq >= fromSeq)?.by ?? 0);
}

function withPlaces(payload: TrajectoryPayload, moves: readonly Move[]): TrajectoryPayload {
  if (payload.kind === 'gap') return { ...payload, through_seq: placeOf(payload.through_seq, moves) };
  const caused = roleOf(payload) === 'derived' && 'cause_seq' in payload;
  const named = 'advice_id' in payload && payload.advice_id !== undefined;
  return {
    ...payload,
    ...(caused ? { cause_seq: placeOf(payload.cause_seq, moves) } : {}),
    ...(named ? { advice_id: adviceIdElsewhere(payload.advice_id, (seq) => placeOf(seq, moves)) } : {}),
  };
}
