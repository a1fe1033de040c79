import { safeText } from '../../base/shown-text.ts';

/** Applies `safeText` and puts the result on one line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .trim();
}
