import { canonicalJson } from '../../core/base/canonical-json.ts';
import { CoxswainError } from '../../core/base/error.ts';
import { toStoredRecord } from '../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { createFingerprint } from '../../core/redact/fingerprint.ts';
import { createRedactor, type Redactor } from '../../core/redact/redactor.ts';
import { MAX_BATCH_RECORDS, type TrajectorySink, type TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import { RunFactsFold, type RunFactsOptions } from '../../core/facts/run-facts-fold.ts';
import { pricesInForce } from './open-store.ts';

export function createRunFold(id: string, options: RunFactsOptions = {}): RunFactsFold {
  return new RunFactsFold(id, { detectors: defaultDetectors(), prices: pricesInForce(), ...options });
}

const MAX_WAITING_CHARS = 4 * 1024 * 1024;

export interface RefusedRun {
  readonly runId: string;
  readonly error: CoxswainError;
}

interface RunRecorderOptions {
  readonly isCopy?: boolean;
  /** A new record that differs from one in this target only by redacted secrets is the same record. Default: a conflict. */
  readonly stored?: Pick<TrajectoryStore, 'readRun'>;
}

/** Redacts records as in a live run. A run that the store rejects (`store-conflict`) goes to `onRefused`. */
export class RunRecorder {
  readonly #sink: TrajectorySink;
  readonly #onRefused: (refused: RefusedRun) => void;
  readonly #redactor: Redactor | undefined;
  readonly #stored: RunRecorderOptions['stored'];
  readonly #waiting = new Map<string, TrajectoryRecord[]>();
  readonly #refused = new Set<string>();
  #waitingRecords = 0;
  #waitingChars = 0;

  constructor(
    sink: TrajectorySink,
    onRefused: (refused: RefusedRun) => void,
    { isCopy = false, stored }: RunRecorderOptions = {},
  ) {
    this.#stored = stored;
    this.#redactor = isCopy ? undefined : createRedactor({}, { fingerprint: createFingerprint() });
    this.#sink = sink;
    this.#onRefused = onRefused;
  }

  async add(runId: string, raw: TrajectoryRecord): Promise<void> {
    if (this.#refused.has(runId)) return;
    const record = this.#redactor === undefined ? raw : { ...raw, payload: this.#redactor.redact(raw.payload) };
    const waiting = this.#waiting.get(runId);
    if (waiting === undefined) this.#waiting.set(runId, [record]);
    else waiting.push(record);
    this.#waitingRecords += 1;
    this.#waitingChars += charsOf(record.payload);
    if (this.#waitingRecords < MAX_BATCH_RECORDS && this.#waitingChars < MAX_WAITING_CHARS) return;
    for (const id of this.#waiting.keys()) await this.#write(id);
    this.#waitingRecords = 0;
    this.#waitingChars = 0;
  }

  async end(runId: string): Promise<void> {
    this.#waitingRecords -= this.#waiting.get(runId)?.length ?? 0;
    await this.#write(runId);
    this.#refused.delete(runId);
  }

  async #write(runId: string): Promise<void> {
    const batch = this.#waiting.get(runId);
    if (batch === undefined) return;
    this.#waiting.delete(runId);
    try {
      await this.#append(runId, batch);
    } catch (error) {
      if (!(error instanceof CoxswainError) || error.code === 'store-io' || error.code === 'store-closed') throw error;
      this.#refused.add(runId);
      this.#onRefused({ runId, error });
    }
  }

  async #append(runId: string, batch: readonly TrajectoryRecord[]): Promise<void> {
    try {
      await this.#sink.append(batch);
    } catch (error) {
      if (!(error instanceof CoxswainError) || error.code !== 'store-conflict') throw error;
      const repeated = await this.#repeatedIn(runId, batch);
      if (repeated === 0) throw error;
      if (repeated < batch.length) await this.#sink.append(batch.slice(repeated));
    }
  }

  /** Returns the number of records at the start of a batch that are already stored, ignoring differences by redacted secrets. */
  async #repeatedIn(runId: string, batch: readonly TrajectoryRecord[]): Promise<number> {
    const redactor = this.#redactor;
    if (redactor === undefined || this.#stored === undefined) return 0;
    let repeated = 0;
    for await (const record of this.#stored.readRun(runId, { fromSeq: batch[0]?.seq ?? 0, limit: batch.length })) {
      const next = batch[repeated];
      const clean = { ...record, payload: redactor.redact(record.payload) };
      if (next === undefined || textOf(next) !== textOf(clean)) break;
      repeated += 1;
    }
    return repeated;
  }
}

function textOf(record: TrajectoryRecord): string {
  return canonicalJson(toStoredRecord(record));
}

function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let chars = 2;
  for (const [key, member] of Object.entries(value)) chars += key.length + 4 + charsOf(member);
  return chars;
}
