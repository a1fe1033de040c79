import { safeText } from '../../base/shown-text.ts';

/** `safeText` in one line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .trim();
}
