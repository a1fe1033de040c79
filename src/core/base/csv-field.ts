/**
 * Encodes a CSV field (RFC 4180). The field is quoted if it contains separators, quotes or line breaks, or starts or ends
 * with a space.
 */
export function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
