import { allRuns } from '../../../core/store/all-runs.ts';
import { CoxswainError } from '../../../core/base/error.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { lastSeqOf } from '../../../core/facts/run-summary.ts';
import { isDamaged, damageText, toStoreError } from '../../../core/store/store-error.ts';
import type { LiveReader } from '../../../core/store/trajectory-store.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';

/** A readable record or a damaged position. */
export type Salvaged =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'damage'; readonly reason: string };

export interface RunToSave {
  readonly runId: string;
  /** Last `seq` of the run according to the store; -1 if unknown. */
  readonly lastSeq: number;
  /** False if the end of the run is unknown, so that its last records may be missing. */
  readonly isEndKnown: boolean;
  readonly items: AsyncIterable<Salvaged>;
}

/** A damaged store. */
export interface RecoverSource {
  runs(): AsyncIterable<RunToSave>;
  /** Number of problems found by `verify`. */
  readonly problems: number;
  close(): Promise<void>;
}

/**
 * Opens a damaged store for recovery. Never writes to it. Saves what the database can still read; the pages of a file that SQLite
 * cannot read are left to `sqlite3 FILE .recover`.
 *
 * @throws CoxswainError the errors of opening the store
 */
export async function openRecoverSource(address: string): Promise<RecoverSource> {
  let store: LiveReader | undefined;
  try {
    store = await openReadableStore(address);
    const runIds = new Set<string>();
    let problems = 0;
    for await (const { problem, runId } of store.verify()) {
      if (problem !== '') problems += 1;
      if (runId !== undefined) runIds.add(runId);
    }
    return sourceOf(store, problems, runIds);
  } catch (thrown) {
    await store?.close();
    const { code, message } = toStoreError(thrown, `read ${shownStore(address)}`);
    throw new CoxswainError(code, `${shownStore(address)}: nothing can be recovered: ${message}`, { cause: thrown });
  }
}

/** @param damagedRuns  runs with a problem; a run whose summary is missing is not listed */
function sourceOf(store: LiveReader, problems: number, damagedRuns: ReadonlySet<string>): RecoverSource {
  const toSave = (runId: string, lastSeq: number | undefined): RunToSave => ({
    runId,
    lastSeq: lastSeq ?? -1,
    isEndKnown: lastSeq !== undefined,
    items: readPastDamage(store, runId, lastSeq),
  });
  return {
    async *runs() {
      const unlistedRuns = new Set(damagedRuns);
      for await (const { lastSeq, problem, runId } of allRuns(store)) {
        unlistedRuns.delete(runId);
        yield toSave(runId, problem === undefined ? lastSeq : undefined);
      }
      for (const runId of unlistedRuns) yield toSave(runId, undefined);
    },
    problems,
    close: () => store.close(),
  };
}

/** Attempts after the last readable record of a run whose end is unknown. */
const MAX_MISSES = 500;

async function* readPastDamage(
  store: LiveReader,
  runId: string,
  lastSeq: number | undefined,
): AsyncGenerator<Salvaged, void, void> {
  let misses: Salvaged[] = [];
  for (let fromSeq = 0; lastSeq === undefined ? misses.length < MAX_MISSES : fromSeq <= lastSeq;) {
    try {
      for await (const record of store.readRun(runId, { fromSeq })) {
        yield* misses;
        misses = [];
        yield { type: 'record', record };
        fromSeq = lastSeqOf(record) + 1;
      }
      break;
    } catch (thrown) {
      if (!(thrown instanceof CoxswainError) || (!isDamaged(thrown) && thrown.code !== 'invalid-record')) throw thrown;
      const seq = thrown.details['seq'];
      misses.push({ type: 'damage', reason: damageText(thrown) });
      fromSeq = Math.max(fromSeq, typeof seq === 'number' ? seq : fromSeq) + 1;
    }
  }
  // Without a summary every position after the last record is a miss.
  yield* lastSeq === undefined ? misses.slice(0, 1) : misses;
}
