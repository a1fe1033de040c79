/** How much of each end of a text is masked; what lies between is compared as it is. */
const END_CHARS = 4_096;

/**
 * What changes from one call to the next without meaning anything: times, dates, UUIDs, process ids, durations,
 * temporary paths, and values under keys that name a receipt. Plain numbers stay, because they are progress.
 *
 * By what they begin with, in the order in which they are tried: a process compiles only what its texts call for.
 */
const AT_DIGIT = [
  // 2026-03-01T10:10:00.123Z, 2026-03-01 10:10:00, 2026/03/01
  String.raw`\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?`,
  // 12:01:11, 12:01:11.250
  String.raw`\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b`,
];
const AT_HEX = [
  // UUID
  String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
  // 0x7f3a2c001040, long hexadecimal ids that hold a digit
  String.raw`\b0x[0-9a-f]{6,}\b`,
  String.raw`\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}\b`,
];
const AFTER_HEX = [
  // Unix times in seconds, milliseconds and microseconds
  String.raw`\b1[5-9]\d{8}(?:\d{3}){0,2}\b`,
  // 0.12s, 12 ms, 3.4 seconds
  String.raw`\b\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|s|sec|secs|seconds?|minutes?)\b`,
];
const AT_WORD = [
  // pid 4711, session s-9000, request 88f
  String.raw`\b(?:pid|process|session|request|req|trace|span|job ?id)[ #]+(?=[\w-]*[\d-])[\w-]+`,
  // "messageId": "m-7000", reqId=18697, ts: 12
  String.raw`\b(?:message|msg|request|req|trace|span|correlation|session|event|receipt|run|invocation|process)_?-?id["']?\s*[:=]\s*["']?[\w.:-]+`,
  String.raw`\b(?:uuid|guid|nonce|etag)["']?\s*[:=]\s*["']?[\w.:+-]+`,
  String.raw`\b(?:pid|ts|timestamp|time|elapsed|duration|duration_ms|took|created_?at|updated_?at|date)["']?\s*[:=]\s*["']?(?=[\w.:+-]*\d)[\w.:+-]+`,
];
// /tmp/abc123, /var/folders/..., C:\Users\x\AppData\Local\Temp\...
const AT_SLASH = [String.raw`(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[\w./-]+`];

const VOLATILE_DIGIT = volatile([...AT_DIGIT, ...AT_HEX, ...AFTER_HEX]);
const VOLATILE_HEX = volatile([...AT_HEX, ...AT_WORD]);
const VOLATILE_WORD = volatile(AT_WORD);
const VOLATILE_SLASH = volatile(AT_SLASH);

/** All of them in one, wherever they begin: what `lightMask` finds. */
export function volatilePattern(): RegExp {
  return volatile([...AT_DIGIT, ...AT_HEX, ...AFTER_HEX, ...AT_WORD, ...AT_SLASH]);
}

function volatile(alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|'), 'iy');
}

/**
 * The text with what is volatile replaced by `~`, so that two results that differ only in a clock or a receipt
 * number are equal. Masks the first and the last 4,096 characters.
 *
 * Cost: one pass over at most 8,192 characters, and a regular expression where something volatile may begin; nothing
 * when the text holds no digit.
 */
export function lightMask(text: string): string {
  if (text.length <= 2 * END_CHARS) return maskPiece(text);
  return maskPiece(text.slice(0, END_CHARS)) + text.slice(END_CHARS, -END_CHARS) + maskPiece(text.slice(-END_CHARS));
}

/** The same as `piece.replace` with a global expression, but only looks where something volatile may begin. */
function maskPiece(piece: string): string {
  if (!HAS_DIGIT.test(piece)) return piece;
  let masked = '';
  let done = 0;
  let isInWord = false;
  for (let at = 0; at < piece.length; at += 1) {
    const unit = piece.charCodeAt(at);
    const opening = unit < 128 ? OPENINGS[unit] : NOTHING;
    const wasInWord = isInWord;
    isInWord = opening !== NOTHING && opening !== SLASH;
    if (opening === NOTHING || (wasInWord && isInWord) || !mayBegin(piece, at, opening)) continue;
    const pattern = volatileAt(opening);
    pattern.lastIndex = at;
    const found = pattern.exec(piece);
    if (found === null) continue;
    masked += `${piece.slice(done, at)}~`;
    done = at + found[0].length;
    at = done - 1;
    isInWord = isWordUnit(piece.charCodeAt(at));
  }
  return done === 0 ? piece : masked + piece.slice(done);
}

/** How the paths begin that `AT_SLASH` names. */
const TEMPORARY: ReadonlySet<string> = new Set(['tm', 'va', 'de', 'pr']);

function volatileAt(opening: number | undefined): RegExp {
  if (opening === DIGIT) return VOLATILE_DIGIT;
  if (opening === SLASH) return VOLATILE_SLASH;
  return opening === HEX ? VOLATILE_HEX : VOLATILE_WORD;
}

const HAS_DIGIT = /\d/;

