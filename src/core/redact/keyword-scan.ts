import { beginsWord } from './char-class.ts';
import { NAME_ENDINGS } from './secret-names.ts';
import { type SecretRule, SECRET_RULES } from './secret-rules.ts';
import type { SecretSpan } from './secret-value.ts';

/** The character to search for. Keywords of letters and digits have none: they begin a run, see `findInEncoded`. */
interface Anchored {
  readonly rule: number;
  readonly keyword: string;
  readonly anchor: number;
}

const ANCHORS = "~_:.-'";
/** The position of a keyword's anchor; -1 without one. `Bearer` and `Basic` only have their first letter. */
function anchorOf(keyword: string): number {
  if (/^[bB]\w+ $/.test(keyword) || keyword.startsWith('-')) return 0;
  for (const anchor of ANCHORS) {
    const index = keyword.indexOf(anchor, 1);
    if (index > 0) return index;
  }
  return ANCHORS.includes(keyword.charAt(0)) ? 0 : -1;
}

interface KeywordTable {
  /** By the anchor and the character before it. */
  readonly after: ReadonlyMap<number, readonly Anchored[]>;
  /** By the anchor, if it is the first character. */
  readonly first: ReadonlyMap<number, readonly Anchored[]>;
  readonly inRuns: readonly Anchored[];
}

let table: KeywordTable | undefined;

/** The table is built at the first text. Cost: about 0.1 ms. */
function keywordTable(): KeywordTable {
  const anchoredByUnit = new Map<number, Anchored[]>();
  const first = new Map<number, Anchored[]>();
  const inRuns: Anchored[] = [];
  const anchors = SECRET_RULES.flatMap(({ keywords }, rule) =>
    keywords.map((keyword) => ({ rule, keyword, anchor: anchorOf(keyword) })),
  );
  // The longest keyword is tried first: `sk-ant-` before `sk-`.
  for (const entry of anchors.sort((one, other) => other.keyword.length - one.keyword.length)) {
    const { keyword, anchor } = entry;
    if (anchor < 0) {
      inRuns.push(entry);
      continue;
    }
    const unit = keyword.charCodeAt(anchor);
    const map = anchor === 0 ? first : anchoredByUnit;
    const key = anchor === 0 ? unit : (keyword.charCodeAt(anchor - 1) << 7) | unit;
    map.set(key, [...(map.get(key) ?? []), entry]);
  }
  return { after: anchoredByUnit, first, inRuns };
}

let patterns: readonly [RegExp, RegExp] | undefined;

