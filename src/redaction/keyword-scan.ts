import { nextRun, type EncodedRun } from './encoded-run.ts';
import { beginsWord } from './char-class.ts';
import { NAME_ENDINGS } from './secret-names.ts';
import type { SecretRule } from './secret-rule.ts';
import { SECRET_RULES } from './secret-rules.ts';
import type { SecretSpan } from './secret-span.ts';

/**
 * A keyword, and the character in it that the search looks for: its anchor. Keywords of letters and digits alone have none;
 * they begin a run, see `findInEncoded`.
 */
interface Anchored {
  readonly rule: number;
  readonly keyword: string;
  readonly anchor: number;
}

/** What anchors may be, the best first. */
const ANCHORS = "~_:.-'";
/** Characters that stand between a name and its value, begin an option, an escape or a colour, or our own placeholder. */
const STRUCTURE = ':=-%&>|<,([\\\u001B';

/** Where the anchor of a keyword is; -1 without one. `Bearer` and `Basic` have none but their first letter. */
function anchorOf(keyword: string): number {
  if (/^[bB]\w+ $/.test(keyword) || keyword.startsWith('-')) return 0;
  for (const anchor of ANCHORS) {
    const at = keyword.indexOf(anchor, 1);
    if (at > 0) return at;
  }
  return ANCHORS.includes(keyword.charAt(0)) ? 0 : -1;
}

interface KeywordTable {
  /** By character: whether a closer look is taken at each, only at some before which a keyword stands, or at none. */
  readonly kinds: Uint8Array;
  /** By the character before the anchor and the anchor. */
  readonly after: ReadonlyMap<number, readonly Anchored[]>;
  /** By the anchor, where it is the first character. */
  readonly first: ReadonlyMap<number, readonly Anchored[]>;
  readonly inRuns: readonly Anchored[];
}

const SOME = 1;
const EACH = 2;

let table: KeywordTable | undefined;

/** Made at the first text. Cost: some 0.1 ms. */
function keywordTable(): KeywordTable {
  const kinds = new Uint8Array(128);
  const after = new Map<number, Anchored[]>();
  const first = new Map<number, Anchored[]>();
  const inRuns: Anchored[] = [];
  const all = SECRET_RULES.flatMap(({ keywords }, rule) =>
    keywords.map((keyword) => ({ rule, keyword, anchor: anchorOf(keyword) })),
  );
  // The longest first: `sk-ant-` before `sk-`.
  for (const entry of all.sort((one, other) => other.keyword.length - one.keyword.length)) {
    const { keyword, anchor } = entry;
    if (anchor < 0) {
      inRuns.push(entry);
      continue;
    }
    const unit = keyword.charCodeAt(anchor);
    const map = anchor === 0 ? first : after;
    const key = anchor === 0 ? unit : (keyword.charCodeAt(anchor - 1) << 7) | unit;
    map.set(key, [...(map.get(key) ?? []), entry]);
    kinds[unit] = Math.max(kinds[unit] ?? 0, anchor === 0 ? EACH : SOME);
  }
  for (const mark of STRUCTURE) kinds[mark.charCodeAt(0)] = EACH;
  return { kinds, after, first, inRuns };
}

/**
 * How much text a process looks at by hand before it compiles the patterns, which takes 2 ms and is then some five times as
 * fast. A process that lives for one event of an agent never gets there.
 */
const MAX_BY_HAND = 64 * 1024;
let lookedAt = 0;
let patterns: readonly [RegExp, RegExp] | undefined;

/**
 * Places in a text where a secret may be, in order: single characters (`next`), and runs of 20 letters, digits and marks of
 * base64 (`run`). Which places come besides those of secrets depends on how much the process has looked at; what is found does
 * not. Cost: linear on any text.
 */
export class Marks {
  readonly #text: string;
  readonly #byHand: boolean;
  /** The next place of each pattern; -1: not looked for yet. */
  #common = -1;
  #rare = -1;
  #run: EncodedRun | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#byHand = patterns === undefined && lookedAt + text.length <= MAX_BY_HAND;
    if (this.#byHand) lookedAt += text.length;
    else patterns ??= markPatterns();
    this.#run = nextRun(text, 0);
  }

