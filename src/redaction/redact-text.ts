import { decodeRun, type EncodedRun } from './encoded-run.ts';
import { findForm, findInEncoded, Marks } from './keyword-scan.ts';
import { findNamed } from './find-named.ts';
import { type Fingerprint, isPlaceholder, placeholderEnd, placeholderOf, type SecretSpan } from './secret-span.ts';

/** Which secrets are left as they are, and how the others are replaced. */
export interface RedactTextOptions {
  /** Names of rules that are off. */
  readonly off: ReadonlySet<string>;
  /** Whether a secret that was found is to be left. */
  readonly allows: (secret: string) => boolean;
  /** False: only what is a secret by its own form; names before a value do not count. */
  readonly named: boolean;
  /** What placeholders carry. Default: nothing. */
  readonly fingerprint?: Fingerprint | undefined;
}

/**
 * The text with every secret replaced by its placeholder; the same text where there is none.
 *
 * Cost: one pass that looks closer only at a few marks, and a look at every sixth character for encoded runs. What is read after
 * a mark is either bounded or becomes part of a secret and is not read again, so the time grows with the length, whatever the text.
 */
export function redactText(text: string, options: RedactTextOptions): string {
  return redactDeep(text, options, 0);
}

/** What a secret was glued to stands free once it is replaced and may read as one, so another look must find nothing new. */
const MAX_ROUNDS = 6;
/** Text in base64 in base64. */
const MAX_DEPTH = 2;

function redactDeep(text: string, options: RedactTextOptions, depth: number): string {
  let redacted = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const again = redactOnce(redacted, options, depth);
    if (again === redacted) break;
    redacted = again;
  }
  return redacted;
}

function redactOnce(text: string, options: RedactTextOptions, depth: number): string {
  const found = scan(text, { options, depth, inView: false });
  if (found !== 'escaped') return replaceAll(text, found);
  // What the text says without its escapes is looked at instead.
  const { text: view, offsets } = viewText(text);
  const inView = scan(view, { options, depth, inView: true });
  if (inView === 'escaped') return text;
  const place = (at: number): number => offsets[at] ?? text.length;
  return replaceAll(
    text,
    // An escape behind the secret is no part of it; one that hides its last character is.
    inView.map(({ start, end, by }) => ({ start: place(start), end: endOf(text, place(end - 1)), by })),
  );
}

