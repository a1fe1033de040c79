import { cutText } from './cut-text.ts';
import type { NoteFault } from './input-fault.ts';

/** What of one event is kept. Ordinary events stay far below: a model reads a megabyte of text at most. */
export const VALUE_LIMITS = {
  /** Members of objects and items of lists, in all. */
  nodes: 10_000,
  /** Levels of objects and lists inside each other. */
  depth: 64,
  /** UTF-16 units of one text. */
  textChars: 1_048_576,
  /** UTF-16 units of all texts and names of members together. */
  chars: 4_194_304,
} as const;

/** What a text keeps when nothing is left for it, in UTF-16 units. */
const LEAST_CHARS = 256;

/**
 * What may still be kept of the event at hand. Whatever walks over a value of a host takes from it, so that the work is
 * bounded by the limits and not by the value.
 */
export class ValueBudget {
  nodes: number = VALUE_LIMITS.nodes;
  /** The clock, Unix milliseconds; 0 where none is at hand, and then no time is judged. */
  nowMs = 0;
  /** The objects around the value at hand, outermost first. */
  readonly path: object[] = [];
  readonly note: NoteFault;
  #chars: number = VALUE_LIMITS.chars;

  constructor(note: NoteFault = () => undefined) {
    this.note = note;
  }

  /** For the next event. */
  renew(nowMs: number): void {
    this.nodes = VALUE_LIMITS.nodes;
    this.#chars = VALUE_LIMITS.chars;
    this.path.length = 0;
    this.nowMs = nowMs;
  }

  /** The text, or its head and tail. */
  text(text: string): string {
    const { length } = text;
    if (length <= this.#chars && length <= VALUE_LIMITS.textChars) {
      this.#chars -= length;
      return text;
    }
    const kept = cutText(text, Math.max(LEAST_CHARS, Math.min(VALUE_LIMITS.textChars, this.#chars)));
    this.#chars = Math.max(0, this.#chars - kept.length);
    if (kept !== text) this.note('cutValues', `a text of ${length} characters`);
    return kept;
  }
}
