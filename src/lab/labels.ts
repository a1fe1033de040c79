import { readFile, stat } from 'node:fs/promises';
import { CoxswainError, messageOf, invalidArgument } from '../core/base/error.ts';
import { csvField, fieldText } from '../core/base/csv-field.ts';

/** A person's judgement of a run, or of one call in a run. */
export type LabelTarget =
  /** The agent is stuck and needs advice. */
  | 'stuck'
  /** The agent is not stuck, so advice would be a false alarm. */
  | 'ok'
  /** A person viewed it but did not decide. The label has no effect. */
  | 'skip';

export const LABEL_TARGETS: readonly LabelTarget[] = ['stuck', 'ok', 'skip'];

export interface Label {
  /** A run's id. For one call in the run, it is `RUN@CALL` with the 1-based number of the call. */
  readonly id: string;
  readonly target: LabelTarget;
  /** The part of the data, such as `dev` or `test`. Empty if not specified. */
  readonly split: string;
  readonly note: string;
}

const COLUMNS = ['id', 'target', 'split', 'note'] as const;
type Column = (typeof COLUMNS)[number];

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_NAMED = 3;
const MAX_SHOWN = 80;

/** Throws CoxswainError `input-io` if the file cannot be read, `input-too-large` over 64 MB, and as `parseLabels`. */
export async function readLabels(file: string): Promise<readonly Label[]> {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) {
      throw new CoxswainError('input-too-large', `${file}: ${size} bytes of labels; at most ${MAX_BYTES} are read`);
    }
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    throw new CoxswainError('input-io', `${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  return parseLabels(text, file);
}

/**
 * Parses labels from CSV text. The header has the columns `id`, `target` and optionally `split` and `note`, in any order. Each following
 * line is one label. Blank lines are skipped.
 *
 * @param file  name of the file, for error messages
 * @throws CoxswainError `invalid-argument` with the invalid lines: no header, an unknown column or target, no id, a repeated id, too many
 * or too few fields, an unclosed quote
 */
export function parseLabels(text: string, file: string): readonly Label[] {
  const { rows, problem } = parseCsv(text);
  const problems: string[] = problem === undefined ? [] : [`line ${problem.line}: ${problem.message}`];
  const [header, ...lines] = rows;
  if (header === undefined)
    throw wrongLabels(file, [...problems, 'it is empty; its first line is id,target,split,note']);
  const columns = header.fields.map((name) => name.trim().toLowerCase());
  const invalidColumns = columns.filter((name, index) => !isColumn(name) || columns.indexOf(name) !== index);
  const missingColumns = ['id', 'target'].filter((name) => !columns.includes(name));
  if (invalidColumns.length > 0 || missingColumns.length > 0) {
    const quotedHeader = quotedText(header.fields.join(','));
    throw wrongLabels(file, [`line ${header.line}: the first line must be id,target,split,note, got ${quotedHeader}`]);
  }
  const labels: Label[] = [];
  const lineOf = new Map<string, number>();
  for (const { line, fields } of lines) {
    const addProblem = (message: string): void => void problems.push(`line ${line}: ${message}`);
    if (fields.length !== columns.length) {
      addProblem(`${fields.length} fields where the first line has ${columns.length}`);
      continue;
    }
    const fieldOf = (name: Column): string => fields[columns.indexOf(name)] ?? '';
    const id = fieldOf('id');
    const target = LABEL_TARGETS.find((known) => known === fieldOf('target').trim().toLowerCase());
    const earlierLine = lineOf.get(id);
    if (id === '') addProblem('no id');
    else if (earlierLine !== undefined) addProblem(`${quotedText(id)} is labelled in line ${earlierLine} already`);
    else if (target === undefined)
      addProblem(`target ${quotedText(fieldOf('target'))}; give ${LABEL_TARGETS.join(', ')}`);
    else labels.push({ id, target, split: fieldOf('split').trim(), note: fieldOf('note') });
    if (id !== '' && earlierLine === undefined) lineOf.set(id, line);
  }
  if (problems.length > 0) throw wrongLabels(file, problems);
  return labels;
}

/** Formats labels as CSV (RFC 4180, but with plain line feeds). `parseLabels` reads the same labels back. */
export function formatLabels(labels: readonly Label[]): string {
  const lines = labels.map(({ id, target, split, note }) => [id, target, split, note].map(csvField).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\n')}\n`;
}

function isColumn(name: string): name is Column {
  return COLUMNS.some((column) => column === name);
}

function quotedText(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}

function wrongLabels(file: string, problems: readonly string[]): CoxswainError {
  const remainder = problems.length > MAX_NAMED ? `; and ${problems.length - MAX_NAMED} more` : '';
  return invalidArgument(`${file}: ${problems.slice(0, MAX_NAMED).join('; ')}${remainder}`, {
    details: { file, problems: problems.length },
  });
}

interface CsvRow {
  /** 1-based number of the row's first line. */
  readonly line: number;
  readonly fields: readonly string[];
}

interface ParsedCsv {
  readonly rows: readonly CsvRow[];
  /** Why parsing stopped: an unclosed quote, or text after a closing quote. `rows` contains the rows before it. */
  readonly problem?: { readonly line: number; readonly message: string };
}

/** RFC 4180 with any line endings, a byte order mark and blank lines. Too short for a dependency. */
function parseCsv(text: string): ParsedCsv {
  const rows: CsvRow[] = [];
  const field = /([^",\r\n][^,\r\n]*|)(,|\r\n|\r|\n|$)|"([^"]*(?:""[^"]*)*)"(,|\r\n|\r|\n|$)/y;
  field.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  let startLine = line;
  let fields: string[] = [];
  while (field.lastIndex < text.length || fields.length > 0) {
    const start = field.lastIndex;
    const found = field.exec(text);
    if (found === null) {
      const isOpen = !/^"[^"]*(?:""[^"]*)*"/.test(text.slice(start));
      return {
        rows,
        problem: { line, message: isOpen ? 'a quoted field has no closing quote' : 'text after a closing quote' },
      };
    }
    const [, plain = '', plainEnd, quoted, quotedEnd] = found;
    const end = plainEnd ?? quotedEnd ?? '';
    fields.push(fieldText(quoted === undefined ? plain : quoted.replaceAll('""', '"')));
    line += (quoted?.match(/\r\n|\r|\n/g)?.length ?? 0) + (end === ',' || end === '' ? 0 : 1);
    if (end === ',') continue;
    const isBlank = fields.length === 1 && quoted === undefined && plain.trim() === '';
    if (!isBlank) rows.push({ line: startLine, fields });
    fields = [];
    startLine = line;
    if (end === '') break;
  }
  return { rows };
}
