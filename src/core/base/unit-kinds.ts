export function isLetter(unit: number): boolean {
  const lowerCase = unit | 32;
  return lowerCase >= 0x61 && lowerCase <= 0x7a;
}

export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

export function isLetterOrDigit(unit: number): boolean {
  return isLetter(unit) || isDigit(unit);
}

export function isWordUnit(unit: number): boolean {
  return isLetter(unit) || isDigit(unit) || unit === 0x5f;
}

/** Outside the text, `charCodeAt` returns NaN, which makes V8 compile slower code for every later unit. */
export function unitAt(text: string, index: number): number {
  return index >= 0 && index < text.length ? text.charCodeAt(index) : 0;
}
