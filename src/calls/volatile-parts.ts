import { assertNever } from '../base/assert-never.ts';
import { unitAt } from '../base/unit-at.ts';
import { isBlank, isDigit, isHexUnit, isLetter, isWordUnit } from '../base/unit-kinds.ts';

/**
 * What changes from one call to the next without meaning anything: times, dates, UUIDs, process ids, durations,
 * temporary paths, and values under keys that name a receipt. Plain numbers stay, because they are progress.
 *
 * By what they begin with, in the order in which they are tried: a process compiles only what its texts call for.
 */
const AT_DIGIT = [
  // 2026-03-01T10:10:00.123Z, 2026-03-01 10:10:00, 2026/03/01
  String.raw`\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?|T\d{2}[-_]\d{2}(?:[-_]\d{2}(?:[-_.]\d+)?)?Z?)?`,
  // 20260301T101000Z
  String.raw`\b20\d{6}T\d{6}Z?\b`,
  // 12:01:11, 12:01:11.250, 0:01.94
  String.raw`\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?|\.\d+)\b`,
];
// "took_ms": 12, savedAt=1034, response_time: 0.2
const AT_VALUE = [
  String.raw`(?<=(?:[_-](?:ms|at|time)|(?<![a-z])(?:run|wall|cpu)time|(?-i:[a-z](?:Ms|At|Time))|(?<![a-z])(?:elapsed|duration|took|latency|uptime)(?:_?(?:ms|s|secs?|seconds|millis|time))?)["']?\s?[:=]\s?["']?)\d[\w.:+-]*`,
];
const AFTER_VALUE = [
  // localhost:49152, a port that a system gives for one connection
  String.raw`(?<=(?:localhost|\.\d{1,3}):)(?:3[3-9]|[45]\d|6[0-5])\d{3}\b`,
];
const AT_HEX = [
  // UUID, also glued to a word: img_6948e56e-d57e-4780-aec2-9506bfc35506
  String.raw`(?<![a-z\d])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![a-z\d])`,
  // 5feceb66-ffc8-6f38, a part of one
  String.raw`(?<![a-z\d])(?=[0-9a-f-]*\d)[0-9a-f]{8}(?:-[0-9a-f]{4}){1,3}(?![a-z\d])`,
  // 0x7f3a2c001040, hexadecimal ids: of whole bytes, with a digit and a letter
  String.raw`\b0x[0-9a-f]{6,}\b`,
  // no digest: that tells one content from another
  String.raw`(?<![a-z\d])(?<!(?:sha\d{0,3}|md5|crc\d{0,2}|digest|checksum|hash)["']?[:=] ?["']?)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?:[0-9a-f]{2}){4,32}(?![a-z\d])`,
];
// worker-9f3a1c; req-01HX3Z8K2M, task_k3j9x2a8: digits and letters alternate twice, after a word that says whose id it is
const AFTER_DASH = [
  String.raw`(?<=[a-z][_-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,7}(?![a-z\d])`,
  String.raw`(?<=[a-z][_-])(?=[a-z]{0,7}\d)(?=(?:[a-z]*\d+[a-z]+){2})[a-z\d]{8,40}(?![a-z\d])`,
];
const AFTER_HEX = [
  // 01503266565353: too long for a count, or with a zero in front
  String.raw`(?<![a-z\d.])(?:0\d{7,29}|\d{13,30})(?![\d.])`,
  // Unix times in seconds, milliseconds and microseconds
  String.raw`\b1[5-9]\d{8}(?:\d{3}){0,2}\b`,
  // 0.12s, 12 ms, 3.4 seconds; 1.820u, as some shells give the time of a user
  String.raw`\b\d+\.\d+u\b`,
  String.raw`\b\d+(?:\.\d+)?\s?(?:ms|msecs?|(?-i:µ)s|us|ns|s|sec|secs|seconds?|mins?|minutes?)\b`,
  // 5m12s, 2h3m; 3 hours ago; a column that holds an age
  String.raw`\b(?:\d+d)?(?:\d+h)?(?:\d+m)?(?<=[dhm])\d+(?:\.\d+)?[smh]\b`,
  String.raw`\b\d+ (?:hours?|days?|weeks?)(?= ago\b)`,
  String.raw`(?<=\s\s)(?-i:\d+[mhd])(?=\s|$)|(?<!\S)(?-i:\d+[mhd])(?=\s\s)`,
];
const AT_WORD = [
  // pid 4711, session s-9000, request 88f, attempt 3, seed: 567939
  String.raw`(?<![a-z\d])(?:pid|process|session|request|req|trace|span|job ?id|attempt|retry|reference|incident)[ #]+(?=[\w-]*[\d-])[\w-]+`,
  // "served_by": "edge-2"
  String.raw`(?<![a-z\d])served[_-]?by["']?\s*[:=]\s*["']?[\w.:-]+`,
  // [ref=e44], uid=1_23: numbers of elements on a page
  String.raw`(?<![a-z\d])(?:ref|uid)=["']?(?=[\w-]*\d)[\w-]{1,24}`,
  // "messageId": "m-7000", reqId=18697, Ray ID: 8f21
  String.raw`(?<![a-z\d])(?:message|msg|request|req|trace|span|correlation|session|event|receipt|run|invocation|process|ray|connection|response|reference|incident|operation|execution|packet|transmission|transaction|delivery)[ _-]?id["']?\s*[:=]\s*["']?[\w.:-]+`,
  String.raw`(?<![a-z\d])(?:uuid|guid|nonce|etag|seed|trace|span|attempt|retry|retries)["']?\s*[:=]\s*["']?(?:W/)?[\\"']*(?=[\w.:+-]*\d)[\w.:+-]+`,
  String.raw`(?<![a-z\d])(?:pid|ts|timestamp|time|nano_?sec(?:ond)?s?|nsecs?|elapsed|duration|duration_ms|took|created_?at|updated_?at|date)["']?\s*[:=]\s*["']?(?=[\w.:+-]*\d)[\w.:+-]+`,
];
const IN_LOG = [
  // [   12.345678], (312) behind the letter of a log's level: time since the start
  String.raw`(?<=^\[ {0,8})\d+\.\d{3,6}(?=\])`,
  String.raw`(?<=^[EWIDV] \()\d+(?=\) )`,
  // relayd[48215]: the process behind the name of a program
  String.raw`(?<=[a-z]\[)\d{3,7}(?=\]: )`,
  // the process in `I0414 10:20:58.945773   9581 request.go:697]`; id: 43399, of a question that was sent
  String.raw`(?<=^[IWEF]\d{4} [\d:.]{8,16} {1,8})\d{1,8}(?= \S{1,60}:\d+\])`,
  String.raw`(?<=\bid: )\d{4,6}\b`,
];
// /tmp/abc123, /var/folders/..., C:\Users\x\AppData\Local\Temp\...
const AT_SLASH = [String.raw`(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[\w./-]+`];

