import { isJsonObject, jsonOf } from '../../base/json.ts';
import { withoutTerminalSequences } from '../../base/printable.ts';

/** The word "error" inside a sentence is not evidence of a failure. */
const FAILURE_OPENINGS: readonly ReadingRule[] = [
  {
    id: 'opens-with-error',
    form: /^\s*(?:<(?:tool_use_)?error>|[[(*]*(?:error|failure)\b[\])*]*\s*(?:[:!-]|$)|(?:fatal|uncaught|unhandled)\b[^\n]{0,40}:|panic:|segmentation fault|(?:unexpected )?error\b[^\n]{0,60}(?:occurred|executing|running|failed)|mcp error -)/i,
  },
  {
    id: 'opens-with-exception',
    form: /^\s*(?:(?:[a-z_]+\.)*[A-Z]\w*(?:Error|Exception)\b\s*[:(]|Traceback \(most recent call last\))/,
  },
  {
    id: 'opens-with-refusal',
    form: /^\s*(?:[\w.-]+: )?(?:(?:failed|unable) to \w|(?:could not|cannot|can't) \w|no such (?:file|directory|tool|command)|(?:unknown|invalid|unsupported) (?:command|argument|input|tool|option)|syntax error|command (?:failed|not found)|(?:refused|rejected|denied): |(?:permission|access) (?:is )?denied|unauthorized\b|forbidden\b|not (?:authori[sz]ed|permitted)|operation not permitted|(?:[a-z]+ )?E(?:CONN[A-Z]+|IO|TIMEDOUT|NOTFOUND|NOENT|ACCES|PERM)\b|curl: \(|connection (?:refused|reset|lost|timed out)|fetch failed|(?:the )?(?:last )?(?:execution|operation|request|command)(?: <command>[^]{0,500}<\/command>)? timed out|time ?out\b|(?:HTTP(?:\/[\d.]+)?|status|code)[ :=]+[45]\d\d\b|(?:40\d|429|50[0-4])\b[ :-]+[A-Z]|too many requests|rate limit)/i,
  },
];

export type AnswerProperty =
  | 'complains'
  | 'refuses'
  | 'reportsFailure'
  | 'endsWell'
  | 'noChange'
  | 'none'
  | 'pending'
  | 'countsPassed'
  | 'done';

/** Rules by property. `maxChars` is the maximum length of the results that a rule reads; default: any length. */
const RULES: Readonly<Record<AnswerProperty, QuickRule & { readonly maxChars?: number }>> = {
  complains: {
    id: 'line-complains',
    form: /^(?:(?:\S*\/)?(?:ba|z|da|k|fi)?sh(?::\d+| line \d+|: line \d+)?: |[\w./-]{1,80}: (?:line \d+: )?[^\n]{0,160}(?:command not found|no such file or directory|permission denied|not a directory|is a directory|cannot access)|Traceback \(most recent call last\):|npm (?:ERR!|error\b)|fatal: |E: |(?:\S*\/)?(?:[efz]?grep|rg): (?!\S+: binary file matches)| *\+ CategoryInfo +: )/im,
  },
  /** A result without an error flag that refuses the call. */
  refuses: {
    id: 'refuses-softly',
    form: /^\s*(?:wrong|invalid|incorrect)\b[^\n]{0,60}[!.]?\s*$|does not exist/i,
  },
  reportsFailure: {
    id: 'line-reports-failure',
    mentions: /ERROR|FATAL|CRITICAL|FAIL|[Ee]rror|[Ee]xception|fatal|[Ff]ail|not ok|exit|ould not|annot|nable to/,
    form: /^(?:[^\sa-z]\S*[ \t]+){0,4}\[?(?:ERROR|FATAL|CRITICAL)\b(?!\S*[ :=]+0\b)|^[ \t]*(?:\S{1,120}: ?)?(?:\w+ )?(?:[Ee]rror|fatal)(?:\[\w+\])?: (?!0\b)\S|^[ \t]*(?:\S+ ){0,2}[\w.]*(?:Error|Exception) ?: \S|^\W*(?:[Bb]uild|BUILD|[Tt]ests?|[Jj]ob)\b.{0,80}\b(?<!\b0 )(?:failed|FAILED|failure|FAILURE)\b|^[-\s]*(?:FAIL|FAILED|not ok)\b|^\W{0,3}fail [1-9]\d*$|(?<![\w.])(?!0\b)\d+ (?:tests? |checks? )?(?:fail|failed|failing|failures?)\b(?!\s*[=:]\s*0\b)|\bexit(?:ed)?(?: with)?(?: (?:status|code))?[ :=]+[1-9]\d{0,2}\b|^[ \t]*(?:[Cc]ould not|[Cc]annot|[Uu]nable to|[Ff]ailed to) \w/m,
  },
  /** A line with the number of passed tests. Errors in earlier lines come from the tested program. */
  countsPassed: { id: 'counts-passed', form: /(?<![\w.])\d+ (?:tests? )?pass(?:ed|ing)?\b/ },
  /** A last line that reports success, so that an error in an earlier line does not count. */
  endsWell: { id: 'ends-well', form: /\b(?:done|success\w*|succeeded|completed?|finished|passed|saved|ok)\b/i },
  noChange: {
    id: 'no-change',
    maxChars: 200,
    form: /\bno (?:changes?|updates?|replacements?)\b|unchanged|already (?:exists|up.to.date|applied)|nothing (?:to|has|was|changed)|not (?:changed|modified)/i,
  },
  none: {
    id: 'none',
    maxChars: 120,
    form: /(?<![\w.])(?:0|no|none|null|nil|not|empty|zero|false|never|without)(?![\w.%])|\[\s*\]|\{\s*\}/i,
  },
  pending: {
    id: 'pending',
    maxChars: 200,
    form: /(?<![a-z])(?:still (?:running|waiting|processing|in progress)|(?:pending|awaiting|waiting)(?:_[a-z_]+)?|queued|in[ _-]?progress|not (?:yet )?(?:ready|finished|done|started)|processing)(?![a-z_]|["']\s*:)|^\W*[a-z]+ing\W*$|\b(?:status|state|phase)["']?\s*[:=>]\s*["']?[a-z_ ]*ing\b|["'](?:progress|percent(?:_?complete)?)["']\s*:\s*["']?(?!100|1\b)\d/i,
  },
  done: {
    id: 'done',
    form: /\b(?:ok|okay|done|success(?:ful(?:ly)?)?|succeeded|completed?|created|deleted|removed|updated|edited|modified|saved|wrote|written|added|applied|sent|submitted|installed|moved|renamed|copied|inserted|replaced|changed|finished|accepted|recorded|true|healthy|passed|clicked|typed|pressed|scrolled)\b|^\W*null\W*$/i,
  },
};

export const ANSWER_RULES: readonly QuickRule[] = [...FAILURE_OPENINGS, ...Object.values(RULES)];

export function answerMatches(property: AnswerProperty, text: string): boolean {
  const { form, maxChars = Infinity, mentions } = RULES[property];
  return text.length <= maxChars && mentions?.test(text) !== false && form.test(text);
}

export function rulesOf(text: string): readonly string[] {
  // The record has exactly these keys.
  const statements = (Object.keys(RULES) as AnswerProperty[]).filter((property) => answerMatches(property, text));
  return [...new Set([failureRule(text) ?? [], statements.map((property) => RULES[property].id)].flat())];
}

const HEAD_CHARS = 600;
const TAIL_CHARS = 400;

/** Reads the first 600 and the last 400 characters, and JSON of at most 4,000. A guess: the record has `error_inferred`. */
export function inferIsError(text: string): boolean {
  return failureRule(withoutTerminalSequences(text)) !== undefined;
}

function failureRule(text: string): string | undefined {
  if (text === '') return undefined;
  if (text.trimStart().startsWith('{')) return reportsFailureAsJson(text) ? 'json-failure' : undefined;
  const head = text.slice(0, HEAD_CHARS);
  const opening = FAILURE_OPENINGS.find(({ form }) => form.test(head))?.id;
  if (opening !== undefined) return opening;
  const complains =
    answerMatches('complains', head) || answerMatches('complains', text.slice(HEAD_CHARS).slice(-TAIL_CHARS));
  return complains ? RULES.complains.id : undefined;
}

const MAX_JSON_CHARS = 4_000;
const FAILED_STATUSES: ReadonlySet<unknown> = new Set(['error', 'failed', 'failure']);

/** `ok: false`, `isError: true`, `status: "error"`, or a non-empty `error`. */
export function reportsFailureAsJson(text: string): boolean {
  if (text.length > MAX_JSON_CHARS || !text.trimStart().startsWith('{')) return false;
  const answer = jsonOf(text);
  if (!isJsonObject(answer)) return false;
  const { ok, success, isError, is_error, status, error, errors } = answer;
  if (ok === false || success === false || isError === true || is_error === true || error === true) return true;
  return FAILED_STATUSES.has(status) || hasContent(error) || hasContent(errors);
}

function hasContent(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0;
}

const END_CHARS = 4_000;

/** For programs that report their own failures. */
export function reportsFailure(text: string): boolean {
  const ends = text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`;
  const trimmed = ends.trimEnd();
  const lastLine = trimmed.slice(trimmed.lastIndexOf('\n') + 1);
  if (answerMatches('reportsFailure', lastLine)) return true;
  if (answerMatches('endsWell', lastLine)) return false;
  const lines = answerMatches('countsPassed', trimmed) ? trimmed.split('\n') : [trimmed];
  const countIndex = lines.findLastIndex((line) => answerMatches('countsPassed', line));
  return answerMatches('reportsFailure', lines.slice(Math.max(0, countIndex)).join('\n'));
}

/** A rule that matches text. `reading-rules.test.ts` has examples of matching and non-matching texts. */
export interface ReadingRule {
  /** Unique id in kebab case. `coxswain show RUN --call N` prints it. */
  readonly id: string;
  readonly form: RegExp;
}

export interface QuickRule extends ReadingRule {
  /** Matches every text that `form` matches, and takes a fraction of its time. Default: no such test. */
  readonly mentions?: RegExp;
}
