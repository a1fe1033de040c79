/** A text as one field of a line of CSV (RFC 4180): quoted where it holds what would end it, or blanks at its ends. */
export function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
