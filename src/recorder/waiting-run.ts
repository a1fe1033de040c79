import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { MAX_BATCH_RECORDS } from '../store/trajectory-store.ts';
import { gapFor, isGap, widenGap } from './gap-record.ts';

/** About how much one append carries; a single larger record goes alone. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** A record that waits. A gap counts as nothing: it takes the place of what was counted. */
export interface Waiting {
  readonly record: TrajectoryRecord;
  readonly bytes: number;
}

/** Records and their memory. */
export interface Load {
  readonly records: number;
  readonly bytes: number;
}

/** A batch that the sink refused. */
interface Refused {
  readonly batch: readonly Waiting[];
  readonly error: unknown;
}

/** Batches of a run at the sink at once: one is being written, one is ready, and one is being encoded. */
const MAX_FLIGHTS = 3;

/** Waiting records from which a batch is worth its own append while another one is at the sink. */
const MIN_NEXT_BATCH = 64;

/**
 * - `idle`: nothing to do, or a gap that waits for the sink to be back
 * - `ready`: waits for its turn
 * - `writing`: a batch is at the sink, or several
 * - `resting`: the sink refused; it is tried again after a while
 */
export type WaitingState = 'idle' | 'ready' | 'writing' | 'resting';

/** What of one run is not stored yet, in `seq` order, and how its writing goes. */
export class WaitingRun {
  readonly runId: string;
  state: WaitingState = 'idle';
  /** True while it is in the list of those that have their turn soon. */
  isListed = false;
  durableSeq = -1;
  lastSeq = -1;
  /** Tries so far; failed ones since the last that went well, and when these began. */
  tries = 0;
  failures = 0;
  failingSinceMs: number | undefined;
  /** Takes off the timer of a resting run. */
  stopResting: (() => void) | undefined;
  /** Set when the sink holds something else under this run's id: nothing more is written. */
  isRefused = false;
  /** Holes filled since something of the run was stored. */
  holesFilled = 0;
  /** The records of the run that lie in the spill file; both ends are unsettled. */
  spilled: { readonly from: number; readonly through: number } | undefined;
  #items: Waiting[] = [];
  #head = 0;
  /** What is at the sink, oldest first. */
  #flights: (readonly Waiting[])[] = [];
  #refused: Refused[] = [];
  /** What the sink refused last and gets again. */
  #batch: readonly Waiting[] | undefined;
  #batchLimit = MAX_BATCH_RECORDS;

  constructor(runId: string) {
    this.runId = runId;
  }

  push(record: TrajectoryRecord, bytes: number): void {
    this.#items.push({ record, bytes });
  }

  /** Puts a gap in the place of a lost record, or lengthens the one that ends just before it. */
  pushGap(record: TrajectoryRecord, reason: string): void {
    const last = this.#head < this.#items.length ? this.#items.at(-1) : undefined;
    const wider = widenGap(last?.record, record);
    if (wider === undefined) this.#items.push({ record: isGap(record) ? record : gapFor(record, reason), bytes: 0 });
    else this.#items[this.#items.length - 1] = { record: wider, bytes: 0 };
  }

  get isEmpty(): boolean {
    return !this.isFlying && this.#batch === undefined && this.#head >= this.#items.length;
  }

  get isFlying(): boolean {
    return this.#flights.length > 0;
  }

  /** True when a further batch may follow those at the sink: all goes well, and enough waits. */
  get mayFollow(): boolean {
    return (
      this.isFlying &&
      this.#flights.length < MAX_FLIGHTS &&
      this.#refused.length === 0 &&
      this.failures === 0 &&
      this.holesFilled === 0 &&
      this.#batchLimit === MAX_BATCH_RECORDS &&
      this.#items.length - this.#head >= MIN_NEXT_BATCH
    );
  }

