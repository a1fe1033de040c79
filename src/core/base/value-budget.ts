import type { NoteFault } from './input-fault.ts';

/** Characters reserved for the mark between head and tail. */
const MARK_CHARS = 80;
/** Maximum distance by which a cut moves to reach a line break. Cutting at a line break avoids cutting through a secret. */
const SEAM_CHARS = 4_096;
/** Maximum length of a private key. */
const KEY_CHARS = 16_384;

/**
 * Shortens a text to its head and tail. A mark between them states the size of the text. The function cuts between lines if
 * possible, else between words. It never cuts inside a private key or a surrogate pair, because redaction would not
 * recognise half a secret.
 *
 * Cost: O(maxChars), whatever the length of the text.
 *
 * @param maxChars  maximum UTF-16 units of the result, at least 256
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor((maxChars - MARK_CHARS) / 2);
  const head = text.slice(0, headEnd(text, half));
  const tail = text.slice(tailStart(text, text.length - half));
  const omittedChars = text.length - head.length - tail.length;
  const shortened = `${head}\n[… ${omittedChars} of ${text.length} characters left out …]\n${tail}`;
  // Makes V8 copy the characters. Otherwise the result would keep the whole original text in memory.
  shortened.charCodeAt(0);
  return shortened;
}

function headEnd(text: string, limit: number): number {
  const window = Math.min(SEAM_CHARS, limit >> 1);
  const textNear = text.slice(limit - window, limit);
  const seam = Math.max(textNear.lastIndexOf('\n') + 1, 0) || lastBreak(textNear);
  const end = limit - window + (seam === 0 ? window : seam);
  const keyStart = Math.max(0, end - KEY_CHARS);
  const textClose = text.slice(keyStart, end);
  const opening = textClose.lastIndexOf('-----BEGIN');
  if (opening > textClose.lastIndexOf('-----END')) return keyStart + opening;
  return isHigh(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function tailStart(text: string, limit: number): number {
  const window = Math.min(SEAM_CHARS, (text.length - limit) >> 1);
  const textNear = text.slice(limit, limit + window);
  const line = textNear.indexOf('\n');
  const start = limit + (line >= 0 ? line + 1 : firstBreak(textNear));
  const textClose = text.slice(start, start + KEY_CHARS);
  const closing = textClose.indexOf('-----END');
  const opening = textClose.indexOf('-----BEGIN');
  if (closing >= 0 && (opening < 0 || closing < opening)) {
    const end = textClose.indexOf('-----', closing + 8);
    return start + (end < 0 ? textClose.length : end + 5);
  }
  return isLow(text.charCodeAt(start)) ? start + 1 : start;
}

/** Returns the index after the last space or comma, or 0 if there is neither. */
function lastBreak(text: string): number {
  return Math.max(text.lastIndexOf(' '), text.lastIndexOf(',')) + 1;
}

function firstBreak(text: string): number {
  return text.search(/[ ,]/) + 1;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

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
