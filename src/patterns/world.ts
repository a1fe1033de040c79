import { LruMap } from '../base/lru-map.ts';
import type { Step } from './step.ts';

/** How the world's clock of changes stands after a step. */
export interface WorldView {
  readonly epoch: number;
  readonly advanced: boolean;
  readonly novel: boolean;
  /** Share of the lines of the answer, digits aside, that no recent answer had; of an answer without lines 1 when it is novel. */
  readonly freshLines: number;
  /** The call failed, and the line that says so also stands in what succeeded: it says nothing of this failure. */
  readonly background: boolean;
}

/** What `World` needs to go on: plain JSON. */
export interface WorldSnapshot {
  readonly epoch: number;
  readonly seen: readonly string[];
  readonly mutations: readonly string[];
  /** Lines of answers as hashes, with 1 for those that a program printed which then ended well. */
  readonly lines?: readonly (readonly [number, 0 | 1])[];
}

/** Calls remembered within one epoch, and changes remembered over the run. */
const REMEMBERED = 512;
/** Lines of answers remembered over the run. */
const REMEMBERED_LINES = 384;

/**
 * Counts epochs. A successful change with arguments or an answer not met before begins a new epoch, and so does a
 * message of the user: what was tried before may come out differently now. Repeats, cycles and errors count within
 * one epoch.
 *
 * Cost: O(1) a step; 1,024 keys and 384 lines at most.
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

  /** The user spoke: the agent has new information. */
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
    // What a program prints while it ends well is no failure of another time; a file that is shown may hold any.
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
    // Where a line edits and then runs, it is the run that failed.
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
