import { TOOL_KINDS, type ToolKind } from '../../calls/tool-kind.ts';
import type { EvidenceCall, NumberedCall } from './api-shapes.ts';

const BYTES_PER_CALL = 5;

/**
 * The first record and the tool kind of each call of a run. Calls are numbered from 1.
 *
 * Memory: five bytes per call.
 */
export class CallPlaces {
  #seqs = new Uint32Array(256);
  #kinds = new Uint8Array(256);
  #calls = 0;

  /** Restores the places from `bytes`. */
  static from(bytes: Uint8Array): CallPlaces {
    const places = new CallPlaces();
    const calls = bytes.length / BYTES_PER_CALL;
    places.#calls = calls;
    places.#seqs = new Uint32Array(bytes.slice(0, 4 * calls).buffer);
    places.#kinds = bytes.slice(4 * calls);
    return places;
  }

  /** Number of calls. */
  get calls(): number {
    return this.#calls;
  }

  /** The places in the byte order of this machine. */
  bytes(): Uint8Array {
    const bytes = new Uint8Array(BYTES_PER_CALL * this.#calls);
    bytes.set(new Uint8Array(this.#seqs.buffer, 0, 4 * this.#calls));
    bytes.set(this.#kinds.subarray(0, this.#calls), 4 * this.#calls);
    return bytes;
  }

  /** Adds the next call. The values of `seq` must ascend. */
  add(seq: number): void {
    if (this.#calls === this.#seqs.length) {
      const [seqs, kinds] = [new Uint32Array(2 * this.#calls), new Uint8Array(2 * this.#calls)];
      seqs.set(this.#seqs);
      kinds.set(this.#kinds);
      [this.#seqs, this.#kinds] = [seqs, kinds];
    }
    this.#seqs[this.#calls] = seq;
    this.#calls += 1;
  }

  setKind(call: number, kind: ToolKind): void {
    this.#kinds[call - 1] = TOOL_KINDS.indexOf(kind);
  }

  /** Returns the first record of a call, or of the nearest known call. It returns 0 if there are no calls. */
  seqOf(call: number): number {
    return this.#seqs[Math.min(Math.max(1, call), Math.max(1, this.#calls)) - 1] ?? 0;
  }

  /** Returns a call by its number, or the last call that started at or before a record. Null if there is no such call. */
  findPlace(query: { readonly call: number } | { readonly atSeq: number }): EvidenceCall | null {
    const call = 'call' in query ? query.call : this.callAt(query.atSeq);
    return call < 1 || call > this.#calls ? null : { call, seq: this.seqOf(call) };
  }

  /** Returns the number of the last call that started at or before a record; 0 if no call did. Cost: O(log calls). */
  callAt(seq: number): number {
    let [low, high] = [0, this.#calls];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seqs[middle] ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the calls that started in the records from `fromSeq` to before `toSeq`. */
  callsBetween(fromSeq: number, toSeq: number): readonly NumberedCall[] {
    const calls: NumberedCall[] = [];
    for (let call = this.callAt(fromSeq - 1) + 1; call <= this.#calls; call += 1) {
      const seq = this.seqOf(call);
      if (seq >= toSeq) break;
      calls.push({ call, seq, kind: TOOL_KINDS[this.#kinds[call - 1] ?? 0] ?? 'unknown' });
    }
    return calls;
  }
}
