import { isJsonObject, jsonOf } from '../base/json.ts';

/**
 * Openings and lines that tools use for failure when nothing flags it. Kept to forms in which a tool speaks
 * of its own failure at the start of a line; the word "error" inside a sentence proves nothing (search
 * results and logs are full of it).
 */
export const FAILURE_AT_START: RegExp =
  /^\s*(?:<(?:tool_use_)?error>|\[?error\]?\s*[:!-]|(?:fatal|uncaught|unhandled)\b[^\n]{0,40}:|(?:[a-z_.]*\.)?[A-Z]\w*(?:Error|Exception)\b\s*[:(]|Traceback \(most recent call last\)|error\b[^\n]{0,60}(?:occurred|executing|running|failed)|(?:failed|unable|could not|cannot|can't) (?:to )?\w+|command (?:failed|not found|timed out)|permission denied|access denied|unauthorized\b|forbidden\b|invalid (?:command|argument|action|input|tool|json|syntax)|no such (?:file|directory|tool|command)|unknown (?:command|tool|action)|syntax error|execution timed out|time ?out\b|request timed out|HTTP(?:\/[\d.]+)? [45]\d\d\b|(?:status|code)[ :=]+[45]\d\d\b|panic:|segmentation fault|usage limit|rate limit)/i;

/** A shell's or interpreter's complaint on a line of its own. */
const FAILURE_LINE =
  /(?:(?:\/?(?:usr\/)?bin\/)?(?:ba|z|da|k)?sh: (?:[^\n]{0,160})(?:not found|no such file or directory|permission denied|syntax error|unexpected)|[\w./-]{1,80}: (?:line \d+: )?[^\n]{0,160}(?:command not found|no such file or directory|permission denied|not a directory|is a directory|cannot access)|Traceback \(most recent call last\):|npm (?:ERR!|error\b)|fatal: |E: |make(?:\[\d+\])?: \*\*\* )/iy;

/** How much of a result is looked at: failures speak at the top or at the bottom. */
const HEAD_CHARS = 600;
const TAIL_CHARS = 400;

/** A short JSON result that says itself that it failed. */
const JSON_FAILURE =
  /^\s*\{[^]{0,200}"(?:error|err|error_message)"\s*:\s*(?:"[^"]|\{|true)|^\s*\{[^]{0,120}"(?:ok|success)"\s*:\s*false|^\s*\{[^]{0,200}"errors"\s*:\s*\[\s*[{"]|^\s*\{[^]{0,120}"is_?error"\s*:\s*true|^\s*\{[^]{0,120}"status"\s*:\s*(?:"error"|"failed"|[45]\d\d)|^\s*\{[^]{0,300}"(?:error_?(?:code|msg|message|desc\w*|text|reason|no|nr|number)|(?:cod[eigo]{1,3}|kod)_?(?:error[ei]?|erreur)|fehler_?(?:code|text|nr|nummer|meldung)|fault_?(?:code|string))"\s*:\s*(?:"(?!0*"|none"|ok"|success)|[1-9]|\{)/i;

/**
 * Whether a tool result whose source has no error flag reads like a failure. Looks at the first 600 and the
 * last 400 characters. A guess: what it decides is marked `error_inferred` in the record.
 *
 * Cost: a few linear regular expressions over at most 1,000 characters.
 */
export function inferIsError(resultText: string): boolean {
  if (resultText.length === 0) return false;
  const head = resultText.slice(0, HEAD_CHARS);
  if (failsAtStart(head) || hasFailureLine(head)) return true;
  if (resultText.length <= HEAD_CHARS) return false;
  return hasFailureLine(resultText.slice(-TAIL_CHARS));
}

/** How long a JSON answer may be that is read as a whole for the failure it declares. */
const DECLARED_CHARS = 4_000;

/**
 * Whether a JSON answer says both that it failed (`ok` or `success` is false, `isError` true) and why (`error`, `errors`,
 * `message` or `reason` holds something), or holds nothing but an error: that is a flag, only in another place.
 *
 * Cost: parses at most 4,000 characters that open like an object.
 */
export function declaresFailure(resultText: string): boolean {
  if (resultText.length > DECLARED_CHARS || !resultText.trimStart().startsWith('{')) return false;
  // An answer that only looks like JSON declares nothing.
  const answer = jsonOf(resultText);
  if (!isJsonObject(answer)) return false;
  return tellsOfFailure(answer) || WRAPPERS.some((name) => isJsonObject(answer[name]) && tellsOfFailure(answer[name]));
}

/** Longer answers tell more than that. */
const WITHHELD_CHARS = 400;

/**
 * Whether a short JSON answer says of one thing that it is not so, and gives a `reason`: `{"reserved": false, "reason": "…"}`. Of
 * what was to be done that is a refusal; of a question it is an answer.
 */
export function withholds(resultText: string): boolean {
  if (resultText.length > WITHHELD_CHARS || !resultText.includes('"reason"')) return false;
  const answer = jsonOf(resultText);
  if (!isJsonObject(answer)) return false;
  return [answer, ...WRAPPERS.map((name) => answer[name])].some(
    (told) => isJsonObject(told) && holdsSomething(told['reason']) && Object.values(told).includes(false),
  );
}

/** Names under which a client hands on what a server answered. */
const WRAPPERS = ['body', 'data', 'result', 'response'] as const;

function tellsOfFailure(answer: Readonly<Record<string, unknown>>): boolean {
  const { ok, success, isError, is_error, error, errors, message, reason } = answer;
  if (Object.keys(answer).length === 1) return holdsSomething(error) || holdsSomething(errors);
  if (ok !== false && success !== false && isError !== true && is_error !== true) return false;
  return [error, errors, message, reason].some((told) => holdsSomething(told));
}

function holdsSomething(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0;
}

/** The patterns are large, and a short-lived process would compile them for one look: most answers cannot match. */
function failsAtStart(head: string): boolean {
  const begin = head.trimStart();
  if (begin.startsWith('{')) return JSON_FAILURE.test(head);
  if (begin.startsWith('<') && SOAP_FAULT.test(head)) return true;
  return mayFailAtStart(begin.slice(0, OPENING_CHARS).toLowerCase()) && FAILURE_AT_START.test(head);
}

/** How a SOAP service refuses. */
const SOAP_FAULT = /<(?:\w+:)?Fault\b[^>]*>\s*<(?:\w+:)?(?:faultcode|Code)\b/;
/** Longer than the name of any error. */
const OPENING_CHARS = 120;

/** What every match of `FAILURE_AT_START` begins with, but for the name of an error. */
const FAILURE_OPENINGS = (
  "<,[error,error,fatal,uncaught,unhandled,traceback,failed,unable,could not,cannot,can't,command ,permission denied," +
  'access denied,unauthorized,forbidden,invalid ,no such ,unknown ,syntax error,execution timed,time,request timed,http,' +
  'status,code,panic:,segmentation,usage limit,rate limit'
).split(',');

/** Never wrongly false. @param begin  in small letters */
export function mayFailAtStart(begin: string): boolean {
  for (const opening of FAILURE_OPENINGS) if (begin.startsWith(opening)) return true;
  // `some.module.SomeError`
  let end = 0;
  while (isNameUnit(begin.charCodeAt(end))) end += 1;
  return /error|exception/.test(begin.slice(0, end));
}

/** A letter, a digit, `_` or `.`, of ASCII. */
function isNameUnit(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39) || unit === 0x5f || unit === 0x2e;
}

function hasFailureLine(text: string): boolean {
  for (let start = 0; start < text.length;) {
    if (mayComplain(text, start)) {
      FAILURE_LINE.lastIndex = start;
      if (FAILURE_LINE.test(text)) return true;
    }
    const end = text.indexOf('\n', start);
    if (end < 0) return false;
    start = end + 1;
  }
  return false;
}

/** Whether a line opens like a complaint: `word:`, `Traceback `, `npm `, `make[1]:`. Never wrongly false. */
function mayComplain(text: string, start: number): boolean {
  let end = start;
  for (; end < text.length; end += 1) {
    const unit = text.charCodeAt(end);
    if (unit === 58) return true;
    if (unit <= 44 || unit === 10 || (unit > 58 && unit < 65)) break;
  }
  const first = text.charCodeAt(start) | 32;
  return first === 116 || first === 110 || first === 109;
}