/** What a character can open, from the least to the most. */
const NOTHING = 0;
const PLAIN = 1;
const WORD = 2;
const HEX = 3;
const DIGIT = 4;
const SLASH = 5;

/** Third letters, as bits, by the first two, of the words that name something volatile; `ts` has but two. */
const THIRD_LETTERS = new Uint32Array(32 * 32);
const OPENINGS = new Uint8Array(128);
for (let unit = 0; unit < 128; unit += 1) {
  // By numbers: this runs in every process, and regular expressions would take longer than all the rest of it.
  const small = unit | 32;
  const isLetter = small >= 0x61 && small <= 0x7a;
  if (isLetter || unit === 0x5f) OPENINGS[unit] = PLAIN;
  if (isLetter && small <= 0x66) OPENINGS[unit] = HEX;
  if (unit >= 0x30 && unit <= 0x39) OPENINGS[unit] = DIGIT;
  if (unit === 0x2f) OPENINGS[unit] = SLASH;
}
for (const word of 'pid pro ses req tra spa job mes msg cor eve rec run inv uui gui non eta tim ela dur too cre upd dat'.split(
  ' ',
)) {
  const first = word.charCodeAt(0);
  const pair = pairOf(first, word.charCodeAt(1));
  THIRD_LETTERS[pair] = (THIRD_LETTERS[pair] ?? 0) | (1 << (word.charCodeAt(2) & 31));
  for (const unit of [first, first - 32]) if (OPENINGS[unit] === PLAIN) OPENINGS[unit] = WORD;
}

function pairOf(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

/** Whether something volatile may begin here, where a word or a path does. Never wrongly false. */
function mayBegin(piece: string, at: number, opening: number | undefined): boolean {
  if (opening === PLAIN) return false;
  if (opening === DIGIT) return mayBeginWithDigit(piece, at);
  const second = piece.charCodeAt(at + 1);
  // `/tmp`, `/var`, `/dev`, `/private`.
  if (opening === SLASH) return TEMPORARY.has(piece.slice(at + 1, at + 3).toLowerCase());
  const first = piece.charCodeAt(at);
  const thirds = THIRD_LETTERS[pairOf(first, second)] ?? 0;
  if (thirds !== 0 && ((thirds >>> (piece.charCodeAt(at + 2) & 31)) & 1) === 1) return true;
  if (opening === HEX) return hasHexRun(piece, at);
  return (first | 32) === 116 && (second | 32) === 115 && !isWordUnit(piece.charCodeAt(at + 2));
}

/** A date, a time, a Unix time, a duration, `0x…` or a hexadecimal id, by the number of digits and what follows. */
function mayBeginWithDigit(piece: string, at: number): boolean {
  let end = at + 1;
  while (isDigit(piece.charCodeAt(end))) end += 1;
  const digits = end - at;
  const next = piece.charCodeAt(end);
  // A date or a time.
  if (next === 45 || next === 47) return digits === 4 || hasHexRun(piece, at);
  if (next === 58 && digits <= 2) return isDigit(piece.charCodeAt(end + 1));
  if (digits >= 10 || hasHexRun(piece, at)) return true;
  // A fraction, a blank or a unit, or `0x`.
  if (next === 46) return isDigit(piece.charCodeAt(end + 1));
  if (next === 32 || (next >= 9 && next <= 13)) return isUnit(piece.charCodeAt(end + 1));
  return isUnit(next) || next === 120 || next === 88;
}

/** First letter of a unit of time; anything that is not ASCII may be a blank or the micro sign. */
function isUnit(unit: number): boolean {
  const lower = unit | 32;
  return lower === 109 || lower === 110 || lower === 115 || lower === 117 || unit > 127;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function isWordUnit(unit: number): boolean {
  const opening = unit < 128 ? OPENINGS[unit] : NOTHING;
  return opening !== NOTHING && opening !== SLASH;
}

/** Eight hexadecimal digits in a row. */
function hasHexRun(piece: string, at: number): boolean {
  for (let end = at; end < at + 8; end += 1) {
    const unit = piece.charCodeAt(end);
    const opening = unit < 128 ? OPENINGS[unit] : NOTHING;
    if (opening !== HEX && opening !== DIGIT) return false;
  }
  return true;
}

const SPECIFIC =
  /https?:\/\/[^\s"')\]]+|"[^"\n]{0,400}"|'[^'\n]{0,400}'|`[^`\n]{0,400}`|\[[^\]\n]{0,400}\]|(?:[A-Za-z]:)?(?:[\w.@~-]*[\\/])+[\w.@~-]+|\b[\w-]+\.[a-z]{1,4}\b|\b0x[0-9a-f]+\b|\d+/gi;

/**
 * A line with everything that names a particular thing (paths, quotations, brackets, numbers) replaced, to
 * group errors of one cause. Never used to tell whether a result is new.
 *
 * @param line  a few hundred characters at most
 */
export function strongMask(line: string): string {
  return line.replace(SPECIFIC, '#').replace(/\s+/g, ' ').trim().toLowerCase();
}
