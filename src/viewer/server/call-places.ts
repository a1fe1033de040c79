import { RingBuffer } from '../../base/ring-buffer.ts';

const MAX_SAMPLES = 16_384;
const MAX_RECENT = 1_024;

/**
 * Knows which record began a call. Exact for the first 16,384 calls of a run and for the last 1,024; of longer runs every 2nd,
 * 4th … call is kept, and the record of a kept call a little before is given.
 *
 * Memory: 17,408 numbers at most.
 */
export class CallPlaces {
  #seqs: number[] = [];
  #stride = 1;
  #calls = 0;
  readonly #recent = new RingBuffer<number>(MAX_RECENT);

  /** Calls that were added. */
  get calls(): number {
    return this.#calls;
  }

  /** Adds the next call. */
  add(seq: number): void {
    if (this.#calls % this.#stride === 0) this.#seqs.push(seq);
    if (this.#seqs.length > MAX_SAMPLES) {
      this.#seqs = this.#seqs.filter((_, index) => index % 2 === 0);
      this.#stride *= 2;
    }
    this.#recent.push(seq);
    this.#calls += 1;
  }

  /** The `seq` of the record that began a call; of a call that was not added, the nearest one's; 0 without calls. */
  seqOf(call: number): number {
    if (this.#calls === 0) return 0;
    const wanted = Math.min(Math.max(0, call), this.#calls - 1);
    const recent = this.#recent.at(wanted - this.#calls);
    return recent ?? this.#seqs[Math.floor(wanted / this.#stride)] ?? 0;
  }
}
