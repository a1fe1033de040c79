/** An answer without its digits: what is left tells whether only numbers moved. */
export interface AnswerLines {
  /** Equal for answers that differ in digits and blanks only. */
  readonly shapeKey: number;
  /** Hashes of its lines without digits, in order: of a longer answer the first and last 8. */
  readonly lines: readonly number[];
  /** Its first 6 numbers, whole parts. */
  readonly numbers: readonly number[];
}

/** How much of each end is read. */
const END_CHARS = 2_048;
/** Lines kept of each end. */
const END_LINES = 8;
const MAX_NUMBERS = 6;
const START = 0x811c9dc5;

/**
 * Reads the lines of an answer without digits and blanks. Masks of times and ids are not needed here: what is left of them
 * without digits is mostly the same.
 *
 * Cost: one pass over at most 4,096 characters.
 */
export function answerLines(text: string): AnswerLines {
  const head = linesOf(text.length <= 2 * END_CHARS ? text : text.slice(0, END_CHARS));
  const tail = text.length <= 2 * END_CHARS ? head : linesOf(text.slice(-END_CHARS));
  let shapeKey = START;
  for (const line of head) shapeKey = Math.imul(shapeKey ^ line, 0x01000193);
  if (tail !== head) for (const line of tail) shapeKey = Math.imul(shapeKey ^ line, 0x01000193);
  const all = tail === head ? head : [...head, ...tail];
  const lines = all.length <= 2 * END_LINES ? all : [...all.slice(0, END_LINES), ...all.slice(-END_LINES)];
  return { shapeKey: shapeKey >>> 0, lines, numbers: numbersOf(text) };
}

function numbersOf(text: string): readonly number[] {
  const numbers: number[] = [];
  for (let at = 0; at < Math.min(text.length, END_CHARS) && numbers.length < MAX_NUMBERS; at += 1) {
    let value = -1;
    for (let unit = text.charCodeAt(at); unit >= DIGIT_ZERO && unit <= DIGIT_NINE; unit = text.charCodeAt(at)) {
      value = 10 * Math.max(0, value) + unit - DIGIT_ZERO;
      at += 1;
    }
    if (value >= 0) numbers.push(value);
  }
  return numbers;
}

function linesOf(text: string): readonly number[] {
  const lines: number[] = [];
  let hash = START;
  let letters = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at === text.length ? LINE_BREAK : text.charCodeAt(at);
    if (unit === LINE_BREAK) {
      if (letters > 0) lines.push(hash >>> 0);
      hash = START;
      letters = 0;
    } else if (unit > SPACE && (unit < DIGIT_ZERO || unit > DIGIT_NINE)) {
      hash = Math.imul(hash ^ unit, 0x01000193);
      letters += 1;
    }
  }
  return lines;
}

const LINE_BREAK = 0x0a;
const SPACE = 0x20;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
