import { readFile, stat } from 'node:fs/promises';
import { CoxswainError, messageOf, invalidArgument } from '../base/error.ts';
import { csvField } from '../base/csv-field.ts';

/** What a person says of a run or of a moment of it. */
export type LabelTarget =
  /** The agent is stuck: advice is wanted. */
  | 'stuck'
  /** It is not: advice would be a false alarm. */
  | 'ok'
  /** Looked at and left open: it counts for nothing. */
  | 'skip';

/** Every target. */
export const LABEL_TARGETS: readonly LabelTarget[] = ['stuck', 'ok', 'skip'];

/** One line of a labels file. */
export interface Label {
  /** A run's id, or for a moment of it `RUN@CALL`, with the number of the call, from 1. */
  readonly id: string;
  readonly target: LabelTarget;
  /** The part of the data it belongs to, such as `dev` or `test`; empty where it does not say. */
  readonly split: string;
  /** For people. */
  readonly note: string;
}

const COLUMNS = ['id', 'target', 'split', 'note'] as const;
type Column = (typeof COLUMNS)[number];

const MAX_BYTES = 64 * 1024 * 1024;
/** Problems that one message names; the rest are counted. */
const MAX_NAMED = 3;
/** Of what stands in the file, so much is shown in a message. */
const MAX_SHOWN = 80;

/**
 * Reads a labels file.
 *
 * @throws CoxswainError `input-io` where it cannot be read, `input-too-large` over 64 MB, else as `parseLabels`
 */
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
 * The labels of a CSV text: a header with `id`, `target` and, where wanted, `split` and `note`, in any order; then a line a
 * label. Blank lines are passed over.
 *
 * @param file  for messages
 * @throws CoxswainError `invalid-argument` with the lines that are wrong: no header, a column or target that does not exist,
 * no id, an id that was there before, too many or too few fields, a quote that does not end
 */
export function parseLabels(text: string, file: string): readonly Label[] {
  const { rows, problem } = parseCsv(text);
  const problems: string[] = problem === undefined ? [] : [`line ${problem.line}: ${problem.message}`];
  const [header, ...lines] = rows;
  if (header === undefined)
    throw wrongLabels(file, [...problems, 'it is empty; its first line is id,target,split,note']);
  const columns = header.fields.map((name) => name.trim().toLowerCase());
  const unknown = columns.filter((name, at) => !isColumn(name) || columns.indexOf(name) !== at);
  const missing = ['id', 'target'].filter((name) => !columns.includes(name));
  if (unknown.length > 0 || missing.length > 0) {
    const got = shown(header.fields.join(','));
    throw wrongLabels(file, [`line ${header.line}: the first line must be id,target,split,note, got ${got}`]);
  }
  const labels: Label[] = [];
  const lineOf = new Map<string, number>();
  for (const { line, fields } of lines) {
    const wrong = (message: string): void => void problems.push(`line ${line}: ${message}`);
    if (fields.length !== columns.length) {
      wrong(`${fields.length} fields where the first line has ${columns.length}`);
      continue;
    }
    const field = (name: Column): string => fields[columns.indexOf(name)] ?? '';
    const id = field('id');
    const target = LABEL_TARGETS.find((known) => known === field('target').trim().toLowerCase());
    const before = lineOf.get(id);
    if (id === '') wrong('no id');
    else if (before !== undefined) wrong(`${shown(id)} is labelled in line ${before} already`);
    else if (target === undefined) wrong(`target ${shown(field('target'))}; give ${LABEL_TARGETS.join(', ')}`);
    else labels.push({ id, target, split: field('split').trim(), note: field('note') });
    if (id !== '' && before === undefined) lineOf.set(id, line);
  }
  if (problems.length > 0) throw wrongLabels(file, problems);
  return labels;
}

/** The labels as CSV (RFC 4180, but with plain line feeds); `parseLabels` gives them back unchanged. */
export function formatLabels(labels: readonly Label[]): string {
  const lines = labels.map(({ id, target, split, note }) => [id, target, split, note].map(csvField).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\n')}\n`;
}

function isColumn(name: string): name is Column {
  return COLUMNS.some((column) => column === name);
}

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}

function wrongLabels(file: string, problems: readonly string[]): CoxswainError {
  const more = problems.length > MAX_NAMED ? `; and ${problems.length - MAX_NAMED} more` : '';
  return invalidArgument(`${file}: ${problems.slice(0, MAX_NAMED).join('; ')}${more}`, {
    details: { file, problems: problems.length },
  });
}

/** A row of a CSV text. */
interface CsvRow {
  /** The line it begins in, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** What a CSV text holds. */
interface ParsedCsv {
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
function parseCsv(text: string): ParsedCsv {
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
