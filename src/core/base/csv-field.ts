/** A text with which a spreadsheet would begin a formula, after any number of quotes. */
const FORMULA = /^'*[=+\-@\t\r\n]/;

/** RFC 4180. A formula gets a quote before it, which spreadsheets do not show; `fieldText` removes it. */
export function csvField(value: string | number | boolean): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the text of a field that `csvField` encoded, without the quoting of RFC 4180. */
export function fieldText(field: string): string {
  return field.startsWith("'") && FORMULA.test(field.slice(1)) ? field.slice(1) : field;
}
