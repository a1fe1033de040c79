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
