import { safeText } from '../../core/base/printable.ts';

export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .trim();
}

/** Returns an id as one safe line of at most this many characters. A longer id loses its beginning, because its end is the most specific part. */
export function idTail(id: string, maxChars: number): string {
  const line = safeLine(id);
  return line.length <= maxChars ? line : `…${line.slice(1 - maxChars)}`.toWellFormed();
}
