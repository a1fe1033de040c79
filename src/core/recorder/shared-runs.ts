import { CoxswainError } from '../base/error.ts';
import { LruMap } from '../base/lru-map.ts';
import { roleOf } from '../records/kind-definition.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { adviceIdElsewhere } from '../steering/advice/advice.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import type { TrajectorySink, TrajectoryStore } from '../store/trajectory-store.ts';

const MAX_MOVED_RUNS = 10_000;

/** Maximum number of consecutive conflicts for one batch. */
const MAX_MOVES = 50;

/** A shift of records. From `fromSeq` on, the `seq` of a record in the store is its own `seq` plus `by`. */
interface Move {
  readonly fromSeq: number;
  readonly offset: number;
}

interface SharedRun {
  moves: readonly Move[];
  pendingBatches: number;
  lastAppend: Promise<unknown>;
}

/**
 * If another process has stored records meanwhile, this process's records move after them, with their references
 * (`cause_seq`, `advice_id`). None is lost, and `seq` has no gaps. A process reads only what was stored when it opened
 * the run, and its own records.
 */
export class SharedRuns implements TrajectorySink {
  readonly #store: TrajectoryStore;
  readonly #runs = new LruMap<SharedRun>(MAX_MOVED_RUNS);
  readonly #refused = new LruMap<CoxswainError>(MAX_MOVED_RUNS);
  /** Runs that this process began only because they were not stored, with the trigger of opening them. */
  readonly #joining = new LruMap<string>(MAX_MOVED_RUNS);

  constructor(store: TrajectoryStore) {
    this.#store = store;
  }

  refusal(runId: string): CoxswainError | undefined {
    return this.#refused.get(runId);
  }

  reopen(runId: string): void {
    this.#runs.delete(runId);
    this.#refused.delete(runId);
  }

  /** If another process begins the run first, its start counts, and this process's start becomes a `run_resumed`. */
  mayJoin(runId: string, trigger: string): void {
    this.#joining.set(runId, trigger);
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    const [first] = batch;
    // The store reports the fault of such a batch.
    if (first?.run_id === undefined) return await this.#store.append(batch);
    try {
      await this.#store.append(this.#moveBatch(batch, first.run_id));
    } catch (error) {
      if (!this.#isConflict(error, first.run_id)) throw error;
      await this.#appendInTurn(batch, first.run_id);
    }
    return batch.reduce((last, record) => Math.max(last, lastSeqOf(record)), first.seq);
  }

  async flush(): Promise<void> {
    await this.#store.flush();
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  #moveBatch(batch: readonly TrajectoryRecord[], runId: string): readonly TrajectoryRecord[] {
    const moves = this.#runs.get(runId)?.moves ?? [];
    return moves.length === 0 ? batch : batch.map((record) => moveRecord(record, moves));
  }

  #isConflict(error: unknown, runId: string): boolean {
    if (!(error instanceof CoxswainError)) return false;
    return (
      error.code === 'store-conflict' ||
      (error.code === 'store-gap' && (this.#runs.get(runId)?.pendingBatches ?? 0) > 0)
    );
  }

  async #appendInTurn(batch: readonly TrajectoryRecord[], runId: string): Promise<void> {
    const run: SharedRun = this.#runs.get(runId) ?? { moves: [], pendingBatches: 0, lastAppend: Promise.resolve() };
    this.#runs.set(runId, run);
    run.pendingBatches += 1;
    const append = run.lastAppend.then(async () => await this.#append(batch, run, runId));
    run.lastAppend = append.catch(() => undefined);
    try {
      await append;
    } finally {
      run.pendingBatches -= 1;
    }
  }

  async #append(ownBatch: readonly TrajectoryRecord[], run: SharedRun, runId: string): Promise<void> {
    const firstSeq = ownBatch[0]?.seq ?? 0;
    let batch = ownBatch;
    for (let attempts = 0; ; attempts += 1) {
      try {
        await this.#store.append(this.#moveBatch(batch, runId));
        return;
      } catch (error) {
        if (!(error instanceof CoxswainError) || error.code !== 'store-conflict' || attempts >= MAX_MOVES) throw error;
        if (firstSeq === 0) {
          const trigger = this.#joining.get(runId);
          if (trigger === undefined) throw this.#refuseExisting(runId, error);
          batch = ownBatch.map((record) => joinedStart(record, trigger));
        }
      }
      const nextSeq = await this.#store.transact(runId, (view) => ({ records: [], result: view.nextSeq }));
      const earlierMoves = run.moves.filter(({ fromSeq }) => fromSeq < firstSeq);
      run.moves = [...earlierMoves, { fromSeq: firstSeq, offset: nextSeq - firstSeq }];
    }
  }

  #refuseExisting(runId: string, cause: CoxswainError): CoxswainError {
    const error = runExists(runId, { cause });
    this.#refused.set(runId, error);
    return error;
  }
}

export function runExists(runId: string, options: { readonly cause?: unknown } = {}): CoxswainError {
  const message = `there is a run ${JSON.stringify(runId)} already: continue it with openRun, or start one under another id`;
  return new CoxswainError('run-exists', message, { details: { runId }, ...options });
}

function joinedStart(record: TrajectoryRecord, trigger: string): TrajectoryRecord {
  return record.payload.kind === 'run_started' ? { ...record, payload: { kind: 'run_resumed', trigger } } : record;
}

function moveRecord(record: TrajectoryRecord, moves: readonly Move[]): TrajectoryRecord {
  if (moves.length === 0) return record;
  return { ...record, seq: movedSeq(record.seq, moves), payload: moveReferences(record.payload, moves) };
}

function movedSeq(seq: number, moves: readonly Move[]): number {
  return seq + (moves.findLast(({ fromSeq }) => seq >= fromSeq)?.offset ?? 0);
}

function moveReferences(payload: TrajectoryPayload, moves: readonly Move[]): TrajectoryPayload {
  if (payload.kind === 'gap') return { ...payload, through_seq: movedSeq(payload.through_seq, moves) };
  const hasCauseSeq = roleOf(payload) === 'derived' && 'cause_seq' in payload;
  const hasAdviceId = 'advice_id' in payload && payload.advice_id !== undefined;
  return {
    ...payload,
    ...(hasCauseSeq ? { cause_seq: movedSeq(payload.cause_seq, moves) } : {}),
    ...(hasAdviceId ? { advice_id: adviceIdElsewhere(payload.advice_id, (seq) => movedSeq(seq, moves)) } : {}),
  };
}
