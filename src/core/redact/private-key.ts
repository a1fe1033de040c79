import { ALNUM, BASE64_EXTRA, BLANK, isOf, runEnd } from './char-class.ts';
import { skipLineHead } from './line-head.ts';

const CLOSING = /-{4,5} ?END [A-Z0-9 ]{1,60}-{4,5}/y;
/** Header lines between the opening and the key. */
const HEADER =
  /(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|Encryption|Public-Lines|Private-Lines|Private-MAC|Key-Derivation|Argon2-[A-Za-z]{1,20}) ?:/y;
const MAX_HEADER_CHARS = 256;
const MAX_HEADERS = 16;
const MAX_HEADER_WORDS = 16;
/** Minimum length of a sequence that is a line of a key rather than a word. */
const LINE_CHARS = 16;

/**
 * The end of a private key whose opening ends at `start`: PEM, OpenSSH, PGP, PuTTY. Also a key that is cut off, in a JSON string with
 * line breaks escaped any number of times, quoted line by line, or with numbered, logged or listed lines. Undefined for an opening
 * without a key.
 */
export function privateKeyEnd(text: string, start: number): number | undefined {
  let end: number | undefined;
  let position = start;
  let headers = 0;
  /** Remaining words of a header's value: line breaks may have become blanks. */
  let words = 0;
  for (;;) {
    const lineStart = skipSeparators(text, position);
    CLOSING.lastIndex = lineStart;
    if (CLOSING.test(text)) return end === undefined ? undefined : CLOSING.lastIndex;
    HEADER.lastIndex = lineStart;
    if (headers < MAX_HEADERS && HEADER.test(text)) {
      headers += 1;
      words = MAX_HEADER_WORDS;
      position = HEADER.lastIndex;
      continue;
    }
    const stop = runEnd(text, lineStart, ALNUM | BASE64_EXTRA);
    if (stop - lineStart >= LINE_CHARS) {
      end = stop;
      position = stop;
      words = 0;
    } else if (words > 0 && lineStart < text.length) {
      words -= 1;
      position = wordEnd(text, lineStart);
    } else {
      return end === undefined ? undefined : lastEnd(text, { start: lineStart, stop, end });
    }
  }
}

/** A short last line belongs to the key if an end marker follows or if it is a separate line. */
function lastEnd(text: string, last: { readonly start: number; readonly stop: number; readonly end: number }): number {
  if (last.stop === last.start) return last.end;
  CLOSING.lastIndex = skipSeparators(text, last.stop);
  if (CLOSING.test(text)) return CLOSING.lastIndex;
  return /\n|\\n/.test(text.slice(last.end, Math.min(last.start, last.end + MAX_HEADER_CHARS))) ? last.stop : last.end;
}

/** Skips blanks, escaped line breaks, quotes and the separators and prefixes of quoted lines. */
function skipSeparators(text: string, start: number): number {
  let position = start;
  for (;;) {
    const unit = text[position];
    if (unit === '\\') {
      const nextChar = text[position + 1];
      position += nextChar === 'n' || nextChar === 'r' || nextChar === 't' ? 2 : 1;
      if (nextChar === 'n') position = skipLineHead(text, position);
    } else if (unit !== undefined && ' \t\r\n"\'`,|>'.includes(unit)) {
      position += 1;
      if (unit === '\n') position = skipLineHead(text, position);
    } else {
      return position;
    }
  }
}

function wordEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_HEADER_CHARS);
  let position = start;
  while (position < limit && !isOf(text, position, BLANK) && text[position] !== '\\') position += 1;
  return position;
}
