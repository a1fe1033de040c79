import { LruMap } from '../../base/lru-map.ts';
import type { StepContext } from './pattern-detector.ts';
import type { Step } from './step.ts';

export interface WorldView extends Pick<StepContext, 'epoch' | 'advanced' | 'novel' | 'freshLines'> {
  /** True if the call failed with a line that successful programs also print, so the line names no cause. */
  readonly background: boolean;
}

/** The state of a `World` as JSON. */
export interface WorldSnapshot {
  readonly epoch: number;
  readonly seen: readonly string[];
  readonly mutations: readonly string[];
  /** Hashes of result lines. The value is 1 for a line printed by a successful program. */
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
    return { epoch: this.#epoch, advanced, novel, freshLines: this.#freshLines(step, novel), background };
  }

  #freshLines(step: Step, novel: boolean): number {
    if (step.lines.length === 0) return novel ? 1 : 0;
    // A line printed by a successful program names no failure. The content of a displayed file is excluded, because it may contain
    // any line.
    const isBackground = step.failure === undefined && !step.resultMissing && step.kind === 'execute';
    let freshCount = 0;
    for (const line of step.lines) {
      const knownValue = this.#lines.get(line);
      if (knownValue === undefined) freshCount += 1;
      this.#lines.set(line, isBackground || knownValue === 1 ? 1 : 0);
    }
    return freshCount / step.lines.length;
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
