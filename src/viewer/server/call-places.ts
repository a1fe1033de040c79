import type { ToolKind } from '../../calls/tool-kind.ts';
import type { NumberedCall } from './api-shapes.ts';

const KINDS: readonly ToolKind[] = ['unknown', 'read', 'write', 'execute', 'poll', 'wait', 'ui', 'note'];

/**
 * Knows which record began each call of a run, and of which kind the call was. Calls are numbered from 1.
 *
 * Memory: five bytes a call.
 */
export class CallPlaces {
  #seqs = new Uint32Array(256);
  #kinds = new Uint8Array(256);
  #calls = 0;

  /** Calls that were added. */
  get calls(): number {
    return this.#calls;
  }

  /** Adds the next call; its `seq` is above those before it. */
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

  /** The call that was added has this kind. */
  setKind(call: number, kind: ToolKind): void {
    this.#kinds[call - 1] = KINDS.indexOf(kind);
  }

  /** The `seq` of the record that began a call; of a call that was not added, the nearest one's; 0 without calls. */
  seqOf(call: number): number {
    return this.#seqs[Math.min(Math.max(1, call), Math.max(1, this.#calls)) - 1] ?? 0;
  }

  /** The last call that had begun at a record; 0 where none had. Cost: O(log calls). */
  callAt(seq: number): number {
    let [low, high] = [0, this.#calls];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seqs[middle] ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The calls that records from `fromSeq` up to, not with, `toSeq` began. */
  between(fromSeq: number, toSeq: number): readonly NumberedCall[] {
    const calls: NumberedCall[] = [];
    for (let call = this.callAt(fromSeq - 1) + 1; call <= this.#calls; call += 1) {
      const seq = this.seqOf(call);
      if (seq >= toSeq) break;
      calls.push({ call, seq, kind: KINDS[this.#kinds[call - 1] ?? 0] ?? 'unknown' });
    }
    return calls;
  }
}
