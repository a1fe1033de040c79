import { cutText } from './cut-text.ts';
import type { NoteFault } from './input-fault.ts';

/** Size limits of one event. Ordinary events are far smaller, because a model reads at most a megabyte of text. */
export const VALUE_LIMITS = {
  /** Total number of object members and list items. */
  nodes: 10_000,
  /** Nesting depth of objects and lists. */
  depth: 64,
  /** UTF-16 units of a single text. */
  textChars: 1_048_576,
  /** UTF-16 units of all texts and member names. */
  chars: 4_194_304,
} as const;

/** UTF-16 units that a text keeps after the budget is used up. */
const LEAST_CHARS = 256;

/** The remaining limits of one event. Every walk over a value from the host uses this budget, so the limits bound the work. */
export class ValueBudget {
  nodes: number = VALUE_LIMITS.nodes;
  /** Unix milliseconds of the clock. 0 means that there is no clock and times are not checked. */
  nowMs = 0;
  /** The enclosing objects, outermost first. */
  readonly path: object[] = [];
  readonly note: NoteFault;
  #chars: number = VALUE_LIMITS.chars;

  constructor(note: NoteFault = () => undefined) {
    this.note = note;
  }

  /** Resets the budget for the next event. */
  renew(nowMs: number): void {
    this.nodes = VALUE_LIMITS.nodes;
    this.#chars = VALUE_LIMITS.chars;
    this.path.length = 0;
    this.nowMs = nowMs;
  }

  /** Returns the text, cut to its head and tail if necessary. */
  text(text: string): string {
    const { length } = text;
    if (length <= this.#chars && length <= VALUE_LIMITS.textChars) {
      this.#chars -= length;
      return text;
    }
    const shortened = cutText(text, Math.max(LEAST_CHARS, Math.min(VALUE_LIMITS.textChars, this.#chars)));
    this.#chars = Math.max(0, this.#chars - shortened.length);
    if (shortened !== text) this.note('cutValues', `a text of ${length} characters`);
    return shortened;
  }
}
