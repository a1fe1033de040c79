import { hashText } from '../../base/hash.ts';
import type { ValueOf } from '../../records/shapes.ts';
import { answerLines } from './answer-gist.ts';
import { lightMask, strongMask } from './mask.ts';

/** The cause of a failure, derived from the error text. */
export type ErrorCategory = Exclude<ValueOf<'answer_class'>, 'content' | 'empty' | 'done'>;

/** The category of a failure and the keys used to group and compare failures. */
export interface ErrorClass {
  readonly category: ErrorCategory;
  /** Equal for failures with the same cause. File names, numbers and quoted texts are ignored. */
  readonly groupKey: string;
  /** Equal for failures with the same text. Times and ids are ignored. */
  readonly exactKey: string;
  /** Equal for failures with the same error lines, apart from numbers of lines and columns, which edits change. */
  readonly messageKey: string;
  /** Equal for failures with the same first error line. */
  readonly lineKey: string;
  /** Hash of the error line without digits, as in `answerLines`; 0 without an error line. */
  readonly lineHash: number;
  /** The error line, at most 200 characters. */
  readonly line: string;
}

/** Causes that different arguments cannot fix. */
export const OUTSIDE_CAUSES: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>([
  'auth',
  'permission',
  'rate-limit',
  'timeout',
  'network',
  'missing-program',
  'validation',
]);

/** Causes for which the agent should wait longer. */
export const WAITABLE_CAUSES: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['rate-limit', 'timeout', 'network']);

const CATEGORIES: readonly (readonly [ErrorCategory, RegExp])[] = [
  ['rate-limit', /\b429\b|rate.?limit|too many requests|quota exceeded/i],
  ['auth', /\b401\b|unauthori[sz]ed|authentication|not logged in|invalid (?:api key|token|credentials)/i],
  ['permission', /\b403\b|permission denied|access denied|forbidden|is denied|not permitted|EACCES|EPERM|not allowed/i],
  ['timeout', /tim(?:ed|e).?out|ETIMEDOUT|deadline exceeded|time limit/i],
  [
    'network',
    /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|\b50[234]\b|service unavailable|bad gateway|\bENOTFOUND|failed to connect|connection (?:refused|reset|lost|closed)|unreachable|could not resolve|name resolution|name or service not known|getaddrinfo/i,
  ],
  ['missing-program', /command not found|executable file not found|no module named|cannot find module/i],
  [
    'validation',
    /validation (?:failed|error)|is required|missing (?:required )?(?:parameter|argument|property|field)|invalid (?:argument|parameter|input|type)|schema|unexpected (?:argument|keyword)/i,
  ],
  ['usage', /^\s*usage\b|unrecognized (?:option|argument)|(?:unknown|invalid) option|try '.{1,40}--help'/im],
  [
    'not-found',
    /\b404\b|no such file|not found|could not find|cannot find|does not exist|doesn't exist|ENOENT|no matches|unknown (?:table|column|key)/i,
  ],
  [
    'syntax',
    /syntax ?error|sql syntax|unexpected (?:token|end|eof|indent)|parse error|invalid syntax|indentationerror/i,
  ],
];

const NAMES_FAILURE =
  /error|fail|denied|cannot|can't|could not|not found|invalid|refused|exception|fatal|unable|panic|timed? ?out|assert/i;
/** Lines that distinguish one failure from another, such as the values of an assertion. */
const DISTINGUISHES =
  /expect|actual|received|but was|\bgot\b|missing|undefined|mismatch|overflow|exceed|too (?:large|long|many)|will not|does(?: not|n't)/i;
/** A log line with a level below warning. It is not a failure, whatever words it contains. */
const LOG_LINE = /^[^a-z]{0,60}(?:\[[^\]]{0,40}\] *)?\b(?:INFO|DEBUG|TRACE)\b/;
/** A line that names no failure: a banner such as `==== FAILURES ====`, a passed test, an echoed command. */
const NAMES_NO_FAILURE = /^(?:([=\-_*#~])\1{2,}.*\1{3}$|\(pass\)|[✓✔]|ok \d|(?:--- )?PASS\b|\$ )/;
const HEADING = /^\W*(?:error|fatal|failed|failure|exception)\W*$/i;
const RAISED_LINE = /^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure|Warning)\b(?:: |$)/;
/** A position in a file: `:12:5`, `(12,5)`, `line 12`. */
const POSITION = /(?<=[\w)]):\d+(?::\d+)?(?=[:,)\s])|\(\d+,\d+\)|\bline \d+/g;
const LINE_CHARS = 200;
const END_CHARS = 8_000;
/** Number of error lines compared at each end. Other error lines are only counted. */
const END_LINES = 4;

/** Reads at most 16,000 characters. Cost: a few linear regular expressions over each line. */
export function classifyError(text: string): ErrorClass {
  const lines = linesOf(text);
  const line = findErrorLine(text, lines);
  if (line === '') {
    const keys = { groupKey: 'silent', exactKey: hashText(text), messageKey: '', lineKey: 'silent' };
    return { category: 'silent', ...keys, lineHash: 0, line };
  }
  const category = CATEGORIES.find(([, pattern]) => pattern.test(line))?.[0] ?? 'other';
  return {
    category,
    groupKey: groupKeyOf(category, line),
    exactKey: hashText(lightMask(text)),
    messageKey: hashText(failureMessage(lines, line).replace(POSITION, '#')),
    lineKey: hashText(line.replace(POSITION, '#')),
    lineHash: answerLines(line).lines[0] ?? 0,
    line,
  };
}

export function namesFailure(text: string): boolean {
  return NAMES_FAILURE.test(text);
}

/** Returns a key that is equal for error lines with the same cause. The names of files and values are ignored. */
export function groupKeyOf(category: ErrorCategory, line: string): string {
  return hashText(`${category}:${strongMask(line)}`);
}

function linesOf(text: string): readonly string[] {
  const endsText = text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`;
  const lines = endsText
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.flatMap((line, index) => {
    if (HEADING.test(lines[index - 1] ?? '')) return [];
    return HEADING.test(line) ? [`${line} ${lines[index + 1] ?? ''}`.trim()] : [line];
  });
}

/** Returns the error line: the last line of a traceback, else the first line that names a failure, else the first line. */
function findErrorLine(text: string, lines: readonly string[]): string {
  const hasTraceback = text.includes('Traceback (most recent call last)');
  const raisedLine = hasTraceback ? (lines.findLast((line) => RAISED_LINE.test(line)) ?? lines.at(-1)) : undefined;
  const line = raisedLine ?? lines.find((row) => NAMES_FAILURE.test(row) && !isNoise(row)) ?? lines[0] ?? '';
  return lightMask(line.slice(0, LINE_CHARS));
}

function isNoise(line: string): boolean {
  return LOG_LINE.test(line) || NAMES_NO_FAILURE.test(line);
}

function failureMessage(lines: readonly string[], line: string): string {
  const errorLines = lines.filter((row) => (NAMES_FAILURE.test(row) || DISTINGUISHES.test(row)) && !LOG_LINE.test(row));
  if (errorLines.length === 0) return lightMask(lines.join('\n'));
  const ends =
    errorLines.length <= 2 * END_LINES
      ? errorLines
      : [...errorLines.slice(0, END_LINES), ...errorLines.slice(-END_LINES)];
  return `${errorLines.length}\n${lightMask([line, ...ends].map((row) => row.slice(0, LINE_CHARS)).join('\n'))}`;
}
