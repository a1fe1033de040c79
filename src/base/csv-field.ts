/** Encodes a CSV field (RFC 4180): quoted if it has separators, quotes, line breaks, or spaces at its ends. */
export function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
