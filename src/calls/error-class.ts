import { hashText } from '../base/hash.ts';
import type { AnswerClass } from '../records/trajectory-pattern.ts';
import { answerLines } from './answer-lines.ts';
import { failureMask, strongMask } from './mask.ts';

/** The cause a failure speaks of, as far as its words tell. */
export type ErrorCategory = Exclude<AnswerClass, 'content' | 'empty' | 'done'>;

/** How a failure is grouped and told apart. */
export interface ErrorClass {
  readonly category: ErrorCategory;
  /** Equal for failures of one cause, whatever file, number or quotation they name. */
  readonly groupKey: string;
  /** Equal only for failures that say the same thing, but for times and ids. */
  readonly exactKey: string;
  /** Equal for failures whose lines that speak of failure are the same, whatever log stands around them. */
  readonly spokenKey: string;
  /** The same, without the places within files: an edit above moves those. */
  readonly placelessKey: string;
  /** Equal for failures told by the same line, places aside, of which as many are counted: whatever else is printed. */
  readonly lineKey: string;
  /** Equal for failures whose lines differ in nothing but numbers. */
  readonly countlessKey: string;
  /** Hash of the line without digits, as `answerLines` gives it; 0 where there is none. */
  readonly lineHash: number;
  /** The line that says what failed, at most 200 characters. */
  readonly line: string;
}

/** Causes that no change of the arguments will cure. */
export const OUTSIDE: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>([
  'auth',
  'permission',
  'rate-limit',
  'timeout',
  'network',
  'missing-program',
  'validation',
]);

/** Causes for which waiting longer each time is the right answer. */
export const WAITABLE: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['rate-limit', 'timeout', 'network']);

const CATEGORIES: readonly (readonly [ErrorCategory, RegExp])[] = [
  ['rate-limit', /\b429\b|rate.?limit|too many requests|quota exceeded|overloaded/i],
  ['auth', /\b401\b|unauthori[sz]ed|authentication|not logged in|invalid (?:api key|token|credentials)|expired token/i],
  [
    'permission',
    /\b403\b|permission denied|access denied|forbidden|is denied|not permitted|EACCES|EPERM|not allowed|read-only file system/i,
  ],
  ['timeout', /tim(?:ed|e).?out|ETIMEDOUT|deadline exceeded|time limit/i],
  [
    'network',
    /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|\b50[234]\b|service unavailable|bad gateway|temporarily unavailable|slow ?down|\bENOTFOUND|EAI_AGAIN|EHOSTUNREACH|failed to connect|connection (?:refused|reset|lost|closed)|no route to host|unreachable|could not (?:resolve|translate host)|name resolution|name or service not known|NXDOMAIN|getaddrinfo|no address associated|network (?:is|path)/i,
  ],
  [
    'missing-program',
    /command not found|executable file not found|is not recognized as an internal|no module named|cannot find module|module ?not ?found/i,
  ],
  [
    'validation',
    /validation (?:failed|error)|is required|missing (?:required )?(?:parameter|argument|property|field)|invalid (?:argument|parameter|input|type)|schema|unexpected (?:argument|keyword)/i,
  ],
  ['usage', /^\s*usage\b|unrecognized (?:option|argument)|unknown option|invalid option|try '.{1,40}--help'/im],
  [
    'not-found',
    /\b404\b|no such file|not found|could not find|cannot find|unable to find|does not exist|doesn't exist|ENOENT|no matches|unknown (?:table|column|key)/i,
  ],
  [
    'syntax',
    /syntax ?error|sql syntax|unexpected (?:token|end|eof|indent)|parse error|unterminated|invalid syntax|indentationerror/i,
  ],
];

const SPEAKING =
  /error|fail|denied|cannot|can't|could not|not found|invalid|refused|exception|fatal|unable|panic|timed? ?out|assert|nothing was/i;
/** What stands beside it and tells one failure from the next: the values of an assertion. */
const TELLING =
  /expect|actual|received|but was|\bgot\b|left:|right:|missing|undefined|mismatch|undeclared|unresolved|overflow|exceed|too (?:large|big|long|many|few)|remain|will not|does(?: not|n't)/i;
/** A line of a log, or of a build that looks around, that is no failure, whatever words it holds. */
const CHATTER =
  /^[^a-z]{0,60}(?:\[[^\]]{0,40}\] *)?\b(?:INFO|DEBUG|TRACE)\b|^(?:-- |[Cc]hecking |configure: checking |[Ll]ooking for |\[ *\d+%\] )/;
