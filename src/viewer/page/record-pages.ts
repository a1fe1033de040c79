import type { Problem, RecordsAnswer } from '../server/api-shapes.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';

/** As many as the server returns at a time. */
export const PAGE_RECORDS = 500;
export const MAX_PAGES = 12;
/** Requests at a time. The pages that are wanted then follow, not those that were wanted before. */
const MAX_REQUESTS = 3;
/** Pages that are fetched ahead: those of the next steps at the same speed. */
const MIN_AHEAD = 2;
const MAX_AHEAD = 6;
const STEPS_AHEAD = 4;

export type LoadRecords = (query: { readonly from: number; readonly limit: number }) => Promise<RecordsAnswer>;

/** Records by `seq`. */
type Page = Map<number, TrajectoryRecord>;

/** Pages of records around the view. The least recently used pages are dropped. */
export class RecordPages {
  readonly #load: LoadRecords;
  readonly #onFault: (error: unknown) => void;
  readonly #pages = new Map<number, Page>();
  readonly #requests = new Map<number, Promise<void>>();
  /** The pages that are seen, and those around them. They are not dropped. */
  #wanted: ReadonlySet<number> = new Set();
  #seenSeq = 0;
  /** Records that arrived while their page was being fetched. */
  readonly #recordsDuringRequest = new Map<number, TrajectoryRecord[]>();
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #damage: { readonly seq: number; readonly problem: Problem } | undefined;
  #lastSeq: number;

  /** @param onFault  called for each failed request; requesting the page again retries */
  constructor(lastSeq: number, load: LoadRecords, onFault: (error: unknown) => void) {
    this.#lastSeq = lastSeq;
    this.#load = load;
    this.#onFault = onFault;
  }

  readonly version = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get size(): number {
    return this.#pages.size;
  }

  at(seq: number): TrajectoryRecord | undefined {
    return this.#pages.get(pageOf(seq))?.get(seq);
  }

  /** The first damaged record that was found. The records after it are not loaded. */
  get damage(): { readonly seq: number; readonly problem: Problem } | undefined {
    return this.#damage;
  }

  /** Loads the pages of the records that are seen, then those ahead of the way that is scrolled and the one behind. */
  want(seqs: readonly number[]): void {
    const [seq] = seqs;
    if (seq === undefined) return;
    const seen = [...new Set(seqs.map(pageOf))];
    const [first, last] = [Math.min(...seen), Math.max(...seen)];
    const moved = seq - this.#seenSeq;
    this.#seenSeq = seq;
    const speed = Math.ceil(Math.abs(moved) / PAGE_RECORDS);
    const ahead = speed > MAX_AHEAD ? MIN_AHEAD : Math.min(MAX_AHEAD, Math.max(MIN_AHEAD, speed * STEPS_AHEAD));
    const after = Array.from({ length: moved < 0 ? 1 : ahead }, (_, at) => last + 1 + at);
    const before = Array.from({ length: moved < 0 ? ahead : 1 }, (_, at) => first - 1 - at);
    const around = moved < 0 ? [...before, ...after] : [...after, ...before];
    this.#wanted = new Set([...seen, ...around].filter((page) => page >= 0 && page <= pageOf(this.#lastSeq)));
    this.#fetchWanted();
  }

  ensure(seq: number): Promise<void> {
    return seq < 0 || seq > this.#lastSeq ? Promise.resolve() : this.#ensurePage(pageOf(seq));
  }

  /** Adds a new record. Records must arrive in order. */
  add(record: TrajectoryRecord): void {
    const { seq, payload } = record;
    const previousLastSeq = this.#lastSeq;
    if (seq <= previousLastSeq) return;
    this.#lastSeq = payload.kind === 'gap' ? Math.max(seq, payload.through_seq) : seq;
    const page = this.#pages.get(pageOf(seq));
    this.#recordsDuringRequest.get(pageOf(seq))?.push(record);
    if (page !== undefined) page.set(seq, record);
    // A page that begins with this record has no missing records as it grows.
    else if (seq % PAGE_RECORDS === 0 && seq === previousLastSeq + 1)
      this.#store(pageOf(seq), new Map([[seq, record]]));
    this.#notify();
  }

  replace(record: TrajectoryRecord): void {
    const page = this.#pages.get(pageOf(record.seq));
    if (page === undefined) return;
    page.set(record.seq, record);
    this.#notify();
  }

  #fetchWanted(): void {
    for (const page of this.#wanted) {
      if (this.#requests.size >= MAX_REQUESTS) return;
      // `onFault` has already received the error.
      if (!this.#pages.has(page))
        this.#ensurePage(page).then(
          () => this.#fetchWanted(),
          () => {},
        );
    }
  }

  #ensurePage(number: number): Promise<void> {
    const loadedPage = this.#pages.get(number);
    if (loadedPage !== undefined) {
      // A Map keeps the insertion order, so this moves a recently used page to the end.
      this.#pages.delete(number);
      this.#pages.set(number, loadedPage);
      return Promise.resolve();
    }
    const pending = this.#requests.get(number);
    if (pending !== undefined) return pending;
    const request = this.#fetchPage(number).finally(() => {
      this.#requests.delete(number);
      this.#recordsDuringRequest.delete(number);
    });
    this.#requests.set(number, request);
    this.#recordsDuringRequest.set(number, []);
    return request;
  }

  async #fetchPage(number: number): Promise<void> {
    const fromSeq = number * PAGE_RECORDS;
    try {
      const page: Page = new Map();
      let nextSeq: number | undefined = fromSeq;
      // A page with large records needs several requests.
      while (nextSeq !== undefined && nextSeq < fromSeq + PAGE_RECORDS) {
        const answer: RecordsAnswer = await this.#load({ from: nextSeq, limit: fromSeq + PAGE_RECORDS - nextSeq });
        for (const record of answer.records) if (pageOf(record.seq) === number) page.set(record.seq, record);
        this.#lastSeq = Math.max(this.#lastSeq, answer.lastSeq);
        if (answer.problem !== undefined) this.#damage ??= { seq: answer.nextSeq, problem: answer.problem };
        if (answer.records.length === 0 || answer.nextSeq <= nextSeq || answer.nextSeq > answer.lastSeq) break;
        nextSeq = answer.nextSeq;
      }
      for (const record of this.#recordsDuringRequest.get(number) ?? []) page.set(record.seq, record);
      this.#store(number, page);
      this.#notify();
    } catch (error) {
      this.#onFault(error);
      throw error;
    }
  }

  #store(number: number, page: Page): void {
    this.#pages.set(number, page);
    const dropped = [...this.#pages.keys()].filter((one) => !this.#wanted.has(one) && one !== number);
    for (const oldest of dropped.slice(0, Math.max(0, this.#pages.size - MAX_PAGES))) this.#pages.delete(oldest);
  }

  #notify(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

function pageOf(seq: number): number {
  return Math.floor(seq / PAGE_RECORDS);
}
