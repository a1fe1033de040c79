import { join } from 'node:path';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../store/run-summary.ts';
import { gapFor, isGap } from './gap-record.ts';
import { SpillFile, type SpillHealth } from './spill-file.ts';

let cachedToken: string | undefined;
let fileCount = 0;

/**
 * Returns a random part of this process's file names, because an earlier process may have had the same id. It is created on
 * demand, because cryptography is slow to load.
 */
function processToken(): string {
  cachedToken ??= globalThis.crypto.randomUUID().slice(0, 8);
  return cachedToken;
}

export interface SpillOptions {
  /** Default: the system's folder for temporary files. */
  readonly folder: string | undefined;
  readonly maxBytes: number;
  /** Called with the number of records lost because the file could not be written. */
  readonly onLost: (records: number, error: unknown) => void;
}

/** Records read back from the file. */
export interface SpillBatch {
  readonly records: readonly TrajectoryRecord[];
  readonly lost: number;
  readonly isLast: boolean;
}

/**
 * The overflow file of a queue. Once a record does not fit into the queue, every record goes through the file until all
 * spilled records are back in the queue. This keeps the order. A record that does not fit into the file becomes part of its
 * run's gap.
 */
export class Spill {
  readonly #options: SpillOptions;
  readonly #gaps = new Map<string, TrajectoryRecord>();
  #file: SpillFile | undefined;
  #removing: Promise<void> | undefined;

  constructor(options: SpillOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.#file !== undefined;
  }

  health(): SpillHealth | undefined {
    return this.#file?.health();
  }

  /** Accepts a record, or adds it to its run's gap. @returns true if the record was accepted */
  offer(record: TrajectoryRecord): boolean {
    const runId = record.run_id ?? '';
    this.#file ??= this.#createFile();
    const gap = this.#gaps.get(runId);
    if (gap !== undefined && this.#file.offer(gap)) this.#gaps.delete(runId);
    if (!this.#gaps.has(runId) && this.#file.offer(record)) return true;
    this.#addToGap(record, 'queue and spill file full');
    return false;
  }

  /**
   * Removes about a megabyte of the oldest records from the file and passes them to `take`. After the last part, no record
   * is spilled any more, so `take` must queue the records synchronously.
   *
   * @param receive  its argument `lost` is the number of unreadable records
   */
  async takeBatch(receive: (batch: SpillBatch) => void): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    const { records, lost } = await file.read();
    if (!file.isEmpty) {
      receive({ records, lost, isLast: false });
      return;
    }
    this.#file = undefined;
    const gaps = [...this.#gaps.values()];
    this.#gaps.clear();
    receive({ records: [...records, ...gaps], lost, isLast: true });
    await this.#remove(file);
  }

  /** Closes the file. It is kept while it contains records. */
  async close(): Promise<void> {
    const file = this.#file;
    if (file?.isEmpty === true) await this.#remove(file);
    else await file?.close();
    await this.#removing;
  }

  #remove(file: SpillFile): Promise<void> {
    this.#removing = file.remove().catch((error: unknown) => {
      // The next start finds the file. Storing its records a second time has no effect.
      this.#options.onLost(0, error);
    });
    return this.#removing;
  }

  #createFile(): SpillFile {
    const name = `coxswain-spill-${process.pid}-${processToken()}-${(fileCount += 1)}.jsonl`;
    return new SpillFile(join(this.#options.folder ?? process.getBuiltinModule('node:os').tmpdir(), name), {
      maxBytes: this.#options.maxBytes,
      onLost: (lost, error) => {
        for (const record of lost) this.#addToGap(record, 'the spill file could not be written');
        this.#options.onLost(lost.filter((record) => !isGap(record)).length, error);
      },
    });
  }

  /** Everything between two lost records of a run was lost too, because an accepted record would have ended the gap. */
  #addToGap(record: TrajectoryRecord, reason: string): void {
    const runId = record.run_id ?? '';
    const gap = this.#gaps.get(runId);
    const fromSeq = Math.min(gap?.seq ?? Infinity, record.seq);
    const throughSeq = Math.max(gap === undefined ? -1 : lastSeqOf(gap), lastSeqOf(record));
    this.#gaps.set(runId, gapFor(gap ?? record, reason, { fromSeq, throughSeq }));
  }
}

/** Returns the process id in the name of another process's spill file, and undefined for any other file. */
export function spillOwnerPid(name: string): number | undefined {
  const [, pid, token] = /^coxswain-spill-(\d+)-([0-9a-f]{8})-\d+[.]jsonl$/.exec(name) ?? [];
  return pid === undefined || token === processToken() ? undefined : Number(pid);
}
