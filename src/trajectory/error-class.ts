import { hashText } from '../base/hash.ts';
import type { AnswerClass } from '../events/trajectory-pattern.ts';
import { lightMask, strongMask } from './mask.ts';

/** The cause a failure speaks of, as far as its words tell. */
export type ErrorCategory = Exclude<AnswerClass, 'content' | 'empty' | 'done'>;

/** How a failure is grouped and told apart. */
export interface ErrorClass {
  readonly category: ErrorCategory;
  /** Equal for failures of one cause, whatever file, number or quotation they name. */
  readonly groupKey: string;
  /** Equal only for failures that say the same thing, but for times and ids. */
  readonly exactKey: string;
  /** Equal also for failures that differ only in the places within files they name: an edit above moves those. */
  readonly placelessKey: string;
  /** The line that says what failed, at most 200 characters. */
  readonly line: string;
}

const CATEGORIES: readonly (readonly [ErrorCategory, RegExp])[] = [
  ['rate-limit', /\b429\b|rate.?limit|too many requests|quota exceeded|overloaded/i],
  ['auth', /\b401\b|unauthori[sz]ed|authentication|not logged in|invalid (?:api key|token|credentials)|expired token/i],
  [
    'permission',
    /\b403\b|permission denied|access denied|forbidden|is denied|not permitted|EACCES|EPERM|not allowed|read-only file system/i,
  ],
  ['timeout', /tim(?:ed|e).?out|ETIMEDOUT|deadline exceeded/i],
  [
    'network',
    /ECONNREFUSED|ECONNRESET|\bENOTFOUND|EAI_AGAIN|EHOSTUNREACH|failed to connect|connection (?:refused|reset|lost|closed)|unreachable|could not resolve|network is/i,
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
    /\b404\b|no such file|not found|could not find|cannot find|does not exist|doesn't exist|ENOENT|no matches|unknown (?:table|column|key)/i,
  ],
  [
    'syntax',
    /syntax ?error|unexpected (?:token|end|eof|indent)|parse error|unterminated|invalid syntax|indentationerror/i,
  ],
];

const SPEAKING =
  /error|fail|denied|cannot|can't|could not|not found|invalid|refused|exception|fatal|unable|panic|timed? ?out|assert/i;
/** `:12:5`, `(12,5)`, `line 12`. */
const PLACE = /(?<=[\w)]):\d+(?::\d+)?(?=[:,)\s])|\(\d+,\d+\)|\bline \d+/g;
const LINE_CHARS = 200;
const SCAN_CHARS = 2_000;

/**
 * Sorts the text of a failed call.
 *
 * @param text  what the tool said, whole; at most 4,000 characters of it are read
 * Cost: a few linear regular expressions over the speaking line.
 */
export function classifyError(text: string): ErrorClass {
  const line = speakingLine(text);
  if (line === '')
    return { category: 'silent', groupKey: 'silent', exactKey: hashText(text), placelessKey: '', line: '' };
  const masked = lightMask(text);
  const category = CATEGORIES.find(([, pattern]) => pattern.test(line))?.[0] ?? 'other';
  return {
    category,
    groupKey: hashText(`${category}:${strongMask(line)}`),
    exactKey: hashText(masked),
    placelessKey: hashText(masked.replace(PLACE, '#')),
    line,
  };
}

/** The line that names the failure: a traceback's last one, else the first that speaks of failure, else the first. */
function speakingLine(text: string): string {
  const head = text.slice(0, SCAN_CHARS);
  const trace = head.includes('Traceback (most recent call last)');
  const lines = (trace ? text.slice(-SCAN_CHARS) : head).split('\n').map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  const chosen = trace ? filled.at(-1) : (filled.find((line) => SPEAKING.test(line)) ?? filled[0]);
  return lightMask((chosen ?? '').slice(0, LINE_CHARS));
}
