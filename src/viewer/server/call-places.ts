import { present } from '../../core/base/present.ts';
import { TOOL_KINDS, type ToolKind } from '../../core/detect/calls/tool-kind.ts';
import type { CallMark, CallsAround, EvidenceCall, NumberedCall } from './api-shapes.ts';

const HEADER_BYTES = 4;
const BYTES_PER_CALL = 6;
/** Maximum number of different failure lines, so that a line's number fits into a byte. */
const MAX_LINES = 255;
/** Number of calls before and after an advice text that are compared. */
const CALLS_AROUND = 4;

/**
 * The first record, the tool kind and the failure line of each call of a run. Calls are numbered from 1.
 *
 * Memory: six bytes per call, and at most 255 lines.
 */
export class CallPlaces {
  #seqs = new Uint32Array(256);
  #kinds = new Uint8Array(256);
  /** 1-based positions in `#lines`; 0 for a call without a known failure line. */
  #failures = new Uint8Array(256);
  #lines: string[] = [];
  #calls = 0;

  /** Restores the places from `bytes`. */
  static from(bytes: Uint8Array): CallPlaces {
    const places = new CallPlaces();
    const [calls = 0] = new Uint32Array(bytes.slice(0, HEADER_BYTES).buffer);
    const body = bytes.slice(HEADER_BYTES);
    places.#calls = calls;
    places.#seqs = new Uint32Array(body.slice(0, 4 * calls).buffer);
    places.#kinds = body.slice(4 * calls, 5 * calls);
    places.#failures = body.slice(5 * calls, BYTES_PER_CALL * calls);
    // `bytes` writes a list of strings.
    places.#lines = JSON.parse(new TextDecoder().decode(body.subarray(BYTES_PER_CALL * calls))) as string[];
    return places;
  }

  /** Number of calls. */
  get calls(): number {
    return this.#calls;
  }

  /** The places in the byte order of this machine. */
  bytes(): Uint8Array {
    const parts = [
      new Uint8Array(Uint32Array.of(this.#calls).buffer),
      new Uint8Array(this.#seqs.buffer, 0, 4 * this.#calls),
      this.#kinds.subarray(0, this.#calls),
      this.#failures.subarray(0, this.#calls),
      new TextEncoder().encode(JSON.stringify(this.#lines)),
    ];
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  /** Adds the next call. The values of `seq` must ascend. */
  add(seq: number): void {
    if (this.#calls === this.#seqs.length) {
      const length = 2 * this.#calls;
      const [seqs, kinds, failures] = [new Uint32Array(length), new Uint8Array(length), new Uint8Array(length)];
      seqs.set(this.#seqs);
      kinds.set(this.#kinds);
      failures.set(this.#failures);
      [this.#seqs, this.#kinds, this.#failures] = [seqs, kinds, failures];
    }
    this.#seqs[this.#calls] = seq;
    this.#calls += 1;
  }

  setKind(call: number, kind: ToolKind): void {
    this.#kinds[call - 1] = TOOL_KINDS.indexOf(kind);
  }

  /** @param line  the masked line that states why the call failed */
  setFailure(call: number, line: string): void {
    let at = this.#lines.indexOf(line);
    if (at < 0 && this.#lines.length < MAX_LINES) at = this.#lines.push(line) - 1;
    this.#failures[call - 1] = at + 1;
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

  /** Compares the calls around an advice text with the last failure before it. @param callsBefore  number of calls before the text */
  around(callsBefore: number): CallsAround {
    const line = this.#failures[callsBefore - 1];
    const marksOf = (from: number, to: number): readonly CallMark[] =>
      [...this.#failures.subarray(Math.max(0, from), Math.max(0, Math.min(to, this.#calls)))].map((failure) =>
        failure === 0 ? 'no-failure' : failure === line ? 'same-failure' : 'other-failure',
      );
    return {
      before: marksOf(callsBefore - CALLS_AROUND, callsBefore),
      after: marksOf(callsBefore, callsBefore + CALLS_AROUND),
    };
  }

  /** Returns the calls that started in the records from `fromSeq` to before `toSeq`. */
  callsBetween(fromSeq: number, toSeq: number): readonly NumberedCall[] {
    const calls: NumberedCall[] = [];
    for (let call = this.callAt(fromSeq - 1) + 1; call <= this.#calls; call += 1) {
      const seq = this.seqOf(call);
      if (seq >= toSeq) break;
      const kind = TOOL_KINDS[this.#kinds[call - 1] ?? 0] ?? 'unknown';
      calls.push({ call, seq, kind, ...present({ failure: this.#lines[(this.#failures[call - 1] ?? 0) - 1] }) });
    }
    return calls;
  }
}
