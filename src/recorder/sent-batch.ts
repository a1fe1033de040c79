import { Buffer } from 'node:buffer';

import { parseRecord } from '../records/decode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { CheckedBatch, EncodedRecord } from '../store/check-batch.ts';

/** A checked batch on its way to another thread. Plain data. */
export interface SentBatch extends Omit<CheckedBatch, 'records'> {
  readonly seqs: readonly number[];
  /** Begins with the JSON of the records, one behind the other. */
  readonly bytes: ArrayBuffer;
  /** Where each record ends. */
  readonly ends: readonly number[];
}

/** Buffers that came back; a new one would have to be cleared by the system, page by page. */
const MAX_SPARE = 4;
const MAX_SPARE_BYTES = 4 * 1024 * 1024;
/** More than what is left of a character that does not fit. */
const SLACK_BYTES = 4;
const LEAST_BYTES = 64 * 1024;

/** Puts batches into bytes that are handed over, and takes those bytes back. */
export class BatchSender {
  #spare: ArrayBuffer[] = [];

  /** Cost: one copy of the text. */
  send({ records, ...rest }: CheckedBatch): SentBatch {
    const seqs = records.map(({ seq }) => seq);
    const plain = this.#write(records, rest.chars);
    if (plain.isWhole) return { ...rest, seqs, bytes: plain.bytes, ends: plain.ends };
    // Texts with characters of several bytes.
    this.takeBack(plain.bytes);
    const size = records.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
    const { bytes, ends } = this.#write(records, size);
    return { ...rest, seqs, bytes, ends };
  }

  /** Whoever got a batch needs its bytes no more. */
  takeBack(bytes: ArrayBuffer): void {
    if (this.#spare.length < MAX_SPARE && bytes.byteLength <= MAX_SPARE_BYTES) this.#spare.push(bytes);
  }

  /** `isWhole` is true when every character took one byte, so that `size` was enough for all of them. */
  #write(
    records: readonly EncodedRecord[],
    size: number,
  ): { readonly bytes: ArrayBuffer; readonly ends: readonly number[]; readonly isWhole: boolean } {
    const bytes = this.#take(size + SLACK_BYTES);
    const buffer = Buffer.from(bytes);
    const ends: number[] = [];
    let end = 0;
    let chars = 0;
    for (const { json } of records) {
      end += buffer.write(json, end);
      chars += json.length;
      ends.push(end);
    }
    return { bytes, ends, isWhole: end === chars };
  }

  #take(size: number): ArrayBuffer {
    const spare = this.#spare.pop();
    return spare !== undefined && spare.byteLength >= size ? spare : new ArrayBuffer(Math.max(size, LEAST_BYTES));
  }
}

/** Cost: the text of each record is made, and nothing is decoded before it is asked for. The bytes are free then. */
export function fromSentBatch({ seqs, bytes, ends, ...rest }: SentBatch): CheckedBatch {
  const text = Buffer.from(bytes);
  let start = 0;
  const records = seqs.map((seq, index): EncodedRecord => {
    const end = ends[index] ?? start;
    const record = new SentRecord(seq, text.toString('utf8', start, end));
    start = end;
    return record;
  });
  return { ...rest, records };
}

class SentRecord implements EncodedRecord {
  readonly seq: number;
  readonly json: string;

  constructor(seq: number, json: string) {
    this.seq = seq;
    this.json = json;
  }

  get record(): TrajectoryRecord {
    return parseRecord(this.json);
  }
}