  /** The next run that ends after `from`, if it begins no later than `before`. */
  run(from: number, before: number): EncodedRun | undefined {
    while (this.#run !== undefined && this.#run.end <= from) this.#run = nextRun(this.#text, this.#run.end);
    return this.#run !== undefined && this.#run.start <= before ? this.#run : undefined;
  }

  /** The first mark at or after `from`; the text's length where there is none. */
  next(from: number): number {
    if (this.#common < from) {
      this.#common = this.#byHand ? nextByHand(this.#text, from) : nextOf(patterns?.[0], this.#text, from);
    }
    if (this.#rare < from) this.#rare = this.#byHand ? this.#text.length : nextOf(patterns?.[1], this.#text, from);
    return Math.min(this.#common, this.#rare);
  }
}

function nextOf(pattern: RegExp | undefined, text: string, from: number): number {
  if (pattern === undefined) return text.length;
  pattern.lastIndex = from;
  // Every alternative is one character long, so the position tells the place; `exec` would make a list each time.
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length;
}

/** What the patterns find, and more. */
function nextByHand(text: string, from: number): number {
  const { kinds, after } = (table ??= keywordTable());
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 127 || kinds[unit] === 0) continue;
    if (kinds[unit] === EACH || after.has((text.charCodeAt(at - 1) << 7) | unit)) return at;
  }
  return text.length;
}

/** How many characters beside an anchor the patterns compare. */
const BESIDE = 3;

/**
 * What a mark is: each alternative is one character, and looks around a bounded number of others. Two patterns, because the engine
 * skips fast over what none of them begins with only up to seven alternatives.
 */
function markPatterns(): readonly [RegExp, RegExp] {
  const { after, first } = (table ??= keywordTable());
  const keywords = (unit: string): string => {
    const heads = new Set<string>();
    for (const entries of after.values())
      for (const { keyword, anchor } of entries)
        if (keyword.charAt(anchor) === unit) heads.add(keyword.slice(Math.max(0, anchor - BESIDE), anchor));
    const tails = (first.get(unit.charCodeAt(0)) ?? [])
      .map(({ keyword }) => keyword.slice(1, 5))
      .filter((tail) => tail !== '');
    const sides = [
      ...(heads.size === 0
        ? []
        : [`(?<=${byLast([...heads].map((head) => head.split('').map(literal)))}${literal(unit)})`]),
      ...(tails.length === 0
        ? []
        : [`(?=${[...new Set(tails)].map((tail) => tail.split('').map(literal).join('')).join('|')})`]),
    ];
    return sides.join('|');
  };
  const endings = byLast(NAME_ENDINGS.map((ending) => ending.split('').map(anyCase)));
  const common = [
    `_(?:${keywords('_')})`,
    String.raw`-(?:${keywords('-')}|(?=-[A-Za-z])|(?<=[\s"'\x60]-)(?=[puawPkKsU]))`,
    // With the shapes of tokens that have nothing in common but dots.
    String.raw`\.(?:${keywords('.')}|(?=[\w-]{6}\.)(?<=[\w-]{20}\.)|(?=[0-9a-f]{64})(?<=pat\w{14}\.))`,
    String.raw`[:=,|(>](?<=${endings}[\\"'\x60*\] ]{0,24}[:=,|(>])`,
    // An address counts only with an `@`: a log has one in each line.
    String.raw`:(?:(?=\/\/[^\s/?#<>"'\\]{1,2600}@)|(?=A))`,
    `~(?:${keywords('~')})`,
    String.raw`[%&\u001B\\[<](?=22|27|25|3[0-9ADad]|40|0[Aa]|2[Dd]|[4-7][0-9A-Fa-f]|quot;|#34;|#39;|#x2|apos;|REDACTED|\[|u00|\/|(?<=\\(?:u001[bB]|x1[bB]|033|e)\[))`,
  ];
  const rare = [`[bB](?=earer |asic |EARER |ASIC )`, `'(?:${keywords("'")})`];
  return [new RegExp(common.join('|'), 'g'), new RegExp(rare.join('|'), 'g')];
}

/** Alternatives, those with the same last part together: the engine reads a look-behind from its end. */
function byLast(words: readonly (readonly string[])[]): string {
  const heads = new Map<string, Set<string>>();
  for (const word of words) {
    const last = word.at(-1) ?? '';
    heads.set(last, (heads.get(last) ?? new Set()).add(word.slice(0, -1).join('')));
  }
  return `(?:${[...heads].map(([last, rests]) => `(?:${[...rests].join('|')})${last}`).join('|')})`;
}

function literal(unit: string): string {
  return unit.replace(/[$.*+?^|(){}[\]\\/-]/, String.raw`\$&`);
}

/** A letter in any case, without the flag that would make the whole pattern slow. */
function anyCase(letter: string): string {
  return /[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : literal(letter);
}

/** The secret known by a keyword whose anchor stands at `at`; nothing before `done` is looked at. */
export function findForm(text: string, at: number, done: number): SecretSpan | undefined {
  const { after, first } = (table ??= keywordTable());
  const unit = text.charCodeAt(at);
  return (
    findKeyword(text, at, done, after.get((text.charCodeAt(at - 1) << 7) | unit)) ??
    findKeyword(text, at, done, first.get(unit))
  );
}

function findKeyword(
  text: string,
  at: number,
  done: number,
  entries: readonly Anchored[] | undefined,
): SecretSpan | undefined {
  if (entries === undefined) return undefined;
  for (const { rule, keyword, anchor } of entries) {
    const start = at - anchor;
    if (start < done || !text.startsWith(keyword, start)) continue;
    const span = applyRule(text, rule, { start, from: start + keyword.length, done });
    if (span !== undefined) return span;
  }
  return undefined;
}

let inRuns: RegExp | undefined;

/** The first secret in a run that is known by a keyword of letters and digits alone. */
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

/** Expressions of rules, compiled when their keyword is first met. */
const expressions: RegExp[] = [];

interface Place {
  /** Where the keyword begins, where it ends, and what is done already. */
  readonly start: number;
  readonly from: number;
  readonly done: number;
}

function applyRule(text: string, index: number, { start, from, done }: Place): SecretSpan | undefined {
  // An index of the table is one of the rules.
  const { id, expression, atWord, check, endOf } = SECRET_RULES[index] as SecretRule;
  const matcher = (expressions[index] ??= new RegExp(expression, 'y'));
  matcher.lastIndex = from;
  const match = matcher.exec(text);
  if (match === null) return undefined;
  const { before = '', secret, key } = match.groups ?? {};
  const part = secret ?? key;
  const matchEnd = from + match[0].length;
  const begin = start - before.length;
  if (begin < done || (atWord && !beginsWord(text, begin))) return undefined;
  const end = endOf === undefined ? matchEnd : endOf(text, matchEnd);
  if (end === undefined) return undefined;
  const span = { start: part === undefined ? begin : matchEnd - part.length, end, rule: id };
  return check === undefined || check(text.slice(span.start, end)) ? span : undefined;
}