// Each is compiled when it is first used, in milliseconds: as long as a hook process takes for all the rest of a call.
const VOLATILE_DIGIT = volatile([...AT_DIGIT, ...IN_LOG, ...AFTER_VALUE, ...AT_HEX, ...AFTER_DASH, ...AFTER_HEX]);
const VOLATILE_VALUE = volatile([
  ...AT_DIGIT,
  ...IN_LOG,
  ...AT_VALUE,
  ...AFTER_VALUE,
  ...AT_HEX,
  ...AFTER_DASH,
  ...AFTER_HEX,
]);
const VOLATILE_DASH = volatile(AFTER_DASH);
const VOLATILE_HEX = volatile([...AT_HEX, ...AFTER_DASH, ...AT_WORD]);
const VOLATILE_WORD = volatile([...AFTER_DASH, ...AT_WORD]);
const VOLATILE_SLASH = volatile(AT_SLASH);

/** All of them in one, wherever they begin: what `lightMask` finds. */
export function volatilePattern(): RegExp {
  const digits = [...AT_DIGIT, ...IN_LOG, ...AT_VALUE, ...AFTER_VALUE];
  return volatile([...digits, ...AT_HEX, ...AFTER_DASH, ...AFTER_HEX, ...AT_WORD, ...AT_SLASH]);
}

function volatile(alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|'), 'imy');
}

/** What something volatile begins with: a number, a word that names it, eight digits of an id, or a path. */
export type VolatileOpening = 'digit' | 'name' | 'hex' | 'slash';

/**
 * Where what is volatile and begins here ends; the place itself where nothing does.
 *
 * @param at  where a run of letters and digits begins, or a slash
 */
