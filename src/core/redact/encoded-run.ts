const MIN_RUN_CHARS = 20;
/** Minimum length of a run that is decoded. It gives 24 bytes. */
const MIN_DECODED_CHARS = 32;
const MAX_RUN_CHARS = 65_536;

const BASE64 = new Uint8Array(128);
for (const unit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') BASE64[unit.charCodeAt(0)] = 1;

function isBase64(unit: number): boolean {
  return unit < 128 && BASE64[unit] === 1;
}

export interface EncodedRun {
  readonly start: number;
  readonly end: number;
}

/** Minimum length of a line of wrapped text: `openssl` wraps at 64 characters, `base64` at 76, contents APIs of code hosts at 60. */
const MIN_LINE_CHARS = 56;
/** A line break, also escaped, between two lines of a wrapped text, and the next line. */
const NEXT_LINE = /(?:\r?\n|(?:\\r)?\\n)[ \t]{0,16}([A-Za-z0-9+/_=-]{1,200})(?=\s|\\[nr]|["'`]|$)/y;

/**
 * Wrapped text of equal lines, the last one shorter, is one run. Cost: reads about every sixth character of most texts.
 */
export function nextRun(text: string, startIndex: number): EncodedRun | undefined {
  let start = startIndex;
  while (start + MIN_RUN_CHARS <= text.length) {
    let position = start + MIN_RUN_CHARS - 1;
    while (position >= start && isBase64(text.charCodeAt(position))) position -= 1;
    if (position >= start) {
      start = position + 1;
      continue;
    }
    let end = start + MIN_RUN_CHARS;
    while (end < text.length && isBase64(text.charCodeAt(end))) end += 1;
    return { start, end: end - start < MIN_LINE_CHARS ? end : wrappedEnd(text, start, end) };
  }
  return undefined;
}

function wrappedEnd(text: string, start: number, end: number): number {
  const lineChars = end - start;
  let wrapped = end;
  NEXT_LINE.lastIndex = end;
  for (let line = NEXT_LINE.exec(text); line !== null; line = NEXT_LINE.exec(text)) {
    const chars = (line[1] ?? '').length;
    if (chars > lineChars || wrapped - start > MAX_RUN_CHARS) break;
    wrapped = NEXT_LINE.lastIndex;
    if (chars < lineChars) break;
  }
  return wrapped;
}

/** Decodes a run. Returns undefined if the result is not text. Cost: its length, at most 64 K characters. */
export function decodeRun(text: string, { start, end }: EncodedRun): string | undefined {
  if (end - start < MIN_DECODED_CHARS) return undefined;
  const head = text.slice(start, start + 16);
  const encoding = /^[0-9a-fA-F]+$/.test(head) ? 'hex' : 'base64';
  if (!isPrintable(Buffer.from(head, encoding).toString('latin1'))) return undefined;
  const encoded = text.slice(start, Math.min(end, start + MAX_RUN_CHARS)).replaceAll(/\\[nr]|\s/g, '');
  const decoded = Buffer.from(encoded, encoding).toString('latin1');
  // The last characters may belong to the text after the encoded text.
  return isPrintable(decoded.slice(0, -2)) ? decoded : undefined;
}

function isPrintable(text: string): boolean {
  return /^[\t\n\r\x20-\x7e]*$/.test(text);
}

/** A line of a hex dump (`xxd`, `hexdump -C`): offset, bytes, perhaps their characters. */
const DUMP_LINE =
  /[ \t]{0,16}[0-9a-f]{7,8}:? {1,2}((?:[0-9a-f]{2,4} {1,2}){0,16}[0-9a-f]{2,4})(?: {1,40}[^\n]{1,20})?[ \t]{0,4}(?:\n|$)/y;
const SECOND_DUMP_LINE = /\n[ \t]{0,16}0{5,6}10:? /g;
const MAX_DUMP_CHARS = 4 * MAX_RUN_CHARS;

/** The next hex dump of at least two lines from its offset 0, and its bytes as text. Cost: one search in a text without any. */
export function nextDump(text: string, from: number): (EncodedRun & { readonly decoded: string }) | undefined {
  SECOND_DUMP_LINE.lastIndex = from;
  const second = SECOND_DUMP_LINE.exec(text)?.index;
  if (second === undefined) return undefined;
  const start = Math.max(from, text.lastIndexOf('\n', second - 1) + 1);
  let end = start;
  let decoded = '';
  DUMP_LINE.lastIndex = start;
  for (let line = DUMP_LINE.exec(text); line !== null && end - start < MAX_DUMP_CHARS; line = DUMP_LINE.exec(text)) {
    decoded += Buffer.from((line[1] ?? '').replaceAll(' ', ''), 'hex').toString('latin1');
    end = DUMP_LINE.lastIndex;
  }
  return { start, end: Math.max(end, second + 1), decoded };
}
