import { SIGN, signsOf } from './word-signs.ts';

/**
 * Failures that a program tells of in its output, while nothing flags them and it ends as if all were well: lines by which
 * tools speak of their own failure. Words alone prove nothing, so each form stands where such a line begins or ends.
 */
const TOLD: readonly RegExp[] = [
  /\b(?:guru meditation|kernel panic|panic'ed|segmentation fault|core dumped)\b/i,
  /\bnothing was \w+(?:ed|en|ne|ilt)\b/i,
  /^(?:[^\sa-z]\S*\s+){0,4}\[?(?:ERROR|FATAL|CRITICAL|SEVERE)\b(?!\S*[ :=]+0\b)/,
  /^(?:\S{1,120}: ?)?(?:\w+ )?(?:error|fatal)(?:\[\w+\])?: (?!0\b)\S/i,
  /^(?:\S+ ){0,2}[\w.]*(?:Error|Exception) ?: \S/,
  /^\W*(?:build|tests?|job|task|step|run|compilation|migration|deployment|pipeline)\b.{0,80}\b(?:failed|failure)\b/i,
  /^\W*(?:FAIL|FAILED|FAILURE|not ok)\b/,
  /(?<![\w.])(?!0\b)\d+ (?:tests? |specs? |checks? )?(?:failed|failing|failures?)\b(?!\s*[=:]\s*0\b)/i,
  /\bexit(?:ed)?(?: with)?(?: (?:status|code))?[ :=]+[1-9]\d{0,2}\b|\breturned error code [1-9]|\bnon-zero exit\b/i,
  /^(?:could not|cannot|can't|unable to|failed to) \w/i,
  /^\+ FullyQualifiedErrorId\s*:/,
];
/** A last word that takes back what stood above it. */
const ENDS_WELL = /\b(?:done|success\w*|succeeded|completed?|finished|passed|saved|all good|ok)\b/i;
const END_CHARS = 4_000;
const LAST_LINES = 2;

/**
 * Whether the output of a program tells that it failed, and does not end well after all.
 *
 * @param everywhere  whether any line may tell it, or only the last two: for a tool that may merely show what others wrote
 * @param signs  of the text, where a caller has them
 * Cost: a few regular expressions over each line of 8,000 characters at most, where they hold such a word.
 */
export function tellsFailure(text: string, everywhere: boolean, signs: number = signsOf(text)): boolean {
  if ((signs & SIGN.told) === 0) return false;
  const read = text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`;
  const lines = read.split('\n').filter((line) => line.trim() !== '');
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    if (!everywhere && at < lines.length - LAST_LINES) return false;
    const line = lines[at]?.trim() ?? '';
    if (TOLD.some((form) => form.test(line))) return true;
    if (at === lines.length - 1 && ENDS_WELL.test(line)) return false;
  }
  return false;
}

/** Failures that a tool hands over as an ordinary answer. */
const SOFT_FAILURE =
  /^\s*(?:40[0-9]|429|50[0-4])\b[ :-]+[A-Z]|^\s*(?:wrong|invalid|incorrect)\b[^\n]{0,60}[!.]?\s*$|^\s*no (?:replacement|match|occurrence)s? (?:was|were|of)\b|does not exist|did(?: not|n't) (?:appear verbatim|match)|verify (?:that )?you are (?:a )?human|checking (?:your browser|if the site connection)|\bcaptcha\b|^\s*#(?:REF|N\/A|VALUE|NAME|DIV\/0|NUM|NULL|ERROR)[!?]?\s*$/i;
/**
 * How libraries, systems and hosts open the message of a failure, in small letters: sources without a flag for failures
 * hand on just these words. "not found" alone is left out, because it may be what was to be found out.
 */
const MESSAGE_OPENINGS: readonly string[] = (
  'mcp error -|curl: (|httpconnectionpool(|httpsconnectionpool(|net::err_|sqlstate[|[errno |x509: |fetch failed|socket hang up|' +
  'max retries exceeded|maximum retries exceeded|request failed with |the requested url returned error|ssh: connect to host|' +
  'connection refused|connection reset|connection lost|connection timed out|connection aborted|no route to host|' +
  'host key verification failed|operation timed out|the operation timed out|operation not permitted|' +
  'too many requests|quota exceeded|bad request|bad gateway|internal server error|service unavailable|gateway timeout|' +
  "you do not have permission|you don't have permission|you do not have access|you don't have access|" +
  'insufficient permission|insufficient privilege|insufficient scope|not authorized|not authorised|not permitted|' +
  'session expired|token expired|access is denied|resource not accessible by |validation failed|validation error: |' +
  'input validation error|missing required |an error occurred|an unexpected error|something went wrong|' +
  'tool call failed|tool execution failed|string to replace not found|old_string not found|patch does not apply|' +
  'element not found|no element matches|your proposed edit has introduced|the system cannot find |**error**|' +
  'zugriff verweigert|das system kann '
).split('|');
/** The same with a part that varies: a code of the operating system, a tool or thing named first. Each holds a word of `SIGN.opening`. */
const MESSAGE_OPENING =
  /^(?:(?:[a-z]+ )?E(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|IO|ACCES|PERM|NOENT|NOSPC|ISDIR|NOTDIR|BUSY|MFILE|ROFS|XDEV|NOTEMPTY)\b|(?:[A-Z]\w+ ){1,3}(?:was |is )?(?:denied|rejected|refused) by |[Tt]ool ["'`]?[\w.:-]+["'`]? (?:is|was) (?:denied|disabled|blocked|not (?:allowed|found|available|permitted))|(?:[\w.-]+: )?(?:refused|rejected|denied): \w|(?:[\w.]+: )?Timeout \d+ ?ms exceeded|Msg \d+, Level \d+|\d+ validation errors? for |[Rr]ef \S+ not found|[Pp]ermission to \S+ denied|'[^'\n]{1,60}' is not recognized as an internal)/;
/** "Error" in other languages, where it opens an answer. */
const FOREIGN =
  /^\s*[[(]?(?:[a-zäöüß]{0,16}fehler|erreur|errore|erro|ошибка|błąd|hata|错误|錯誤|失败|失敗|エラー|오류)/i;
const SOFT_CHARS = 200;
/** Longer than an opening with the thing it names. */
const OPENING_CHARS = 100;
const START_CHARS = 4;

/** How a match of `SOFT_FAILURE` begins that holds none of its words, in small letters; else it is not even compiled. */
const SOFT_STARTS: readonly string[] = '4|5|#|wrong|invalid|incorrect|no '.split('|');

/**
 * Whether an answer that nothing flags is the refusal of what was asked; reads its first 200 characters.
 *
 * @param signs  `signsOf` at least these characters, where a caller has them
 */
export function saysFailureSoftly(
  text: string,
  signs: number = signsOf(text, 0, Math.min(text.length, SOFT_CHARS)),
): boolean {
  const head = text.slice(0, SOFT_CHARS);
  const begin = head.trimStart();
  const small = begin.slice(0, OPENING_CHARS).toLowerCase();
  const maySoft = (signs & SIGN.refusal) !== 0 || SOFT_STARTS.some((start) => small.startsWith(start));
  if ((maySoft && SOFT_FAILURE.test(head)) || FOREIGN.test(head)) return true;
  const openings = OPENINGS_BY_START.get(small.slice(0, START_CHARS));
  if (openings?.some((opening) => small.startsWith(opening)) === true) return true;
  return (signs & SIGN.opening) !== 0 && MESSAGE_OPENING.test(begin);
}

/** The openings by their first four characters: most answers begin with none of these. */
const OPENINGS_BY_START: ReadonlyMap<string, readonly string[]> = Map.groupBy(MESSAGE_OPENINGS, (opening) =>
  opening.slice(0, START_CHARS),
);
