/** Minimum length of a token without punctuation. */
const MIN_RUN_CHARS = 20;
/** Minimum length of a run that is decoded. It gives 24 bytes. */
const MIN_DECODED_CHARS = 32;
/** Maximum number of characters that are decoded. */
const MAX_RUN_CHARS = 65_536;

const BASE64 = new Uint8Array(128);
for (const unit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') BASE64[unit.charCodeAt(0)] = 1;

function isBase64(unit: number): boolean {
  return unit < 128 && BASE64[unit] === 1;
}

/** A sequence of letters, digits and base64 punctuation: a token or encoded text. */
export interface EncodedRun {
  readonly start: number;
  readonly end: number;
}

/** The next run long enough for either. Cost: most texts interrupt runs often, so about every sixth character is read. */
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
    return { start, end };
  }
  return undefined;
}

/** Decodes a run. Returns undefined if the result is not text. Cost: its length, at most 64 K characters. */
export function decodeRun(text: string, { start, end }: EncodedRun): string | undefined {
  if (end - start < MIN_DECODED_CHARS) return undefined;
  const head = text.slice(start, start + 16);
  const encoding = /^[0-9a-fA-F]+$/.test(head) ? 'hex' : 'base64';
  if (!isPrintable(Buffer.from(head, encoding).toString('latin1'))) return undefined;
  const decoded = Buffer.from(text.slice(start, Math.min(end, start + MAX_RUN_CHARS)), encoding).toString('latin1');
  // The last characters may belong to the text after the encoded text.
  return isPrintable(decoded.slice(0, -2)) ? decoded : undefined;
}

function isPrintable(text: string): boolean {
  return /^[\t\n\r\x20-\x7e]*$/.test(text);
}
