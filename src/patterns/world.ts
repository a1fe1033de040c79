import { LruMap } from '../base/lru-map.ts';
import type { Step } from './step.ts';

/** The state of the world after a step. */
export interface WorldView {
  readonly epoch: number;
  readonly advanced: boolean;
  readonly novel: boolean;
  /** Share of the lines of the answer, digits aside, that no recent answer had; without lines 1 for a novel step, else 0. */
  readonly freshLines: number;
  /** The call failed with a line that programs also print when they end well: it names no cause. */
  readonly background: boolean;
}

/** The state of a `World` as JSON. */
export interface WorldSnapshot {
  readonly epoch: number;
  readonly seen: readonly string[];
  readonly mutations: readonly string[];
  /** Hashes of answer lines, with 1 for those of programs that ended well. */
  readonly lines?: readonly (readonly [number, 0 | 1])[];
}

/** Calls remembered per epoch, and changes per run. */
const REMEMBERED = 512;
/** Answer lines remembered per run. */
const REMEMBERED_LINES = 384;

/**
 * Counts epochs. A successful change with new arguments or a new answer begins a new epoch, and so does a
 * message of the user: an earlier call may give another result now. Repeats, cycles and errors count within one epoch.
 *
 * Cost: O(1) per step; at most 1,024 keys and 384 lines.
 */
export class World {
  #epoch = 0;
  #seen: LruMap<true>;
  readonly #mutations: LruMap<true>;
  readonly #lines: LruMap<0 | 1, number>;

  constructor(snapshot?: WorldSnapshot) {
    this.#epoch = snapshot?.epoch ?? 0;
    this.#seen = new LruMap(
      REMEMBERED,
      (snapshot?.seen ?? []).map((key) => [key, true]),
    );
    this.#mutations = new LruMap(
      REMEMBERED,
      (snapshot?.mutations ?? []).map((key) => [key, true]),
    );
    this.#lines = new LruMap(REMEMBERED_LINES, snapshot?.lines);
  }

  /** A message of the user: the agent has new information. */
  userSpoke(): void {
    this.#advance();
  }

  observe(step: Step): WorldView {
    const isKnownChange = this.#mutations.has(step.callKey);
    const advanced = this.#isNewChange(step);
    if (advanced) this.#advance();
    const novel = !isKnownChange && !this.#seen.has(step.callKey);
    this.#seen.set(step.callKey, true);
    const background = step.failure !== undefined && this.#lines.get(step.failure.lineHash) === 1;
    return { epoch: this.#epoch, advanced, novel, freshLines: this.#freshLines(step, novel), background };
  }

  #freshLines(step: Step, novel: boolean): number {
    if (step.lines.length === 0) return novel ? 1 : 0;
    // A line of a program that ends well names no failure; a file that is shown may hold any line.
    const isBackground = step.failure === undefined && !step.resultMissing && step.kind === 'execute';
    let fresh = 0;
    for (const line of step.lines) {
      const known = this.#lines.get(line);
      if (known === undefined) fresh += 1;
      this.#lines.set(line, isBackground || known === 1 ? 1 : 0);
    }
    return fresh / step.lines.length;
  }

  snapshot(): WorldSnapshot {
    return {
      epoch: this.#epoch,
      seen: this.#seen.entries().map(([key]) => key),
      mutations: this.#mutations.entries().map(([key]) => key),
      lines: this.#lines.entries(),
    };
  }

  #isNewChange(step: Step): boolean {
    if (step.kind !== 'write' || step.resultMissing || step.unchanged) return false;
    // In a line that edits and then runs, the run failed.
    if (step.failure !== undefined && !step.editsAndRuns) return false;
    const known = this.#mutations.has(step.callKey);
    this.#mutations.set(step.callKey, true);
    return !known;
  }

  #advance(): void {
    this.#epoch += 1;
    this.#seen = new LruMap(REMEMBERED);
  }
}
