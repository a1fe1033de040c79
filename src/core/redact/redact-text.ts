import { wordSet } from '../base/word-set.ts';
import { decodeRun, nextDump, type EncodedRun, findForm, findInEncoded, Marks } from './keyword-scan.ts';
import { findNamed } from './find-named.ts';
import { type Fingerprint, isPlaceholder, placeholderEnd, placeholderOf, type SecretSpan } from './secret-value.ts';

export interface RedactTextOptions {
  readonly off: ReadonlySet<string>;
  readonly allows: (secret: string) => boolean;
  /** If false, only secrets with a known form are found, not values identified by the name before them. */
  readonly named: boolean;
  /** Fingerprint in placeholders. Default: none. */
  readonly fingerprint?: Fingerprint | undefined;
}

/** One pass over a few marks and every sixth character. The text after a mark is bounded, so the time is linear. */
export function redactText(text: string, options: RedactTextOptions): string {
  return redactDeep(text, options, 0);
}

/** Text next to a replaced secret may become a secret itself, so the scan is repeated until nothing changes. */
const MAX_ROUNDS = 6;
const MAX_DEPTH = 2;

function redactDeep(text: string, options: RedactTextOptions, depth: number): string {
  let result = depth === 0 ? withoutDumps(text, options) : text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = redactOnce(result, options, depth);
    if (next === result) break;
    result = next;
  }
  return result;
}

function withoutDumps(text: string, options: RedactTextOptions): string {
  const replacements: Replacement[] = [];
  for (let dump = nextDump(text, 0); dump !== undefined; dump = nextDump(text, dump.end)) {
    const { start, end, decoded } = dump;
    const rule = FIRST_RULE.exec(redactDeep(decoded, options, 1))?.[1];
    if (rule === undefined || FIRST_RULE.test(decoded)) continue;
    replacements.push({ start, end, by: `${placeholderOf(rule, options.fingerprint?.(decoded))}\n` });
  }
  return replaceAll(text, replacements);
}

function redactOnce(text: string, options: RedactTextOptions, depth: number): string {
  const replacements = scanText(text, { options, depth, inView: false });
  if (replacements !== 'escaped') return replaceAll(text, replacements);
  // Scan the text without its escapes instead.
  const { text: view, offsets } = viewText(text);
  const inView = scanText(view, { options, depth, inView: true });
  if (inView === 'escaped') return text;
  const sourceOffset = (position: number): number => offsets[position] ?? text.length;
  return replaceAll(
    text,
    // Includes an escape of the secret's last character, but not one after the secret.
    inView.map(({ start, end, by }) => ({ start: sourceOffset(start), end: endOf(text, sourceOffset(end - 1)), by })),
  );
}

