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

/** Image formats that cannot contain scripts or links. */
const IMAGE_KINDS: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** The first bytes of these formats in base64. The data must begin with one of them. */
const BEGINNINGS: readonly string[] = ['iVBORw0KGgo', '/9j/', 'R0lGOD', 'UklGR'];

/** Returns a data URL of a picture, or undefined unless the picture is known to be harmless. */
export function safeImage(mediaType: unknown, base64: unknown): string | undefined {
  if (typeof mediaType !== 'string' || typeof base64 !== 'string' || !IMAGE_KINDS.has(mediaType)) return undefined;
  if (!BEGINNINGS.some((beginning) => base64.startsWith(beginning))) return undefined;
  return /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64) ? `data:${mediaType};base64,${base64}` : undefined;
}
