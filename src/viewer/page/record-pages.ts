import type { RecordsAnswer } from '../server/api-shapes.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';

/** `seq`s of one page: a request each. */
export const PAGE_RECORDS = 200;
/** Pages held at most: what lies around the reader, and no more of a run than that. */
export const MAX_PAGES = 12;

/** Fetches the records of a run from `from` on. */
export type LoadRecords = (query: { readonly from: number; readonly limit: number }) => Promise<RecordsAnswer>;

interface Page {
  readonly records: Map<number, TrajectoryRecord>;
  /** By call: where it began and where it came back, as far as this page holds it. */
  readonly starts: Map<string, number>;
  readonly ends: Map<string, number>;
}

/**
 * The part of a run that is at hand: pages of `PAGE_RECORDS` around where the reader is, the ones looked at longest ago let go.
 *
 * Cost: at most `MAX_PAGES` pages of memory, whatever the length of the run.
 */
export class RecordPages {
  readonly #load: LoadRecords;
  readonly #onFault: (error: unknown) => void;
  readonly #pages = new Map<number, Page>();
  readonly #underWay = new Map<number, Promise<void>>();
  /** Records that were written while their page was fetched. */
  readonly #late = new Map<number, TrajectoryRecord[]>();
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #lastSeq: number;

  /** @param onFault  told of a request that failed; asking for the page again tries again */
  constructor(lastSeq: number, load: LoadRecords, onFault: (error: unknown) => void) {
    this.#lastSeq = lastSeq;
    this.#load = load;
    this.#onFault = onFault;
  }

  /** Changes whenever something that was given may be another now. */
  readonly version = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Highest `seq` known of. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Pages in memory. */
  get size(): number {
    return this.#pages.size;
  }

  /** The record at `seq`; undefined while it is not loaded, or where there is none. */
  at(seq: number): TrajectoryRecord | undefined {
    return this.#pages.get(pageOf(seq))?.records.get(seq);
  }

  /** Every record at hand. */
  *records(): Iterable<TrajectoryRecord> {
    for (const page of this.#pages.values()) yield* page.records.values();
  }

  isLoaded(seq: number): boolean {
    return this.#pages.has(pageOf(seq));
  }

  /** `seq` of the result of the call that began at `seq`, where it is at hand. */
  endOf(callId: string, seq: number): number | undefined {
    return this.#near(seq, ({ ends }) => ends.get(callId));
  }

  /** `seq` of the beginning of the call that came back at `seq`, where it is at hand. */
  startOf(callId: string, seq: number): number | undefined {
    return this.#near(seq, ({ starts }) => starts.get(callId));
  }

  /** Sees to it that the pages of a range are or will be there, and are let go last. */
  want(fromSeq: number, toSeq: number): void {
    const last = pageOf(Math.min(Math.max(toSeq, 0), this.#lastSeq));
    for (let page = pageOf(Math.max(0, fromSeq)); page <= last; page += 1) {
      // A request that failed was told of already.
      this.#ensurePage(page).catch(() => {});
    }
  }

  /** Resolves when the page of `seq` is there. @throws what the request threw */
  ensure(seq: number): Promise<void> {
    return seq < 0 || seq > this.#lastSeq ? Promise.resolve() : this.#ensurePage(pageOf(seq));
  }

  /** Takes a record that has just been written, in order. */
  add(record: TrajectoryRecord): void {
    const { seq, payload } = record;
    const before = this.#lastSeq;
    if (seq <= before) return;
    this.#lastSeq = payload.kind === 'gap' ? Math.max(seq, payload.through_seq) : seq;
    const page = this.#pages.get(pageOf(seq));
    this.#late.get(pageOf(seq))?.push(record);
    if (page !== undefined) put(page, record);
    // A page that begins with this record is complete as it grows.
    else if (seq % PAGE_RECORDS === 0 && seq === before + 1) {
      const begun = newPage();
      put(begun, record);
      this.#keep(pageOf(seq), begun);
    }
    this.#changed();
  }

  /** Puts a record in the place of a shortened one. */
  replace(record: TrajectoryRecord): void {
    const page = this.#pages.get(pageOf(record.seq));
    if (page === undefined) return;
    put(page, record);
    this.#changed();
  }

  /** Lets everything go, to be fetched anew. */
  clear(): void {
    this.#pages.clear();
    this.#changed();
  }

  #near<Value>(seq: number, look: (page: Page) => Value | undefined): Value | undefined {
    const own = pageOf(seq);
    for (const number of [own, own + 1, own - 1]) {
      const page = this.#pages.get(number);
      const found = page === undefined ? undefined : look(page);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #ensurePage(number: number): Promise<void> {
    const held = this.#pages.get(number);
    if (held !== undefined) {
      // A Map gives its keys in the order of insertion: what was looked at last goes to the end.
      this.#pages.delete(number);
      this.#pages.set(number, held);
      return Promise.resolve();
    }
    const underWay = this.#underWay.get(number);
    if (underWay !== undefined) return underWay;
    const request = this.#fetchPage(number).finally(() => {
      this.#underWay.delete(number);
      this.#late.delete(number);
    });
    this.#underWay.set(number, request);
    this.#late.set(number, []);
    return request;
  }

  async #fetchPage(number: number): Promise<void> {
    const from = number * PAGE_RECORDS;
    try {
      const page = newPage();
      let next: number | undefined = from;
      // A large page comes in parts.
      while (next !== undefined && next < from + PAGE_RECORDS) {
        const answer: RecordsAnswer = await this.#load({ from: next, limit: from + PAGE_RECORDS - next });
        for (const record of answer.records) if (pageOf(record.seq) === number) put(page, record);
        this.#lastSeq = Math.max(this.#lastSeq, answer.lastSeq);
        if (answer.records.length === 0 || answer.nextSeq <= next || answer.nextSeq > answer.lastSeq) break;
        next = answer.nextSeq;
      }
      for (const record of this.#late.get(number) ?? []) put(page, record);
      this.#keep(number, page);
      this.#changed();
    } catch (error) {
      this.#onFault(error);
      throw error;
    }
  }

  #keep(number: number, page: Page): void {
    this.#pages.set(number, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return;
      this.#pages.delete(oldest);
    }
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

function pageOf(seq: number): number {
  return Math.floor(seq / PAGE_RECORDS);
}

function newPage(): Page {
  return { records: new Map(), starts: new Map(), ends: new Map() };
}

function put(page: Page, record: TrajectoryRecord): void {
  page.records.set(record.seq, record);
  const { payload } = record;
  if (payload.kind === 'tool_started') page.starts.set(payload.tool_call_id, record.seq);
  else if (payload.kind === 'tool_ended') page.ends.set(payload.tool_call_id, record.seq);
}
