/** Kinds that are pictures and nothing else: no scripts, no links. */
const KINDS: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** The first bytes of each, in base64: what calls itself a picture must begin like one. */
const BEGINNINGS: readonly string[] = ['iVBORw0KGgo', '/9j/', 'R0lGOD', 'UklGR'];

/** An address of a picture within the page, or undefined for anything that is not known to be harmless. */
export function safeImage(mediaType: unknown, base64: unknown): string | undefined {
  if (typeof mediaType !== 'string' || typeof base64 !== 'string' || !KINDS.has(mediaType)) return undefined;
  if (!BEGINNINGS.some((beginning) => base64.startsWith(beginning))) return undefined;
  return /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64) ? `data:${mediaType};base64,${base64}` : undefined;
}
