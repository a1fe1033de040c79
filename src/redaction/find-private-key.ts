import { ALNUM, BASE64_EXTRA, BLANK, isOf, runEnd } from './char-class.ts';
import type { SecretSpan } from './secret-span.ts';

const OPENING = /-{4,5} ?BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/y;
const CLOSING = /-{4,5} ?END [A-Z0-9 ]{1,60}-{4,5}/y;
const PUTTY = /PuTTY-User-Key-File-\d: ?[a-z0-9-]{1,40}/y;
/** Lines between the opening and the key itself. */
const HEADER =
  /(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|Encryption|Public-Lines|Private-Lines|Private-MAC|Key-Derivation|Argon2-[A-Za-z]{1,20}) ?:/y;
const MAX_HEADER_CHARS = 256;
const MAX_HEADERS = 16;
const MAX_HEADER_WORDS = 16;
/** Shortest run that is a line of a key and not a word of prose. */
const LINE_CHARS = 16;

/**
 * A private key that begins at `at`: PEM of every kind, OpenSSH, PGP, PuTTY. Also one that was cut, that stands in a JSON
 * string with its line breaks escaped any number of times, or that is quoted line by line. An opening with nothing
 * after it is none.
 */
export function findPrivateKey(text: string, at: number): SecretSpan | undefined {
  const opening = text.charCodeAt(at) === 45 ? OPENING : PUTTY;
  opening.lastIndex = at;
  if (!opening.test(text)) return undefined;
  const end = keyEnd(text, opening.lastIndex);
  return end === undefined ? undefined : { start: at, end, rule: 'private-key' };
}

function keyEnd(text: string, from: number): number | undefined {
  let end: number | undefined;
  let at = from;
  let headers = 0;
  /** Words of a header's value that may still follow: line breaks may have become blanks. */
  let words = 0;
  for (;;) {
    const start = skipSeparators(text, at);
    CLOSING.lastIndex = start;
    if (CLOSING.test(text)) return end === undefined ? undefined : CLOSING.lastIndex;
    HEADER.lastIndex = start;
    if (headers < MAX_HEADERS && HEADER.test(text)) {
      headers += 1;
      words = MAX_HEADER_WORDS;
      at = HEADER.lastIndex;
      continue;
    }
    const stop = runEnd(text, start, ALNUM | BASE64_EXTRA);
    if (stop - start >= LINE_CHARS) {
      end = stop;
      at = stop;
      words = 0;
    } else if (words > 0 && start < text.length) {
      words -= 1;
      at = wordEnd(text, start);
    } else {
      return end === undefined ? undefined : lastEnd(text, { start, stop, end });
    }
  }
}

/** A short last line belongs to the key when the key is closed after it, or when it stands on a line of its own. */
function lastEnd(text: string, last: { readonly start: number; readonly stop: number; readonly end: number }): number {
  if (last.stop === last.start) return last.end;
  CLOSING.lastIndex = skipSeparators(text, last.stop);
  if (CLOSING.test(text)) return CLOSING.lastIndex;
  return /\n|\\n/.test(text.slice(last.end, Math.min(last.start, last.end + MAX_HEADER_CHARS))) ? last.stop : last.end;
}

/** Passes over blanks, escaped line breaks, quotation marks and what joins or leads quoted lines. */
function skipSeparators(text: string, from: number): number {
  let at = from;
  for (;;) {
    const unit = text[at];
    if (unit === '\\') {
      const after = text[at + 1];
      at += after === 'n' || after === 'r' || after === 't' ? 2 : 1;
    } else if (unit !== undefined && ' \t\r\n"\'`,|>'.includes(unit)) {
      at += 1;
    } else {
      return at;
    }
  }
}

function wordEnd(text: string, from: number): number {
  const limit = Math.min(text.length, from + MAX_HEADER_CHARS);
  let at = from;
  while (at < limit && !isOf(text, at, BLANK) && text[at] !== '\\') at += 1;
  return at;
}
