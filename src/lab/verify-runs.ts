import { present } from '../core/base/json.ts';
import { canonicalJson } from '../core/base/canonical-json.ts';
import { messageOf, invalidArgument } from '../core/base/error.ts';
import { type DerivedPayload, isDerived } from '../core/records/derived-payload.ts';
import type { TrajectoryRecord } from '../core/records/trajectory-record.ts';
import type { Replay, ReplayOptions } from '../core/replay/replay.ts';

/** A difference between a recorded derived record and the replay. Plain JSON. */
export interface DerivedMismatch {
  /** The `seq` of the record that caused it, and its index among the records derived from that one. */
  readonly causeSeq: number;
  readonly ordinal: number;
  /** The recorded payload. Absent if the recording has none. */
  readonly recorded?: DerivedPayload;
  /** The replayed payload. Absent if the replay has none. */
  readonly replayed?: DerivedPayload;
}

/** The result of replaying one live run. Plain JSON. */
export interface RunVerification {
  readonly run: string;
  /**
   * The result of the check:
   * - `equal`, `different`: the run was replayed under its own configuration
   * - `gap`: records are missing, so the run is not compared
   * - `not-steered`: coxswain did not steer the run, so it has no configuration
   * - `other-configuration`: the run was recorded under another configuration
   * - `unreadable`: the store cannot read the run
   */
  readonly status: 'equal' | 'different' | 'gap' | 'not-steered' | 'other-configuration' | 'unreadable';
  readonly matched: number;
  readonly mismatched: number;
  /** The first 20 mismatches. */
  readonly mismatches: readonly DerivedMismatch[];
  /** For `other-configuration`: the recorded hash. For `unreadable`: the reason. */
  readonly detail?: string;
}

/** The configuration under which the runs were recorded. */
export type VerifyOptions = ReplayOptions;

const MAX_MISMATCHES = 20;

/**
 * Replays the runs of stores under their own configuration. It compares every derived record (patterns, advice, provider faults) with the
 * recorded one. In an interrupted run, the records derived from the last input may be missing.
 *
 * @param paths stores
 * @throws CoxswainError "invalid-argument" for a path that is not a store; also the errors of opening a store
 * Memory: the state of one run.
 */
export async function* verifyRuns(
  paths: readonly string[],
  options: VerifyOptions = {},
): AsyncGenerator<RunVerification, void, void> {
  // Loaded on demand, as in `backtest`.
  const { openStoreReader } = await import('../stores/registry/open-store.ts');
  const { listShards } = await import('./list-shards.ts');
  for (const shard of await listShards(paths)) {
    if (shard.kind === 'file') {
      throw invalidArgument(`${shard.path}: --verify needs a store`);
    }
    const store = await openStoreReader(shard.address);
    try {
      for (const run of shard.runs) yield await verifyRun(run, store.readRun(run), options);
    } finally {
      await store.close();
    }
  }
}

export async function verifyRun(
  run: string,
  records: AsyncIterable<TrajectoryRecord>,
  { steering = {}, ...recorded }: VerifyOptions,
): Promise<RunVerification> {
  const none = { run, matched: 0, mismatched: 0, mismatches: [] };
  const replays = await import('../core/replay/replay.ts');
  const { resolveSteering } = await import('../core/steering/resolve-steering.ts');
  try {
    let comparison: Comparison | undefined;
    for await (const record of records) {
      const { payload } = record;
      if (payload.kind === 'gap') return { ...none, status: 'gap' };
      if (comparison === undefined) {
        const hash = payload.kind === 'run_started' ? payload.steering?.configuration_hash : undefined;
        if (hash === undefined) return { ...none, status: 'not-steered' };
        // Runs recorded by hooks retain less history, which changes the configuration's hash.
        const ways = [steering, { ...steering, retain: 'compact' } as const];
        const recordedWay = ways.find((way) => resolveSteering(way, recorded.prompts?.[0]).configurationHash === hash);
        if (recordedWay === undefined) return { ...none, status: 'other-configuration', detail: hash };
        comparison = new Comparison(new replays.Replay({ steering: recordedWay, ...recorded }));
      }
      comparison.take(record);
    }
    return comparison === undefined ? { ...none, status: 'not-steered' } : comparison.verification(run);
  } catch (error) {
    return { ...none, status: 'unreadable', detail: messageOf(error) };
  }
}

class Comparison {
  readonly #replay: Replay;
  /** Replayed payloads that have not appeared in the recording yet, keyed by cause and ordinal. */
  readonly #expected = new Map<string, DerivedPayload>();
  readonly #mismatches: DerivedMismatch[] = [];
  #matchedCount = 0;
  #mismatchedCount = 0;
  #lastSeq = -1;

  constructor(replay: Replay) {
    this.#replay = replay;
  }

  take(record: TrajectoryRecord): void {
    const { payload } = record;
    if (isDerived(payload)) this.#comparePayload(payload);
    else {
      this.#lastSeq = record.seq;
      for (const derivedPayloads of this.#replay.take(record))
        this.#expected.set(placeOf(derivedPayloads), derivedPayloads);
    }
  }

  verification(run: string): RunVerification {
    for (const replayedPayload of this.#expected.values()) {
      const isCutOff = replayedPayload.cause_seq === this.#lastSeq;
      if (!isCutOff)
        this.#addMismatch({
          causeSeq: replayedPayload.cause_seq,
          ordinal: replayedPayload.ordinal,
          replayed: replayedPayload,
        });
    }
    return {
      run,
      status: this.#mismatchedCount === 0 ? 'equal' : 'different',
      matched: this.#matchedCount,
      mismatched: this.#mismatchedCount,
      mismatches: this.#mismatches,
    };
  }

  #comparePayload(recorded: DerivedPayload): void {
    const place = placeOf(recorded);
    const replayedPayload = this.#expected.get(place);
    this.#expected.delete(place);
    if (replayedPayload !== undefined && textOf(replayedPayload) === textOf(recorded)) {
      this.#matchedCount += 1;
      return;
    }
    const { cause_seq: causeSeq, ordinal } = recorded;
    this.#addMismatch({ causeSeq, ordinal, recorded, ...present({ replayed: replayedPayload }) });
  }

  #addMismatch(mismatch: DerivedMismatch): void {
    this.#mismatchedCount += 1;
    if (this.#mismatches.length < MAX_MISMATCHES) this.#mismatches.push(mismatch);
  }
}

function placeOf({ cause_seq: cause, ordinal }: DerivedPayload): string {
  return `${cause}.${ordinal}`;
}

/** Formats a payload as it is stored: without the fields that JSON omits. */
function textOf(payload: DerivedPayload): string {
  return canonicalJson(JSON.parse(JSON.stringify(payload)));
}