/** Single characters (`next`), and runs of 20 letters, digits and base64 marks (`run`). Linear; compiling takes 2 ms once. */
export class Marks {
  readonly #text: string;
  readonly #patterns: readonly [RegExp, RegExp] = (patterns ??= markPatterns());
  /** The next place of each pattern; -1 before the first search. */
  #commonIndex = -1;
  #rareIndex = -1;
  #run: EncodedRun | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#run = nextRun(text, 0);
  }

  run(start: number, before: number): EncodedRun | undefined {
    while (this.#run !== undefined && this.#run.end <= start) this.#run = nextRun(this.#text, this.#run.end);
    return this.#run !== undefined && this.#run.start <= before ? this.#run : undefined;
  }

  next(start: number): number {
    const [common, rare] = this.#patterns;
    if (this.#commonIndex < start) this.#commonIndex = nextOf(common, this.#text, start);
    if (this.#rareIndex < start) this.#rareIndex = nextOf(rare, this.#text, start);
    return Math.min(this.#commonIndex, this.#rareIndex);
  }
}

function nextOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  // Every alternative is one character long, so `lastIndex` gives the place; `exec` would allocate a list.
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length;
}

const CHARS_BEFORE = 3;

/** One character each, with bounded look-around. Two, because the engine's fast skip supports at most seven. */
function markPatterns(): readonly [RegExp, RegExp] {
  const { after, first } = (table ??= keywordTable());
  const keywordPattern = (unit: string): string => {
    const heads = new Set<string>();
    for (const entries of after.values())
      for (const { keyword, anchor } of entries)
        if (keyword.charAt(anchor) === unit) heads.add(keyword.slice(Math.max(0, anchor - CHARS_BEFORE), anchor));
    const tails = (first.get(unit.charCodeAt(0)) ?? [])
      .map(({ keyword }) => keyword.slice(1, 5))
      .filter((tail) => tail !== '');
    const sides = [
      ...(heads.size === 0
        ? []
        : [`(?<=${byLast([...heads].map((head) => head.split('').map(escapeUnit)))}${escapeUnit(unit)})`]),
      ...(tails.length === 0
        ? []
        : [`(?=${[...new Set(tails)].map((tail) => tail.split('').map(escapeUnit).join('')).join('|')})`]),
    ];
    return sides.join('|');
  };
  const endings = byLast(NAME_ENDINGS.map((ending) => ending.split('').map(anyCase)));
  const commonParts = [
    `_(?:${keywordPattern('_')})`,
    String.raw`-(?:${keywordPattern('-')}|(?=-[A-Za-z])|(?<=[\s"'\x60]-)(?=[puawPkKsU]))`,
    // Some token formats have no keyword. Only their parts, which dots separate, identify them.
    String.raw`\.(?:${keywordPattern('.')}|(?=[\w-]{6}\.)(?<=[\w-]{20}\.)|(?=[0-9a-f]{64})(?<=pat\w{14}\.)|(?=[A-Za-z0-9]{16})(?<=[0-9a-f]{32}\.))`,
    String.raw`[:=,|(>](?<=${endings}[\\"'\x60*\] ]{0,24}[:=,|(>])`,
    // An address needs an `@`: logs have addresses in each line.
    String.raw`:(?:(?=\/\/[^\s/?#<>"'\\]{1,2600}@)|(?=A))`,
    `~(?:${keywordPattern('~')})`,
    String.raw`[%&\u001B\\[<](?=22|27|25|3[0-9ADad]|40|0[Aa]|2[Dd]|[4-7][0-9A-Fa-f]|quot;|#34;|#39;|#x2|apos;|REDACTED|\[|u00|\/|(?<=\\(?:u001[bB]|x1[bB]|033|e)\[))`,
  ];
  const rareParts = [`[bB](?=earer |asic |EARER |ASIC )`, `'(?:${keywordPattern("'")})`];
  return [new RegExp(commonParts.join('|'), 'g'), new RegExp(rareParts.join('|'), 'g')];
}

/** Alternatives grouped by their last part, because the engine matches a look-behind from its end. */
function byLast(words: readonly (readonly string[])[]): string {
  const heads = new Map<string, Set<string>>();
  for (const word of words) {
    const last = word.at(-1) ?? '';
    heads.set(last, (heads.get(last) ?? new Set()).add(word.slice(0, -1).join('')));
  }
  return `(?:${[...heads].map(([last, rests]) => `(?:${[...rests].join('|')})${last}`).join('|')})`;
}

function escapeUnit(unit: string): string {
  return unit.replace(/[$.*+?^|(){}[\]\\/-]/, String.raw`\$&`);
}

/** Matches a letter in either case. The `i` flag would make the whole pattern slow. */
function anyCase(letter: string): string {
  return /[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : escapeUnit(letter);
}

/** The secret of a keyword with its anchor at `position`; text before `done` is ignored. */
export function findForm(text: string, position: number, done: number): SecretSpan | undefined {
  const { after, first } = (table ??= keywordTable());
  const unit = text.charCodeAt(position);
  return (
    findKeyword(text, position, done, after.get((text.charCodeAt(position - 1) << 7) | unit)) ??
    findKeyword(text, position, done, first.get(unit))
  );
}

function findKeyword(
  text: string,
  position: number,
  done: number,
  entries: readonly Anchored[] | undefined,
): SecretSpan | undefined {
  if (entries === undefined) return undefined;
  for (const { rule, keyword, anchor } of entries) {
    const start = position - anchor;
    if (start < done || !text.startsWith(keyword, start)) continue;
    const span = applyRule(text, rule, { start, from: start + keyword.length, done });
    if (span !== undefined) return span;
  }
  return undefined;
}

let inRuns: RegExp | undefined;

/** The first secret in a run with a keyword of only letters and digits. */
export function findInEncoded(text: string, run: EncodedRun, done: number): SecretSpan | undefined {
  const entries = (table ??= keywordTable()).inRuns;
  inRuns ??= new RegExp(entries.map(({ keyword }) => `(${keyword})`).join('|'), 'g');
  const piece = text.slice(run.start, run.end);
  inRuns.lastIndex = Math.max(0, done - run.start);
  for (let match = inRuns.exec(piece); match !== null; match = inRuns.exec(piece)) {
    const start = run.start + match.index;
    const entry = entries.find(({ keyword }) => keyword === match?.[0]);
    const span =
      entry &&
      applyRule(text, entry.rule, { start, from: start + entry.keyword.length, done: Math.max(done, run.start) });
    if (span !== undefined) return span;
  }
  return undefined;
}

const expressions: RegExp[] = [];

interface Place {
  readonly start: number;
  readonly from: number;
  readonly done: number;
}

function applyRule(text: string, index: number, { start, from, done }: Place): SecretSpan | undefined {
  // The table contains indexes of rules.
  const { id, expression, atWord, check, endOf } = SECRET_RULES[index] as SecretRule;
  const matcher = (expressions[index] ??= new RegExp(expression, 'y'));
  matcher.lastIndex = from;
  const match = matcher.exec(text);
  if (match === null) return undefined;
  const { before = '', secret, key } = match.groups ?? {};
  const part = secret ?? key;
  const matchEnd = from + match[0].length;
  const keywordStart = start - before.length;
  if (keywordStart < done || (atWord && !beginsWord(text, keywordStart))) return undefined;
  const end = endOf === undefined ? matchEnd : endOf(text, matchEnd);
  if (end === undefined) return undefined;
  const span = { start: part === undefined ? keywordStart : matchEnd - part.length, end, rule: id };
  return check === undefined || check(text.slice(span.start, end)) ? span : undefined;
}

const MIN_RUN_CHARS = 20;
/** Minimum length of a run that is decoded. It gives 24 bytes. */
const MIN_DECODED_CHARS = 32;
const MAX_RUN_CHARS = 65_536;

const BASE64 = new Uint8Array(128);
for (const unit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') BASE64[unit.charCodeAt(0)] = 1;

function isBase64(unit: number): boolean {
  return unit < 128 && BASE64[unit] === 1;
}

export interface EncodedRun {
  readonly start: number;
  readonly end: number;
}

/** Minimum length of a line of wrapped text: `openssl` wraps at 64 characters, `base64` at 76, contents APIs of code hosts at 60. */
const MIN_LINE_CHARS = 56;
/** A line break, also escaped, between two lines of a wrapped text, and the next line. */
const NEXT_LINE = /(?:\r?\n|(?:\\r)?\\n)[ \t]{0,16}([A-Za-z0-9+/_=-]{1,200})(?=\s|\\[nr]|["'`]|$)/y;

/** Wrapped text of equal lines, the last one shorter, is one run. Cost: reads about every sixth character of most texts. */
function nextRun(text: string, startIndex: number): EncodedRun | undefined {
  let start = startIndex;
  while (start + MIN_RUN_CHARS <= text.length) {
    let position = start + MIN_RUN_CHARS - 1;
    while (position >= start && isBase64(text.charCodeAt(position))) position -= 1;
    if (position >= start) {
      start = position + 1;
      continue;
    }
    let end = start + MIN_RUN_CHARS;
    while (end < text.length && isBase64(text.charCodeAt(end))) end += 1;
    return { start, end: end - start < MIN_LINE_CHARS ? end : wrappedEnd(text, start, end) };
  }
  return undefined;
}

function wrappedEnd(text: string, start: number, end: number): number {
  const lineChars = end - start;
  const encoding = encodingOf(text.slice(start, start + 16));
  let wrapped = end;
  NEXT_LINE.lastIndex = end;
  for (let line = NEXT_LINE.exec(text); line !== null; line = NEXT_LINE.exec(text)) {
    const [, encoded = ''] = line;
    const chars = encoded.length;
    if (chars > lineChars || wrapped - start > MAX_RUN_CHARS) break;
    // A word below the encoded text does not belong to it, and the whole could not be decoded with it.
    if (!isPrintable(Buffer.from(encoded, encoding).toString('latin1'))) break;
    wrapped = NEXT_LINE.lastIndex;
    if (chars < lineChars) break;
  }
  return wrapped;
}

/** Decodes a run. Returns undefined if the result is not text. Cost: its length, at most 64 K characters. */
export function decodeRun(text: string, { start, end }: EncodedRun): string | undefined {
  if (end - start < MIN_DECODED_CHARS) return undefined;
  const head = text.slice(start, start + 16);
  const encoding = encodingOf(head);
  if (!isPrintable(Buffer.from(head, encoding).toString('latin1'))) return undefined;
  const encoded = text.slice(start, Math.min(end, start + MAX_RUN_CHARS)).replaceAll(/\\[nr]|\s/g, '');
  const decoded = Buffer.from(encoded, encoding).toString('latin1');
  // The last characters may belong to the text after the encoded text.
  return isPrintable(decoded.slice(0, -2)) ? decoded : undefined;
}

function encodingOf(head: string): 'hex' | 'base64' {
  return /^[0-9a-fA-F]+$/.test(head) ? 'hex' : 'base64';
}

function isPrintable(text: string): boolean {
  return /^[\t\n\r\x20-\x7e]*$/.test(text);
}

/** A line of a hex dump (`xxd`, `hexdump -C`): offset, bytes, perhaps their characters. */
const DUMP_LINE =
  /[ \t]{0,16}[0-9a-f]{7,8}:? {1,2}((?:[0-9a-f]{2,4} {1,2}){0,16}[0-9a-f]{2,4})(?: {1,40}[^\n]{1,20})?[ \t]{0,4}(?:\n|$)/y;
const SECOND_DUMP_LINE = /\n[ \t]{0,16}0{5,6}10:? /g;
const MAX_DUMP_CHARS = 4 * MAX_RUN_CHARS;

/** The next hex dump of at least two lines from its offset 0, and its bytes as text. Cost: one search in a text without any. */
export function nextDump(text: string, from: number): (EncodedRun & { readonly decoded: string }) | undefined {
  // Each match contains this text, and searching for the text takes a third of the time.
  if (!text.includes('0000010', from)) return undefined;
  SECOND_DUMP_LINE.lastIndex = from;
  const second = SECOND_DUMP_LINE.exec(text)?.index;
  if (second === undefined) return undefined;
  const start = Math.max(from, text.lastIndexOf('\n', second - 1) + 1);
  let end = start;
  let decoded = '';
  DUMP_LINE.lastIndex = start;
  for (let line = DUMP_LINE.exec(text); line !== null && end - start < MAX_DUMP_CHARS; line = DUMP_LINE.exec(text)) {
    decoded += Buffer.from((line[1] ?? '').replaceAll(' ', ''), 'hex').toString('latin1');
    end = DUMP_LINE.lastIndex;
  }
  return { start, end: Math.max(end, second + 1), decoded };
}