/** Where the character that begins at `at` in the original ends, escaped or not. */
function endOf(text: string, at: number): number {
  return (
    at +
    (/^(?:%(?:25){0,4}[0-7][0-9A-Fa-f]|&#?\w{1,5};|\\u00[0-9A-Fa-f]{2})/.exec(text.slice(at, at + 12))?.[0].length ?? 1)
  );
}

/** A stretch of a text and what stands in its place. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

function replaceAll(text: string, spans: readonly Replacement[]): string {
  let kept = '';
  let done = 0;
  for (const { start, end, by } of spans) {
    kept += text.slice(done, start) + by;
    done = end;
  }
  return done === 0 ? text : kept + text.slice(done);
}

interface Scan {
  readonly options: RedactTextOptions;
  readonly depth: number;
  /** Whether escapes are resolved already. */
  readonly inView: boolean;
}

/** The one scan: secrets by their form, by what stands before them, and in encoded runs, from left to right. */
function scan(text: string, how: Scan): readonly Replacement[] | 'escaped' {
  const { options, inView } = how;
  const marks = new Marks(text);
  const found: Replacement[] = [];
  let done = 0;
  let runsDone = 0;
  for (let at = marks.next(0); ; at = marks.next(Math.max(at + 1, done))) {
    for (
      let run = marks.run(Math.max(done, runsDone), at);
      run !== undefined;
      run = marks.run(Math.max(done, runsDone), at)
    ) {
      // A mark inside the run is looked at afterwards, unless the run held a secret.
      runsDone = run.end;
      const replacement = inRun(text, run, done, how);
      if (replacement === undefined) continue;
      if (replacement.by !== '') found.push(replacement);
      done = replacement.end;
      // What else it holds.
      if (done < run.end) runsDone = done;
    }
    if (at >= text.length) return found;
    if (at < done) continue;
    if (!inView && beginsEscape(text, at)) return 'escaped';
    const placeholder = placeholderEnd(text, at);
    if (placeholder >= 0) {
      done = placeholder;
      continue;
    }
    const span = findForm(text, at, done) ?? (options.named ? findNamed(text, at, done) : undefined);
    if (span === undefined || span.start < done) continue;
    const secret = text.slice(span.start, span.end);
    const by = replacementOf(secret, span, how);
    if (by !== secret) found.push({ ...span, by });
    done = span.end;
  }
}

const FIRST_RULE = /\[REDACTED:([a-z0-9-]{1,40})/;

/** The replacement of a token in a run, or of the whole run when it holds a secret once it is decoded. */
function inRun(text: string, run: EncodedRun, done: number, how: Scan): Replacement | undefined {
  const { options, depth } = how;
  const span = findInEncoded(text, run, done);
  if (span !== undefined) {
    const secret = text.slice(span.start, span.end);
    const by = replacementOf(secret, span, how);
    return { ...span, by: by === secret ? '' : by };
  }
  if (depth >= MAX_DEPTH || run.start < done) return undefined;
  const decoded = decodeRun(text, run);
  if (decoded === undefined) return undefined;
  const redacted = redactDeep(decoded, options, depth + 1);
  if (redacted === decoded) return undefined;
  const rule = FIRST_RULE.exec(redacted)?.[1] ?? 'named-secret';
  return { ...run, by: placeholderOf(rule, options.fingerprint?.(text.slice(run.start, run.end))) };
}

/** A secret under a telling name keeps the rule of its own form, so that it reads the same wherever it stands. */
function replacementOf(secret: string, { rule }: SecretSpan, { options, depth }: Scan): string {
  if (options.allows(secret)) return secret;
  const whole = (): string => placeholderOf(rule, options.fingerprint?.(secret));
  if (!VALUE_RULES.has(rule)) return options.off.has(rule) ? secret : whole();
  const inner = redactOnce(secret, { ...options, named: false }, depth);
  return options.off.has(rule) || isPlaceholder(inner) ? inner : whole();
}

/** Rules that find a value by what stands before it; another rule may know the value itself. */
const VALUE_RULES: ReadonlySet<string> = new Set([
  'named-secret',
  'bearer-token',
  'basic-auth',
  'cookie',
  'url-credentials',
]);

/** A text as it reads once colours are gone and escapes are resolved, and where each of its characters stands in the original. */
interface TextView {
  readonly text: string;
  /** By character of `text`, where it begins in the original; one more for the end. */
  readonly offsets: Uint32Array;
}

/** Colours; references of HTML; escapes of JSON for marks; percent escapes of ASCII, escaped any number of times. */
const ESCAPE =
  /(?:\u001B|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]{0,20}[A-Za-z]|&(?:quot|apos|amp|lt|gt|#34|#39|#x27|#x22);|\\u00(?:22|26|27|3[aAcCdDeE])|%(?:25){0,4}[0-7][0-9A-Fa-f]/g;

const REFERENCES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
};

/** Whether an escape begins at `at` that may hide a secret; escaped blanks and slashes alone do not. */
function beginsEscape(text: string, at: number): boolean {
  const next = text.charAt(at + 1);
  switch (text.charAt(at)) {
    case '\u001B':
      return next === '[';
    case '[':
      return /\\(?:u001[bB]|x1[bB]|033|e)$/.test(text.slice(Math.max(0, at - 6), at));
    case '%':
      return /^(?:25){0,4}(?:22|27|3[0-9AaDd]|40|0[Aa]|2[Dd]|[4-7][0-9A-Fa-f])/.test(text.slice(at + 1, at + 11));
    case '&':
      return /^(?:quot|#34|#39|#x2[27]|apos);/.test(text.slice(at + 1, at + 6));
    case '\\':
      return /^u00(?:22|27|3[aAdD])/.test(text.slice(at + 1, at + 6));
    default:
      return false;
  }
}

/** Cost: one pass, and four bytes a character. */
function viewText(text: string): TextView {
  const offsets = new Uint32Array(text.length + 1);
  let view = '';
  let done = 0;
  const keep = (part: string, from: number, isWhole: boolean): void => {
    for (let at = 0; at < part.length; at += 1) offsets[view.length + at] = isWhole ? from : from + at;
    view += part;
  };
  for (const { 0: escape, index } of text.matchAll(ESCAPE)) {
    keep(text.slice(done, index), done, false);
    keep(meaningOf(escape), index, true);
    done = index + escape.length;
  }
  keep(text.slice(done), done, false);
  offsets[view.length] = text.length;
  return { text: view, offsets };
}

function meaningOf(escape: string): string {
  if (escape.startsWith('&')) return REFERENCES[escape] ?? (/[34x]4|22/.test(escape) ? '"' : "'");
  if (escape.startsWith('%')) return String.fromCharCode(Number.parseInt(escape.slice(-2), 16));
  return /^\\u00[23]/.test(escape) ? String.fromCharCode(Number.parseInt(escape.slice(-2), 16)) : '';
}