  /** The first `seq` in memory that is not stored, also of a gap; Infinity when there is none. */
  get firstWaiting(): number {
    const away = [...this.#flights, ...this.#refused.map((one) => one.batch)].map(firstSeqIn);
    return Math.min(...away, (this.#batch?.[0] ?? this.#items[this.#head])?.record.seq ?? Infinity);
  }

  /** The first `seq` in memory that is neither stored nor lost; Infinity when there is none. */
  get firstRecord(): number {
    const away = [...this.#flights, ...this.#refused.map((one) => one.batch), this.#batch ?? []];
    const first = Math.min(...away.map(firstRecordIn));
    if (first < Infinity) return first;
    for (let index = this.#head; index < this.#items.length; index += 1) {
      const record = this.#items[index]?.record;
      if (record !== undefined && !isGap(record)) return record.seq;
    }
    return Infinity;
  }

  /** The first `seq` that is neither stored nor lost, also in the spill file; Infinity when there is none. */
  get firstUnsettled(): number {
    return Math.min(this.firstRecord, this.spilled?.from ?? Infinity);
  }

  /** The next records to write: the same again after a failure, so that a repeat is known for what it is. */
  takeBatch(): readonly Waiting[] {
    const batch = this.#batch ?? this.#cutBatch();
    this.#batch = undefined;
    this.#flights.push(batch);
    return batch;
  }

  /** The batch is stored. @returns what it held, without gaps; nothing when it was given up meanwhile */
  settleBatch(batch: readonly Waiting[]): Load {
    const isHeld = this.#flights.includes(batch);
    this.#flights = this.#flights.filter((flight) => flight !== batch);
    this.#batchLimit = Math.min(MAX_BATCH_RECORDS, this.#batchLimit * 2);
    return loadOf(isHeld ? batch : []);
  }

  /** The sink refused the batch. What to do is decided when nothing is at the sink any more. */
  refuseBatch(batch: readonly Waiting[], error: unknown): void {
    if (this.#flights.includes(batch)) this.#refused.push({ batch, error });
    this.#flights = this.#flights.filter((flight) => flight !== batch);
  }

  /** The first batch that was refused, which is the next to be taken; later ones, refused in its wake, wait again. */
  takeRefused(): Refused | undefined {
    const [first, ...later] = this.#refused.toSorted((a, b) => firstSeqIn(a.batch) - firstSeqIn(b.batch));
    this.#refused = [];
    this.#items = [...later.flatMap((one) => one.batch), ...this.#items.slice(this.#head)];
    this.#head = 0;
    this.#batch = first?.batch;
    return first;
  }

  /** Halves the next batches, to find the one record in this batch that the sink refuses. */
  halveBatch(): void {
    this.#batchLimit = Math.max(1, Math.ceil((this.#batch?.length ?? 1) / 2));
    this.#items = [...(this.#batch ?? []), ...this.#items.slice(this.#head)];
    this.#head = 0;
    this.#batch = undefined;
  }

  /** Fills the hole between the sink's next `seq` and the batch. @returns false when there is none to fill */
  fillBefore(expectedSeq: number, reason: string): boolean {
    const first = this.#batch?.[0]?.record;
    if (first === undefined || expectedSeq >= first.seq) return false;
    const gap = gapFor(first, reason, { fromSeq: expectedSeq, throughSeq: first.seq - 1 });
    this.#items = [{ record: gap, bytes: 0 }, ...(this.#batch ?? []), ...this.#items.slice(this.#head)];
    this.#head = 0;
    this.#batch = undefined;
    return true;
  }

  /** Turns the batch into a gap. @returns what was lost */
  dropBatch(reason: string): Load {
    return this.#drop(reason, this.#batch ?? [], this.#items.slice(this.#head));
  }

  /** Turns everything that waits into one gap. @returns what was lost */
  dropAll(reason: string): Load {
    return this.#drop(reason, [...(this.#batch ?? []), ...this.#items.slice(this.#head)], []);
  }

  /** Forgets everything that waits or is at the sink. @returns what was lost */
  clear(): Load {
    const refused = this.#refused.flatMap((one) => one.batch);
    const load = loadOf([
      ...this.#flights.flat(),
      ...refused,
      ...(this.#batch ?? []),
      ...this.#items.slice(this.#head),
    ]);
    this.#flights = [];
    this.#refused = [];
    this.#items = [];
    this.#head = 0;
    this.#batch = undefined;
    return load;
  }

  #drop(reason: string, lost: readonly Waiting[], kept: readonly Waiting[]): Load {
    this.#batch = undefined;
    this.#items = [];
    this.#head = 0;
    for (const { record } of lost) this.pushGap(record, reason);
    for (const item of kept) {
      if (isGap(item.record)) this.pushGap(item.record, reason);
      else this.#items.push(item);
    }
    return loadOf(lost);
  }

  #cutBatch(): readonly Waiting[] {
    let count = 0;
    let bytes = 0;
    while (count < this.#batchLimit) {
      const item = this.#items[this.#head + count];
      if (item === undefined || (count > 0 && bytes + item.bytes > MAX_BATCH_BYTES)) break;
      bytes += item.bytes;
      count += 1;
    }
    const batch = this.#items.slice(this.#head, this.#head + count);
    this.#moveHead(count);
    return batch;
  }

  #moveHead(count: number): void {
    this.#head += count;
    if (this.#head < 1_024 && this.#head < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

function loadOf(items: readonly Waiting[]): Load {
  let records = 0;
  let bytes = 0;
  for (const item of items) {
    if (isGap(item.record)) continue;
    records += 1;
    bytes += item.bytes;
  }
  return { records, bytes };
}

/** True when the batch holds nothing but gaps. */
export function isGapOnly(batch: readonly Waiting[]): boolean {
  return batch.every((item) => isGap(item.record));
}

function firstSeqIn(batch: readonly Waiting[]): number {
  return batch[0]?.record.seq ?? 0;
}

function firstRecordIn(batch: readonly Waiting[]): number {
  return batch.find((item) => !isGap(item.record))?.record.seq ?? Infinity;
}
