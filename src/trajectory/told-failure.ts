/**
 * Failures that a program tells of in its output, while nothing flags them and it ends as if all were well: lines by which
 * tools speak of their own failure. Words alone prove nothing, so each form stands where such a line begins or ends.
 */
const TOLD: readonly RegExp[] = [
  /\bnothing was \w+(?:ed|en|ne|ilt)\b/i,
  /^(?:[^\sa-z]\S*\s+){0,4}\[?(?:ERROR|FATAL|CRITICAL|SEVERE)\b(?!\S*[ :=]+0\b)/,
  /^(?:\S{1,120}: ?)?(?:\w+ )?(?:error|fatal)(?:\[\w+\])?: (?!0\b)\S/i,
  /^(?:\S+ ){0,2}[\w.]*(?:Error|Exception) ?: \S/,
  /^\W*(?:build|tests?|job|task|step|run|compilation|migration|deployment|pipeline)\b.{0,80}\b(?:failed|failure)\b/i,
  /^\W*(?:FAIL|FAILED|FAILURE|not ok)\b/,
  /(?<![\w.])(?!0\b)\d+ (?:tests? |specs? |checks? )?(?:failed|failing|failures?)\b/i,
  /\bexit(?:ed)?(?: with)?(?: (?:status|code))?[ :=]+[1-9]\d{0,2}\b|\bnon-zero exit\b/i,
  /^(?:could not|cannot|can't|unable to|failed to) \w/i,
];
/** One of these is in every line of `TOLD`; most outputs hold none. */
const MAY_TELL =
  /nothing was|error|exception|fatal|critical|severe|fail|exit|non-zero|could not|cannot|can't|unable to/i;
/** A last word that takes back what stood above it. */
const ENDS_WELL = /\b(?:done|success\w*|succeeded|completed?|finished|passed|saved|all good|ok)\b/i;
const END_CHARS = 4_000;
const LAST_LINES = 2;

/**
 * Whether the output of a program tells that it failed, and does not end well after all.
 *
 * @param everywhere  whether any line may tell it, or only the last two: for a tool that may merely show what others wrote
 * Cost: one regular expression over 8,000 characters at most, and a few over each line when it matches.
 */
export function tellsFailure(text: string, everywhere: boolean): boolean {
  const read = text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`;
  if (!MAY_TELL.test(read)) return false;
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
/** "Error" in other languages, where it opens an answer. */
const FOREIGN = /^\s*[[(]?(?:fehler|erreur|errore|erro|ошибка|błąd|hata|错误|錯誤|失败|失敗|エラー|오류)/i;
const SOFT_CHARS = 200;

/** Whether an answer that nothing flags is the refusal of what was asked; reads its first 200 characters. */
export function saysFailureSoftly(text: string): boolean {
  const head = text.slice(0, SOFT_CHARS);
  return SOFT_FAILURE.test(head) || FOREIGN.test(head);
}