export function volatileEnd(piece: string, at: number, opening: VolatileOpening): number {
  const pattern = patternAt(piece, at, opening);
  if (pattern === undefined) return at;
  pattern.lastIndex = at;
  return pattern.test(piece) ? pattern.lastIndex : at;
}

/** The expression that may match here. Never wrongly none. */
function patternAt(piece: string, at: number, opening: VolatileOpening): RegExp | undefined {
  switch (opening) {
    case 'slash':
      return VOLATILE_SLASH;
    case 'name':
      if (!mayNameValue(piece, at)) return undefined;
      return isHexUnit(unitAt(piece, at)) ? VOLATILE_HEX : VOLATILE_WORD;
    case 'digit':
      if (mayBeValue(piece, at)) return VOLATILE_VALUE;
      if (mayBeginWithDigit(piece, at)) return VOLATILE_DIGIT;
      break;
    case 'hex':
      if (hasHexRun(piece, at)) return VOLATILE_HEX;
      break;
    default:
      return assertNever(opening);
  }
  const before = unitAt(piece, at - 1);
  return (before === DASH || before === UNDERSCORE) && mayBeginAfterDash(piece, at) ? VOLATILE_DASH : undefined;
}

/** It joins words, and an id to a word, so it stands outside both. */
const UNDERSCORE = 0x5f;
const DASH = 0x2d;
const HASH = 0x23;
const COLON = 0x3a;
const EQUALS = 0x3d;
const SPACE = 0x20;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const DOT = 0x2e;
const SLASH = 0x2f;
const NAME_GOES_ON: ReadonlySet<number> = new Set([COLON, EQUALS, QUOTE, APOSTROPHE, UNDERSCORE, DASH]);

/** Behind a name: a sign that a value follows, or another part of the name, or a word with a digit or a dash. Never wrongly false. */
function mayNameValue(piece: string, at: number): boolean {
  let end = at + 2;
  while (isLetter(unitAt(piece, end))) end += 1;
  const next = unitAt(piece, end);
  if (next > 127 || NAME_GOES_ON.has(next)) return true;
  const nameEnd = end;
  while (isBlank(unitAt(piece, end)) || unitAt(piece, end) === HASH) end += 1;
  const first = unitAt(piece, end);
  // `Ray ID`, `date :`
  if (first === COLON || first === EQUALS || (first | 32) === 0x69) return true;
  if (end === nameEnd) return false;
  for (; isWordUnit(unitAt(piece, end)) || unitAt(piece, end) === DASH; end += 1) {
    if (isDigit(unitAt(piece, end)) || unitAt(piece, end) === DASH) return true;
  }
  return false;
}

/** Behind a dash or an underscore: a digit among the next eight characters. Never wrongly false. */
function mayBeginAfterDash(piece: string, at: number): boolean {
  let digits = 0;
  for (let end = at; end < at + 8; end += 1) {
    const unit = unitAt(piece, end);
    if (isDigit(unit)) digits += 1;
    else if (!isWordUnit(unit) || unit === UNDERSCORE) return digits > 0 && end >= at + 6;
  }
  return digits > 0;
}

/** A date, a time, a port, a Unix time, a duration, `0x…` or a hexadecimal id, by the number of digits and what follows. */
function mayBeginWithDigit(piece: string, at: number): boolean {
  let end = at + 1;
  while (isDigit(unitAt(piece, end))) end += 1;
  const digits = end - at;
  if (digits <= 8 && mayStandInLog(piece, at, end)) return true;
  // A port.
  if (digits === 5 && unitAt(piece, at - 1) === COLON) return true;
  const next = unitAt(piece, end);
  // A date or a time.
  if (next === DASH || next === SLASH) return digits === 4 || hasHexRun(piece, at);
  if (next === COLON && digits <= 2) return isDigit(unitAt(piece, end + 1));
  if (digits >= 10 || hasHexRun(piece, at)) return true;
  // The time since a start.
  if (next === 0x29) return piece.startsWith(' (', at - 2);
  if (next === DOT && isBracketed(piece, at)) return true;
  if (next === 0x5d) return unitAt(piece, at - 1) === 0x5b && unitAt(piece, end + 1) === COLON;
  // `0x`, or a unit behind a fraction or a blank.
  if ((next | 32) === 0x78) return true;
  if (next === DOT) {
    end += 1;
    while (isDigit(unitAt(piece, end))) end += 1;
  }
  const blank = unitAt(piece, end);
  return mayBeUnit(piece, isBlank(blank) ? end + 1 : end);
}

