/** Letters and digits of ASCII. */
export const ALNUM = 1;
/** `_` */
export const UNDERSCORE = 2;
export const DASH = 4;
/** `.` */
export const DOT = 8;
/** `+`, `/` and `=` */
export const BASE64_EXTRA = 16;
/** Whitespace. */
export const BLANK = 32;

const CLASSES = new Uint8Array(128);
for (const unit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789')
  CLASSES[unit.charCodeAt(0)] = ALNUM;
CLASSES[95] = UNDERSCORE;
CLASSES[45] = DASH;
CLASSES[46] = DOT;
for (const extra of '+/=') CLASSES[extra.charCodeAt(0)] = BASE64_EXTRA;
for (const blank of ' \t\n\r') CLASSES[blank.charCodeAt(0)] = BLANK;

export function isOf(text: string, position: number, mask: number): boolean {
  const unit = text.charCodeAt(position);
  return unit < 128 && ((CLASSES[unit] ?? 0) & mask) !== 0;
}

/** Returns the end of the sequence of units of `mask` that starts at `start`, at most `limit`. Cost: its length. */
export function runEnd(text: string, start: number, mask: number, limit: number = text.length): number {
  let position = start;
  while (position < limit && isOf(text, position, mask)) position += 1;
  return position;
}

/** Returns the start of the sequence of units of `mask` that ends at `end`, at least `limit`. Cost: its length. */
export function runStart(text: string, end: number, mask: number, limit: number): number {
  let position = end;
  while (position > limit && isOf(text, position - 1, mask)) position -= 1;
  return position;
}

export function hasDigit(text: string, start: number, end: number): boolean {
  for (let position = start; position < end; position += 1) {
    const unit = text.charCodeAt(position);
    if (unit >= 48 && unit <= 57) return true;
  }
  return false;
}

/** After any character except a letter or digit, and after an escaped line break or tab. */
export function beginsWord(text: string, position: number): boolean {
  if (!isOf(text, position - 1, ALNUM)) return true;
  return text[position - 2] === '\\' && 'nrtbf'.includes(text[position - 1] ?? ' ');
}
