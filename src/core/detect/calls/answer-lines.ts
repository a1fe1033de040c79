/** The hashes of a result without its digits. They show whether only numbers changed. */
export interface AnswerLines {
  /** Equal for results that differ only in digits and blanks. */
  readonly shapeKey: number;
  /** Hashes of the lines without digits, in order. For a longer result: the first and the last 8 lines. */
  readonly lines: readonly number[];
}

/** Number of characters read at each end. */
const END_CHARS = 2_048;
/** Number of lines hashed at each end. */
const END_LINES = 8;
const HASH_SEED = 0x811c9dc5;

/**
 * Hashes the lines of a result without digits and blanks. Most times and ids are equal once their digits are removed.
 *
 * Cost: one pass over at most 4,096 characters.
 */
export function answerLines(text: string): AnswerLines {
  const head = hashLines(text.length <= 2 * END_CHARS ? text : text.slice(0, END_CHARS));
  const tail = text.length <= 2 * END_CHARS ? head : hashLines(text.slice(-END_CHARS));
  let shapeKey = HASH_SEED;
  for (const line of head) shapeKey = Math.imul(shapeKey ^ line, 0x01000193);
  if (tail !== head) for (const line of tail) shapeKey = Math.imul(shapeKey ^ line, 0x01000193);
  const allHashes = tail === head ? head : [...head, ...tail];
  const lines =
    allHashes.length <= 2 * END_LINES ? allHashes : [...allHashes.slice(0, END_LINES), ...allHashes.slice(-END_LINES)];
  return { shapeKey: shapeKey >>> 0, lines };
}

function hashLines(text: string): readonly number[] {
  const lines: number[] = [];
  let hash = HASH_SEED;
  let letterCount = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at === text.length ? LINE_BREAK : text.charCodeAt(at);
    if (unit === LINE_BREAK) {
      if (letterCount > 0) lines.push(hash >>> 0);
      hash = HASH_SEED;
      letterCount = 0;
    } else if (unit > SPACE && (unit < DIGIT_ZERO || unit > DIGIT_NINE)) {
      hash = Math.imul(hash ^ unit, 0x01000193);
      letterCount += 1;
    }
  }
  return lines;
}

const LINE_BREAK = 0x0a;
const SPACE = 0x20;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