/** `==== FAILURES ====` says nothing of what failed. */
const BANNER = /^([=\-_*#~])\1{2,}.*\1{3}$/;
const HEADING = /^\W*(?:error|fatal|failed|failure|exception)\W*$/i;
/** The line that a traceback ends in; what clears up after it may still say something. */
const RAISED = /^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure|Warning)\b(?:: |$)/;
/** `:12:5`, `(12,5)`, `line 12`. */
const PLACE = /(?<=[\w)]):\d+(?::\d+)?(?=[:,)\s])|\(\d+,\d+\)|\bline \d+/g;
const FAILED = /(?<![\w.])(\d+) (?:failed|failing|failures?|errors?)\b/i;
/** Of its own, or behind a sign; a part of a name is none. */
const NUMBER = /(?<![\w])\d+(?:\.\d+)?/g;
const LINE_CHARS = 200;
/** How much of each end of a long text is looked through for the lines that speak. */
const SPOKEN_CHARS = 8_000;
/** So many of them at each end are compared; the rest only by their number. */
const SPOKEN_LINES = 4;

/**
 * Sorts the text of a failed call.
 *
 * @param text  what the tool said, whole; at most 16,000 characters of it are read
 * Cost: a few linear regular expressions over each line.
 */
export function classifyError(text: string): ErrorClass {
  const lines = linesOf(text);
  const line = speakingLine(text, lines);
  if (line === '') {
    const exactKey = hashText(text);
    return {
      category: 'silent',
      groupKey: 'silent',
      exactKey,
      spokenKey: exactKey,
      placelessKey: '',
      lineKey: 'silent',
      countlessKey: 'silent',
      lineHash: 0,
      line: '',
    };
  }
  const spoken = spokenOf(lines, line);
  const category = CATEGORIES.find(([, pattern]) => pattern.test(line))?.[0] ?? 'other';
  return {
    category,
    groupKey: groupKeyOf(category, line),
    exactKey: hashText(failureMask(text)),
    spokenKey: hashText(spoken),
    placelessKey: hashText(spoken.replace(PLACE, '#')),
    lineKey: hashText(`${line.replace(PLACE, '#')}\n${failedCount(lines)}`),
    countlessKey: hashText(line.replace(NUMBER, '#')),
    lineHash: answerLines(line).lines[0] ?? 0,
    line,
  };
}

/** How many failures are counted, in digits; empty where no line counts them. */
function failedCount(lines: readonly string[]): string {
  for (const line of lines) {
    const found = FAILED.exec(line);
    if (found !== null) return found[1] ?? '';
  }
  return '';
}

/** Equal for lines of one cause, whatever they name. */
export function groupKeyOf(category: ErrorCategory, line: string): string {
  return hashText(`${category}:${strongMask(line)}`);
}

/** The lines of a text that hold something, trimmed; of a long text those of both ends. */
function linesOf(text: string): readonly string[] {
  const read = text.length <= 2 * SPOKEN_CHARS ? text : `${text.slice(0, SPOKEN_CHARS)}\n${text.slice(-SPOKEN_CHARS)}`;
  const lines = read
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  // `ERROR:` on a line of its own: what failed stands on the next.
  if (!lines.some((line) => HEADING.test(line))) return lines;
  return lines.flatMap((line, at) => {
    if (at > 0 && HEADING.test(lines[at - 1] ?? '')) return [];
    return HEADING.test(line) ? [`${line} ${lines[at + 1] ?? ''}`.trim()] : [line];
  });
}

/**
 * The line that names the failure: what a traceback ends in, else the first that speaks of failure, else the first. What
 * a log says of its progress is passed over.
 */
function speakingLine(text: string, lines: readonly string[]): string {
  const trace = text.includes('Traceback (most recent call last)');
  const raised = trace ? (lines.findLast((line) => RAISED.test(line)) ?? lines.at(-1)) : undefined;
  const chosen = raised ?? lines.find((line) => speaks(line)) ?? lines[0];
  return failureMask((chosen ?? '').slice(0, LINE_CHARS));
}

function speaks(line: string): boolean {
  return SPEAKING.test(line) && !CHATTER.test(line) && !BANNER.test(line);
}

/** The lines that speak of failure or tell it apart, masked; all of a text in which none does. */
function spokenOf(lines: readonly string[], line: string): string {
  const spoken = lines.filter((one) => (SPEAKING.test(one) || TELLING.test(one)) && !CHATTER.test(one));
  if (spoken.length === 0) return failureMask(lines.join('\n'));
  const kept =
    spoken.length <= 2 * SPOKEN_LINES ? spoken : [...spoken.slice(0, SPOKEN_LINES), ...spoken.slice(-SPOKEN_LINES)];
  return `${spoken.length}\n${failureMask([line, ...kept].map((one) => one.slice(0, LINE_CHARS)).join('\n'))}`;
}