/** The end of the character that begins at `position` in the original, escaped or not. */
function endOf(text: string, position: number): number {
  return (
    position +
    (/^(?:%(?:25){0,4}[0-7][0-9A-Fa-f]|&#?\w{1,5};|\\u00[0-9A-Fa-f]{2})/.exec(text.slice(position, position + 12))?.[0]
      .length ?? 1)
  );
}

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

function replaceAll(text: string, spans: readonly Replacement[]): string {
  let result = '';
  let copiedEnd = 0;
  for (const { start, end, by } of spans) {
    result += text.slice(copiedEnd, start) + by;
    copiedEnd = end;
  }
  return copiedEnd === 0 ? text : result + text.slice(copiedEnd);
}

interface Scan {
  readonly options: RedactTextOptions;
  readonly depth: number;
  readonly inView: boolean;
}

function scanText(text: string, scanOptions: Scan): readonly Replacement[] | 'escaped' {
  const { options, inView } = scanOptions;
  const marks = new Marks(text);
  const replacements: Replacement[] = [];
  let copiedEnd = 0;
  let runsDone = 0;
  for (let mark = marks.next(0); ; mark = marks.next(Math.max(mark + 1, copiedEnd))) {
    for (
      let run = marks.run(Math.max(copiedEnd, runsDone), mark);
      run !== undefined;
      run = marks.run(Math.max(copiedEnd, runsDone), mark)
    ) {
      // Marks inside the run are examined afterwards, unless the run contained a secret.
      runsDone = run.end;
      const replacement = inRun(text, run, copiedEnd, scanOptions);
      if (replacement === undefined) continue;
      if (replacement.by !== '') replacements.push(replacement);
      copiedEnd = replacement.end;
      // Search the rest of the run.
      if (copiedEnd < run.end) runsDone = copiedEnd;
    }
    if (mark >= text.length) return replacements;
    if (mark < copiedEnd) continue;
    if (!inView && beginsEscape(text, mark)) return 'escaped';
    const placeholder = placeholderEnd(text, mark);
    if (placeholder >= 0) {
      copiedEnd = placeholder;
      continue;
    }
    const span = findForm(text, mark, copiedEnd) ?? (options.named ? findNamed(text, mark, copiedEnd) : undefined);
    if (span === undefined || span.start < copiedEnd) continue;
    const end = foldedEnd(text, span);
    const secret = text.slice(span.start, end);
    const replacement = replacementOf(secret, span, scanOptions);
    if (replacement !== secret) replacements.push({ start: span.start, end, by: replacement });
    copiedEnd = end;
  }
}

const FOLD =
  /(?:\r?\n|(?:\\r)?\\n)([ \t]{0,40})((?=[\w+/-]{0,60}\d)(?=[\w+/-]{0,60}[A-Za-z])[\w+/-]{8,200}={0,2})(?=\s*(?:\n|$)|\\[nr]|["'`])/y;
/** `KD-1234` and `eu-west-1` have few of these, a random text has one after every second character. */
const CHANGE_OF_KIND = /[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g;
/** Tools that fold lines fold no shorter ones; in YAML and in headers, an indent marks the rest of a value. */
const MIN_FOLDED_LINE_CHARS = 56;

/** The end of a token that continues on the next lines. A line with words or with a token of its own is not a part of it. */
function foldedEnd(text: string, { start, end }: SecretSpan): number {
  if (end - start < 12) return end;
  let folded = end;
  const textBefore = text.slice(Math.max(0, end - MAX_PART_CHARS), end);
  let width = textBefore.length - 1 - textBefore.lastIndexOf('\n');
  FOLD.lastIndex = end;
  for (let line = FOLD.exec(text); line !== null && folded - start < MAX_FOLDED_CHARS; line = FOLD.exec(text)) {
    const [, indent = '', part = ''] = line;
    const isFold = part.length <= width && (indent !== '' || width >= MIN_FOLDED_LINE_CHARS);
    const isRandom = /^[\da-f]+$/.test(part) || (part.match(CHANGE_OF_KIND)?.length ?? 0) * 3 >= part.length;
    if (!isFold || !isRandom || redactOnce(part, FORMS, MAX_DEPTH) !== part) break;
    folded = FOLD.lastIndex;
    width = part.length;
  }
  return folded;
}
const FORMS: RedactTextOptions = { off: new Set(), allows: () => false, named: false };
const MAX_FOLDED_CHARS = 4_096;
const MAX_PART_CHARS = 200;

const FIRST_RULE = /\[REDACTED:([a-z0-9-]{1,40})/;

/** The replacement of a token in a run, or of the whole run if its decoded text contains a secret. */
function inRun(text: string, run: EncodedRun, done: number, scanOptions: Scan): Replacement | undefined {
  const { options, depth } = scanOptions;
  const span = findInEncoded(text, run, done);
  if (span !== undefined) {
    const secret = text.slice(span.start, span.end);
    const replacement = replacementOf(secret, span, scanOptions);
    return { ...span, by: replacement === secret ? '' : replacement };
  }
  if (depth >= MAX_DEPTH || run.start < done) return undefined;
  const decoded = decodeRun(text, run);
  if (decoded === undefined) return undefined;
  const redactedText = redactDeep(decoded, options, depth + 1);
  if (redactedText === decoded) return undefined;
  const rule = FIRST_RULE.exec(redactedText)?.[1] ?? 'named-secret';
  return { ...run, by: placeholderOf(rule, options.fingerprint?.(text.slice(run.start, run.end))) };
}

/** A named secret with a known form uses the rule of that form, so that its placeholder is the same everywhere. */
function replacementOf(secret: string, { rule }: SecretSpan, { options, depth }: Scan): string {
  if (options.allows(secret)) return secret;
  const placeholder = (): string => placeholderOf(rule, options.fingerprint?.(secret));
  if (!VALUE_RULES.has(rule)) return options.off.has(rule) ? secret : placeholder();
  const inner = redactOnce(secret, { ...options, named: false }, depth);
  return options.off.has(rule) || isPlaceholder(inner) ? inner : placeholder();
}

const VALUE_RULES: ReadonlySet<string> = wordSet('named-secret bearer-token basic-auth cookie url-credentials');

interface TextView {
  readonly text: string;
  /** Start in the original of each character of `text`, and the end. */
  readonly offsets: Uint32Array;
}

/** Colours; HTML references; JSON escapes of marks; percent escapes of ASCII, escaped any number of times. */
const ESCAPE =
  /(?:\u001B|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]{0,20}[A-Za-z]|&(?:quot|apos|amp|lt|gt|#34|#39|#x27|#x22);|\\u00(?:22|26|27|3[aAcCdDeE])|%(?:25){0,4}[0-7][0-9A-Fa-f]/g;

const REFERENCES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
};

/** True if an escape that may hide a secret begins at `position`; escaped blanks and slashes do not. */
function beginsEscape(text: string, position: number): boolean {
  const next = text.charAt(position + 1);
  switch (text.charAt(position)) {
    case '\u001B':
      return next === '[';
    case '[':
      return /\\(?:u001[bB]|x1[bB]|033|e)$/.test(text.slice(Math.max(0, position - 6), position));
    case '%':
      return /^(?:25){0,4}(?:22|27|3[0-9AaDd]|40|0[Aa]|2[Dd]|[4-7][0-9A-Fa-f])/.test(
        text.slice(position + 1, position + 11),
      );
    case '&':
      return /^(?:quot|#34|#39|#x2[27]|apos);/.test(text.slice(position + 1, position + 6));
    case '\\':
      return /^u00(?:22|27|3[aAdD])/.test(text.slice(position + 1, position + 6));
    default:
      return false;
  }
}

/** Cost: one pass, and four bytes per character. */
function viewText(text: string): TextView {
  const offsets = new Uint32Array(text.length + 1);
  let view = '';
  let copiedEnd = 0;
  const keepPart = (part: string, start: number, isWhole: boolean): void => {
    for (let position = 0; position < part.length; position += 1)
      offsets[view.length + position] = isWhole ? start : start + position;
    view += part;
  };
  for (const { 0: escape, index } of text.matchAll(ESCAPE)) {
    keepPart(text.slice(copiedEnd, index), copiedEnd, false);
    keepPart(meaningOf(escape), index, true);
    copiedEnd = index + escape.length;
  }
  keepPart(text.slice(copiedEnd), copiedEnd, false);
  offsets[view.length] = text.length;
  return { text: view, offsets };
}

function meaningOf(escape: string): string {
  if (escape.startsWith('&')) return REFERENCES[escape] ?? (/[34x]4|22/.test(escape) ? '"' : "'");
  if (escape.startsWith('%')) return String.fromCharCode(Number.parseInt(escape.slice(-2), 16));
  return /^\\u00[23]/.test(escape) ? String.fromCharCode(Number.parseInt(escape.slice(-2), 16)) : '';
}
