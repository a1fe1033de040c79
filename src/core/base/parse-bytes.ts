/** A number above 0 with a unit: `500MB`, `2GB`, `1.5GiB`. */
export const BYTES_TEXT: RegExp = /^(?=.*[1-9])(\d{1,9}(?:\.\d{1,3})?) ?(B|[kK]B|MB|GB|TB|KiB|MiB|GiB|TiB)$/;

const FACTORS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

/**
 * Parses a size such as `500MB` (powers of 1,000) or `2GiB` (powers of 1,024) to a number of bytes from 1. Returns
 * undefined if the text is invalid.
 */
export function parseBytes(text: string): number | undefined {
  const [, digits, unit = ''] = BYTES_TEXT.exec(text) ?? [];
  return digits === undefined ? undefined : Math.max(1, Math.floor(Number(digits) * (FACTORS[unit] ?? 0)));
}
