/** Returns true if a UTF-16 unit is an ASCII letter. */
export function isLetter(unit: number): boolean {
  const lowerCase = unit | 32;
  return lowerCase >= 0x61 && lowerCase <= 0x7a;
}

/** Returns true if a UTF-16 unit is an ASCII digit. */
export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

export function isLetterOrDigit(unit: number): boolean {
  return isLetter(unit) || isDigit(unit);
}

/** Returns true for the units that `\w` matches: a letter, a digit or `_`. */
export function isWordUnit(unit: number): boolean {
  return isLetter(unit) || isDigit(unit) || unit === 0x5f;
}

/**
 * Returns the UTF-16 unit at an index of a text, or 0 outside the text.
 *
 * Outside the text, `charCodeAt` returns NaN. Once that happens, V8 compiles the call to code that is several times slower
 * for every later unit. A scanner that reads one unit ahead would stay slow.
 */
export function unitAt(text: string, index: number): number {
  return index >= 0 && index < text.length ? text.charCodeAt(index) : 0;
}

/** Returns true if the text contains only ASCII characters. Cost: one pass up to the first other character. */
export function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 127) return false;
  return true;
}
