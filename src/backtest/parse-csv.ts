/** A row of a CSV text. */
export interface CsvRow {
  /** The line it begins in, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** What a CSV text holds. */
export interface ParsedCsv {
  readonly rows: readonly CsvRow[];
  /** What stops the reading: a quote that does not end, or text behind one. The rows before it are there. */
  readonly problem?: { readonly line: number; readonly message: string };
}

/**
 * The rows of a CSV text as RFC 4180 has it, with any line ends: fields between commas, those in double quotes may hold
 * commas, line breaks and doubled quotes. A byte order mark and blank lines are passed over. By hand, because it is this
 * short, and a library would be one more thing that everybody installs.
 *
 * Cost: one pass.
 */
export function parseCsv(text: string): ParsedCsv {
  const rows: CsvRow[] = [];
  const field = /([^",\r\n][^,\r\n]*|)(,|\r\n|\r|\n|$)|"([^"]*(?:""[^"]*)*)"(,|\r\n|\r|\n|$)/y;
  field.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  let begun = line;
  let fields: string[] = [];
  while (field.lastIndex < text.length || fields.length > 0) {
    const from = field.lastIndex;
    const found = field.exec(text);
    if (found === null) {
      const isOpen = !/^"[^"]*(?:""[^"]*)*"/.test(text.slice(from));
      return { rows, problem: { line, message: isOpen ? 'a quote does not end' : 'text behind a closing quote' } };
    }
    const [, plain = '', plainEnd, quoted, quotedEnd] = found;
    const end = plainEnd ?? quotedEnd ?? '';
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += (quoted?.match(/\r\n|\r|\n/g)?.length ?? 0) + (end === ',' || end === '' ? 0 : 1);
    if (end === ',') continue;
    const isBlank = fields.length === 1 && quoted === undefined && plain.trim() === '';
    if (!isBlank) rows.push({ line: begun, fields });
    fields = [];
    begun = line;
    if (end === '') break;
  }
  return { rows };
}
