import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject, jsonOf } from '../base/json.ts';
import type { ReadingRule } from './reading-rule.ts';

/** A rule that reads the words of an answer. */
interface AnswerRule extends ReadingRule {
  /** Longest answer that is read; of a longer one the rule says no. Default: any length. */
  readonly maxChars?: number;
}

/**
 * How a tool opens an answer that tells of its own failure, in the words of shells, libraries, services and hosts. The word "error"
 * inside a sentence proves nothing: search results and logs are full of it.
 */
const FAILURE_OPENINGS: readonly AnswerRule[] = [
  {
    id: 'opens-with-error',
    form: /^\s*(?:<(?:tool_use_)?error>|[[(*]*(?:error|failure)\b[\])*]*\s*(?:[:!-]|$)|(?:fatal|uncaught|unhandled)\b[^\n]{0,40}:|panic:|segmentation fault|(?:an )?(?:unexpected )?error\b[^\n]{0,60}(?:occurred|executing|running|failed)|something went wrong|mcp error -)/i,
  },
  {
    id: 'opens-with-exception',
    form: /^\s*(?:(?:[a-z_]+\.)*[A-Z]\w*(?:Error|Exception)\b\s*[:(]|Traceback \(most recent call last\))/,
  },
  {
    id: 'opens-with-could-not',
    form: /^\s*(?:(?:failed|unable) to \w|(?:could not|cannot|can't) \w|no such (?:file|directory|tool|command)|(?:unknown|invalid|unsupported) (?:command|argument|action|input|tool|json|syntax|option)|syntax error|command (?:failed|not found)|(?:input )?validation (?:failed|error:)|missing required |(?:tool|request) (?:call |execution )?failed)/i,
  },
  {
    id: 'opens-with-refusal',
    form: /^\s*(?:(?:[\w.-]+: )?(?:refused|rejected|denied): \w|(?:permission|access) (?:is )?denied|permission to \S+ denied|unauthorized\b|forbidden\b|not (?:authori[sz]ed|permitted)|operation not permitted|you (?:do not|don't) have (?:permission|access)|insufficient (?:permission|privilege|scope)|(?:session|token) expired|tool ["'`]?[\w.:-]+["'`]? (?:is|was) (?:denied|disabled|blocked|not (?:allowed|found|available)))/i,
  },
  {
    id: 'opens-with-unreachable',
    form: /^\s*(?:(?:[a-z]+ )?E(?:CONN[A-Z]+|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|IO|ACCES|PERM|NOENT|NOSPC)\b|curl: \(|https?connectionpool\(|fetch failed|socket hang up|connection (?:refused|reset|lost|timed out|aborted)|max retries exceeded|net::err_|ssh: connect to host)/i,
  },
  {
    id: 'opens-with-time-out',
    form: /^\s*(?:[\w.]+: )?(?:(?:the )?(?:execution|operation|request|command) timed out|time ?out\b(?: \d+ ?ms exceeded)?)/i,
  },
  {
    id: 'opens-with-status',
    form: /^\s*(?:(?:HTTP(?:\/[\d.]+)?|status|code)[ :=]+[45]\d\d\b|(?:40[0-9]|429|50[0-4])\b[ :-]+[A-Z]|too many requests|(?:rate|usage) limit|quota exceeded|bad (?:request|gateway)|internal server error|service unavailable|gateway timeout)/i,
  },
  {
    id: 'opens-with-no-edit',
    form: /^\s*(?:(?:string to replace|old_string|ref \S+|element) not found|no (?:replacement|match|occurrence)s? (?:was|were|of)\b|patch does not apply|your proposed edit has introduced)/i,
  },
];

/** What rules say of an answer. */
export type AnswerSays =
  | 'complains'
  | 'refuses'
  | 'tells'
  | 'endsWell'
  | 'noChange'
  | 'ineffective'
  | 'none'
  | 'pending'
  | 'over'
  | 'done'
  | 'doneInJson'
  | 'receipt'
  | 'acts'
  | 'notRun';

const RULES: Readonly<Record<AnswerSays, AnswerRule>> = {
  /** A shell or an interpreter complains on a line of its own. */
  complains: {
    id: 'line-complains',
    form: /^(?:(?:\/?(?:usr\/)?bin\/)?(?:ba|z|da|k)?sh: [^\n]{0,160}(?:not found|no such file or directory|permission denied|syntax error|unexpected)|[\w./-]{1,80}: (?:line \d+: )?[^\n]{0,160}(?:command not found|no such file or directory|permission denied|not a directory|is a directory|cannot access)|Traceback \(most recent call last\):|npm (?:ERR!|error\b)|fatal: |E: |make(?:\[\d+\])?: \*\*\* )/im,
  },
  /** What was asked for is not there, or is guarded: an ordinary answer that refuses. */
  refuses: {
    id: 'refuses-softly',
    form: /^\s*(?:wrong|invalid|incorrect)\b[^\n]{0,60}[!.]?\s*$|does not exist|did(?: not|n't) (?:appear verbatim|match)|verify (?:that )?you are (?:a )?human|\bcaptcha\b/i,
  },
  /** A program speaks of its own failure where such a line begins or ends. */
  tells: {
    id: 'line-tells-failure',
    form: /^(?:[^\sa-z]\S*[ \t]+){0,4}\[?(?:ERROR|FATAL|CRITICAL|SEVERE)\b(?!\S*[ :=]+0\b)|^[ \t]*(?:\S{1,120}: ?)?(?:\w+ )?(?:[Ee]rror|fatal|FATAL|ERROR)(?:\[\w+\])?: (?!0\b)\S|^[ \t]*(?:\S+ ){0,2}[\w.]*(?:Error|Exception) ?: \S|^\W*(?:[Bb]uild|BUILD|[Tt]ests?|[Jj]ob|[Tt]ask|[Ss]tep|[Cc]ompilation)\b.{0,80}\b(?:failed|FAILED|failure|FAILURE)\b|^[-\s]*(?:FAIL|FAILED|FAILURE|not ok)\b|(?<![\w.])(?!0\b)\d+ (?:tests? |specs? |checks? )?(?:failed|failing|failures?)\b(?!\s*[=:]\s*0\b)|\bexit(?:ed)?(?: with)?(?: (?:status|code))?[ :=]+[1-9]\d{0,2}\b|^[ \t]*(?:[Cc]ould not|[Cc]annot|[Uu]nable to|[Ff]ailed to) \w|\b(?:[Ss]egmentation fault|core dumped|nothing was \w+ed)\b/m,
  },
  /** A last line that takes back what stood above it. */
  endsWell: { id: 'ends-well', form: /\b(?:done|success\w*|succeeded|completed?|finished|passed|saved|ok)\b/i },
  noChange: {
    id: 'no-change',
    maxChars: 200,
    form: /\bno (?:changes?|op|modifications?|updates?|replacements?)\b|unchanged|already (?:exists|up.to.date|applied|in (?:place|desired state))|nothing (?:to|has|was|happen|change)|not (?:changed|modified)|\b0 (?:rows?|files?|records?|lines?|items?) (?:affected|changed|updated|modified)|no effect|did nothing/i,
  },
  /** An action came to nothing: an order that a game or a device does not take. */
  ineffective: {
    id: 'ineffective',
    maxChars: 200,
    form: /nothing (?:happen|changed|was (?:changed|done|affected))|(?:no|without|any) (?:visible |further )?effect\b|did nothing|you can(?:'t|not| not) (?:do|go|see|use|take|open|find)|i (?:don't|do not|didn't) (?:understand|know (?:how|what|the word))|not a (?:valid|legal|known|possible) (?:action|move|verb|command|order)|(?:invalid|illegal|impossible) (?:action|move)|did(?: not|n't) (?:move|change|open|budge|respond|react|work|turn|start|do anything)|(?:path|way|route) (?:is )?blocked/i,
  },
  none: {
    id: 'none',
    maxChars: 120,
    form: /(?<![\w.])(?:0|no|none|null|nil|not|empty|zero|false|n\/a|never|without)(?![\w.%])|\[\s*\]|\{\s*\}/i,
  },
  /** Not finished yet. */
  pending: {
    id: 'pending',
    maxChars: 200,
    form: /(?<![a-z])(?:still (?:running|waiting|processing|in progress)|(?:pending|awaiting|waiting)(?:_[a-z_]+)?|queued|in[ _-]?progress|(?:in|under)[ _-]review|not (?:yet )?(?:ready|finished|done|complete|available|started)|processing|scheduled)(?![a-z_]|["']\s*:)|^\W*(?:running|starting|initiali[sz]ing|provisioning|preparing)\b|\b(?:status|state|phase|stage)["']?\s*[:=>]\s*["']?[a-z_ ]*(?:ing|submitted|accepted|started)(?![a-z])|["'](?:progress|percent(?:_?complete)?|pct|completion)["']\s*:\s*["']?(?!100|1\.0|1\b)\d|(?<![\d.])\d{1,2}(?:\.\d+)?\s?% (?:done|complete|finished)|["'](?:is_?)?(?:finished|done|ready|completed?)["']\s*:\s*false/i,
  },
  /** Says of the whole that it is over, whatever a part of it waits for. */
  over: { id: 'over', form: /["'](?:status|state)["']\s*:\s*["'](?:succe|complete|finish|done|ok\b)/i },
  done: {
    id: 'done',
    form: /\b(?:ok|okay|done|success(?:ful(?:ly)?)?|succeeded|completed?|created|deleted|removed|updated|edited|modified|saved|wrote|written|added|applied|sent|submitted|installed|moved|renamed|copied|inserted|replaced|changed|posted|stored|finished|accepted|noted|recorded|remembered|acknowledged|true|healthy|passed|no output)\b|^\W*(?:[\w-]+\W+)?null\W*$/i,
  },
  /** An interface says in JSON that it was done: a status without a body, or how many things it was done to. */
  doneInJson: {
    id: 'done-in-json',
    maxChars: 240,
    form: /^\s*\{(?=[^]*"status_?(?:code)?"\s*:\s*20\d\b)(?=[^]*"body"\s*:\s*(?:""|null|\{\s*\}))|^\s*\{[^]*"(?:updated|inserted|modified|deleted|affected|created|appended)_?(?:rows|columns|cells|records|items|count)"\s*:\s*\d/i,
  },
  /** Something was begun or handed on. */
  receipt: {
    id: 'hands-on',
    maxChars: 240,
    form: /^\W*(?:[\w-]+ ){0,4}(?:(?:started|launched|submitted|queued|enqueued|scheduled|accepted|sent|dispatched)|running in (?:the )?background)\b|["'](?:status|state)["']\s*:\s*["'](?:started|submitted|queued|scheduled|accepted|sent)["']/i,
  },
  /** A call of a parallel turn that was not made because another one of it failed, or that was interrupted. */
  notRun: {
    id: 'not-run',
    maxChars: 300,
    form: /^\W*(?:sibling tool call errored|cancell?ed: parallel tool call\b|(?:request|tool (?:use|call)) (?:was )?(?:interrupted|aborted|cancell?ed)\b)/i,
  },
  /** It begins with what was done on a screen. */
  acts: {
    id: 'acts-on-screen',
    form: /^\W*(?:i |successfully )?(?:clicked|pressed|typed|scrolled|tapped|swiped|moved|dragged|hovered|navigated|waited|focused|selected|filled|entered)\b/i,
  },
};

/** All rules that read the words of answers. */
export const ANSWER_RULES: readonly ReadingRule[] = [...FAILURE_OPENINGS, ...Object.values(RULES)];

/** The rule by which an answer says something; undefined where it does not. */
export function ruleSaying(what: AnswerSays, text: string): ReadingRule | undefined {
  const rule = RULES[what];
  return text.length <= (rule.maxChars ?? Infinity) && rule.form.test(text) ? rule : undefined;
}

/** Ids of all rules that hold of an answer. */
export function rulesOf(text: string): readonly string[] {
  const failure = failureRule(text);
  const said = ANSWER_SAYS.flatMap((what) => ruleSaying(what, text) ?? []);
  return [...new Set([...(failure === undefined ? [] : [failure]), ...said].map(({ id }) => id))];
}

// The record is written above with just these names.
const ANSWER_SAYS = Object.keys(RULES) as readonly AnswerSays[];

/** How much of a result is looked at: failures speak at the top or at the bottom. */
const HEAD_CHARS = 600;
const TAIL_CHARS = 400;

/**
 * Whether a tool result whose source has no error flag reads like a failure. Looks at the first 600 and the last 400 characters, and
 * at JSON of at most 4,000. A guess: what it decides is marked `error_inferred` in the record.
 *
 * Cost: a few linear regular expressions over at most 1,000 characters.
 */
export function inferIsError(text: string): boolean {
  return failureRule(text) !== undefined;
}

/** The rule by which a text reads like a failure. */
function failureRule(text: string): ReadingRule | undefined {
  if (text === '') return undefined;
  if (text.trimStart().startsWith('{')) return jsonFailure(text) === undefined ? undefined : JSON_FAILURE;
  const head = text.slice(0, HEAD_CHARS);
  const opening = FAILURE_OPENINGS.find(({ form }) => form.test(head)) ?? ruleSaying('complains', head);
  return opening ?? (text.length > HEAD_CHARS ? ruleSaying('complains', text.slice(-TAIL_CHARS)) : undefined);
}

const JSON_FAILURE: ReadingRule = { id: 'json-failure', form: /^\s*\{/ };
/** How long a JSON answer may be that is read as a whole for the failure it declares. */
const DECLARED_CHARS = 4_000;
/** Names under which a client hands on what a server answered. */
const WRAPPERS = ['body', 'data', 'result', 'response'] as const;
const FAILED_STATUS = /^"?(?:error|failed|failure|[45]\d\d)"?$/i;
const WELL = /^"?(?:0*|null|none|ok|success)"?$/i;

/**
 * What a JSON answer says of its failure: `declared` where it says both that it failed (`ok` or `success` is false, `isError` true) and
 * why, or holds nothing but an error, which is a flag in another place; `told` where it says either.
 */
export function jsonFailure(text: string): 'declared' | 'told' | undefined {
  if (text.length > DECLARED_CHARS || !text.trimStart().startsWith('{')) return undefined;
  const answer = jsonOf(text);
  if (!isJsonObject(answer)) return undefined;
  const inner = [answer, ...WRAPPERS.map((name) => answer[name])].filter((each) => isJsonObject(each));
  if (inner.some((each) => declares(each))) return 'declared';
  const { ok, success, isError, is_error, status, error, err, errors } = answer;
  const codes = Object.entries(answer).filter(([name]) => /^(?:error|fault)_?(?:code|string|message|msg)$/i.test(name));
  const fails =
    [ok, success].includes(false) ||
    [isError, is_error, error].includes(true) ||
    FAILED_STATUS.test(canonicalJson(status)) ||
    [error, err, errors].some((told) => holdsSomething(told)) ||
    codes.some(([, code]) => !WELL.test(canonicalJson(code)));
  return fails ? 'told' : undefined;
}

function declares(answer: Readonly<Record<string, unknown>>): boolean {
  const { ok, success, isError, is_error, error, errors, message, reason } = answer;
  if (Object.keys(answer).length === 1) return holdsSomething(error) || holdsSomething(errors);
  if (ok !== false && success !== false && isError !== true && is_error !== true) return false;
  return [error, errors, message, reason].some((told) => holdsSomething(told));
}

function holdsSomething(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0;
}

/** How much of each end of the output of a program is read. */
const END_CHARS = 4_000;
const LAST_LINES = /[^\n]*\n?[^\n]*$/;

/**
 * Whether the output of a program tells that it failed, and does not end well after all.
 *
 * @param everywhere  whether any line may tell it, or only the last two: for a tool that may merely show what others wrote
 * Cost: one expression over 8,000 characters at most.
 */
export function tellsFailure(text: string, everywhere: boolean): boolean {
  const ends = text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`;
  const read = ends.trimEnd();
  const lastLine = read.slice(read.lastIndexOf('\n') + 1);
  const tells = (part: string): boolean => ruleSaying('tells', part) !== undefined;
  if (tells(lastLine)) return true;
  if (ruleSaying('endsWell', lastLine) !== undefined) return false;
  return tells(everywhere ? read : (LAST_LINES.exec(read)?.[0] ?? ''));
}