/** A process behind the time at the head of a line, or a number behind `id: `. */
function mayStandInLog(piece: string, at: number, end: number): boolean {
  if (unitAt(piece, at - 1) !== SPACE) return false;
  if (unitAt(piece, at - 2) === COLON)
    return (unitAt(piece, at - 3) | 32) === 0x64 && (unitAt(piece, at - 4) | 32) === 0x69;
  if (unitAt(piece, end) !== SPACE) return false;
  const lineStart = piece.lastIndexOf('\n', at) + 1;
  return at - lineStart <= LOG_HEAD_CHARS && LOG_LEVELS.has(piece.charAt(lineStart).toUpperCase());
}

/** Longest head of a line before the process, and the letters with which it begins. */
const LOG_HEAD_CHARS = 31;
const LOG_LEVELS = new Set(['I', 'W', 'E', 'F']);

/** Nothing but blanks between a bracket and the number. */
function isBracketed(piece: string, at: number): boolean {
  let before = at - 1;
  while (unitAt(piece, before) === SPACE) before -= 1;
  return unitAt(piece, before) === 0x5b;
}

/** Ends of keys whose numbers may be volatile; those of the second kind only where one of the first stands before. */
const KEY_ENDS = ['ms', 'at', 'time', 'elapsed', 'duration', 'took', 'latency', 'uptime'];
const UNIT_ENDS = ['s', 'sec', 'secs', 'seconds', 'millis'];
const KEY_CHARS = 20;

/** Whether the number is the value of a key that may name something volatile. Never wrongly false. */
function mayBeValue(piece: string, at: number): boolean {
  let key = at - 1;
  if (isQuote(unitAt(piece, key))) key -= 1;
  if (mayBeBlank(unitAt(piece, key))) key -= 1;
  const sign = unitAt(piece, key);
  if (sign !== COLON && sign !== EQUALS) return false;
  key -= 1;
  if (mayBeBlank(unitAt(piece, key))) key -= 1;
  if (isQuote(unitAt(piece, key))) key -= 1;
  const name = piece.slice(Math.max(0, key + 1 - KEY_CHARS), key + 1).toLowerCase();
  if (KEY_ENDS.some((end) => name.endsWith(end))) return true;
  return UNIT_ENDS.some((end) => name.endsWith(end)) && KEY_ENDS.some((end) => end.length > 3 && name.includes(end));
}

function isQuote(unit: number): boolean {
  return unit === QUOTE || unit === APOSTROPHE;
}

/** Beyond ASCII there are more blanks. */
function mayBeBlank(unit: number): boolean {
  return isBlank(unit) || unit > 127;
}

/**
 * A unit of time by its first two letters: m, ms, min, ns, us, s, sec, d, h, days, hours, weeks. Anything that is not
 * ASCII may be a blank or the micro sign.
 */
function mayBeUnit(piece: string, at: number): boolean {
  const first = unitAt(piece, at);
  if (first > 127) return true;
  const lower = first | 32;
  if (lower < 100 || lower > 119 || ((UNIT_LETTERS >>> (lower - 100)) & 1) === 0) return false;
  const second = unitAt(piece, at + 1);
  return !isLetter(second) || SECOND_LETTERS[lower - 100]?.includes(String.fromCharCode(second | 32)) === true;
}

/** d, h, m, n, s, u and w as bits from `d` on. */
const UNIT_LETTERS = 0b1010_1000_0110_0001_0001;
/** What may follow each of them, from `d` on. */
const SECOND_LETTERS: readonly (string | undefined)[] = Array.from('defghijklmnopqrstuvw', (letter) => {
  const follows: Readonly<Record<string, string>> = { d: 'a', h: 'o', m: 'si', n: 's', s: 'e', u: 's', w: 'e' };
  return follows[letter];
});

/** Eight hexadecimal digits in a row. */
function hasHexRun(piece: string, at: number): boolean {
  // From the last, which in most words is none.
  for (let place = at + 7; place >= at; place -= 1) if (!isHexUnit(unitAt(piece, place))) return false;
  return true;
}
