import { LruMap } from '../../base/lru-map.ts';
import type { StepContext } from './pattern-detector.ts';
import type { Step } from './step.ts';

export interface WorldView extends Pick<StepContext, 'epoch' | 'advanced' | 'novel'> {
  /** True if the call failed with a line that successful programs also print, so the line names no cause. */
  readonly background: boolean;
}

/** The state of a `World` as JSON. */
export interface WorldSnapshot {
  readonly epoch: number;
  readonly seen: readonly (readonly [string, true])[];
  readonly mutations: readonly (readonly [string, true])[];
  /** Hashes of lines that a successful program printed, with 1. Older snapshots also hold other lines, with 0. */
  readonly lines?: readonly (readonly [number, 0 | 1])[];
}

const REMEMBERED = 512;
const REMEMBERED_LINES = 384;

/**
 * A successful change with new arguments or a new result, and a user message, start an epoch, because earlier calls may
 * now give another result. Repeats, cycles and errors count within one epoch. Memory: at most 1,024 keys and 384 lines.
 */
export class World {
  #epoch = 0;
  #seen: LruMap<true>;
  readonly #mutations: LruMap<true>;
  readonly #lines: LruMap<0 | 1, number>;

  constructor(snapshot?: WorldSnapshot) {
    this.#epoch = snapshot?.epoch ?? 0;
    this.#seen = new LruMap(REMEMBERED, snapshot?.seen);
    this.#mutations = new LruMap(REMEMBERED, snapshot?.mutations);
    this.#lines = new LruMap(REMEMBERED_LINES, snapshot?.lines);
  }

  noteUserMessage(): void {
    this.#advance();
  }

  observe(step: Step): WorldView {
    const isKnownChange = this.#mutations.has(step.callKey);
    const advanced = this.#isNewChange(step);
    if (advanced) this.#advance();
    const novel = !isKnownChange && !this.#seen.has(step.callKey);
    this.#seen.set(step.callKey, true);
    const background = step.failure !== undefined && this.#lines.get(step.failure.lineHash) === 1;
    this.#noteLines(step);
    return { epoch: this.#epoch, advanced, novel, background };
  }

  #noteLines(step: Step): void {
    // A line printed by a successful program names no failure. The content of a displayed file is excluded, because it may contain
    // any line.
    if (step.failure !== undefined || step.resultMissing || step.kind !== 'execute') return;
    for (const line of step.lines) this.#lines.set(line, 1);
  }

  snapshot(): WorldSnapshot {
    return {
      epoch: this.#epoch,
      seen: this.#seen.entries(),
      mutations: this.#mutations.entries(),
      lines: this.#lines.entries(),
    };
  }

  #isNewChange(step: Step): boolean {
    if (step.kind !== 'write' || step.resultMissing || step.unchanged) return false;
    // If a shell line edits a file and then runs a program, only the program failed: the edit took effect.
    if (step.failure !== undefined && !step.editsAndRuns) return false;
    const isKnown = this.#mutations.has(step.callKey);
    this.#mutations.set(step.callKey, true);
    return !isKnown;
  }

  #advance(): void {
    this.#epoch += 1;
    this.#seen = new LruMap(REMEMBERED);
  }
}
