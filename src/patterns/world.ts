import { LruMap } from '../base/lru-map.ts';
import type { Step } from './step.ts';

/** How the world's clock of changes stands after a step. */
export interface WorldView {
  readonly epoch: number;
  readonly advanced: boolean;
  readonly novel: boolean;
}

/** What `World` needs to go on: plain JSON. */
export interface WorldSnapshot {
  readonly epoch: number;
  readonly seen: readonly string[];
  readonly mutations: readonly string[];
}

/** Calls remembered within one epoch, and changes remembered over the run. */
const REMEMBERED = 512;

/**
 * Counts epochs. A successful change with arguments or an answer not met before begins a new epoch, and so does a
 * message of the user: what was tried before may come out differently now. Repeats, cycles and errors count within
 * one epoch.
 *
 * Cost: O(1) a step; 1,024 keys at most.
 */
export class World {
  #epoch = 0;
  #seen: LruMap<true>;
  readonly #mutations: LruMap<true>;

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
    return { epoch: this.#epoch, advanced, novel };
  }

  snapshot(): WorldSnapshot {
    return {
      epoch: this.#epoch,
      seen: this.#seen.entries().map(([key]) => key),
      mutations: this.#mutations.entries().map(([key]) => key),
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
