import { decodeRun, type EncodedRun } from './encoded-run.ts';
import { findForm, findInEncoded, Marks } from './keyword-scan.ts';
import { findNamed } from './find-named.ts';
import { type Fingerprint, isPlaceholder, placeholderEnd, placeholderOf, type SecretSpan } from './secret-span.ts';

export interface RedactTextOptions {
  /** Names of disabled rules. */
  readonly off: ReadonlySet<string>;
  /** Returns true to keep a found secret. */
  readonly allows: (secret: string) => boolean;
  /** If false, only secrets with a known form are found, not values identified by the name before them. */
  readonly named: boolean;
  /** Fingerprint in placeholders. Default: none. */
  readonly fingerprint?: Fingerprint | undefined;
}

/**
 * Replaces every secret by a placeholder. Returns the same text if it contains no secrets.
 *
 * Cost: one pass that examines only a few marks, and every sixth character for encoded runs. The text read after a mark is
 * either bounded or becomes part of a secret and is not read again, so the time is linear for any text.
 */
export function redactText(text: string, options: RedactTextOptions): string {
  return redactDeep(text, options, 0);
}

/** Text next to a replaced secret may become a secret itself, so the scan is repeated until nothing changes. */
const MAX_ROUNDS = 6;
/** Maximum levels of base64 in base64. */
const MAX_DEPTH = 2;

function redactDeep(text: string, options: RedactTextOptions, depth: number): string {
  let redacted = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = redactOnce(redacted, options, depth);
    if (next === redacted) break;
    redacted = next;
  }
  return redacted;
}

function redactOnce(text: string, options: RedactTextOptions, depth: number): string {
  const found = scan(text, { options, depth, inView: false });
  if (found !== 'escaped') return replaceAll(text, found);
  // Scan the text without its escapes instead.
  const { text: view, offsets } = viewText(text);
  const inView = scan(view, { options, depth, inView: true });
  if (inView === 'escaped') return text;
  const place = (at: number): number => offsets[at] ?? text.length;
  return replaceAll(
    text,
    // Includes an escape of the secret's last character, but not one after the secret.
    inView.map(({ start, end, by }) => ({ start: place(start), end: endOf(text, place(end - 1)), by })),
  );
}

/** The end of the character that begins at `at` in the original, escaped or not. */
function endOf(text: string, at: number): number {
  return (
    at +
    (/^(?:%(?:25){0,4}[0-7][0-9A-Fa-f]|&#?\w{1,5};|\\u00[0-9A-Fa-f]{2})/.exec(text.slice(at, at + 12))?.[0].length ?? 1)
  );
}

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

function replaceAll(text: string, spans: readonly Replacement[]): string {
  let result = '';
  let done = 0;
  for (const { start, end, by } of spans) {
    result += text.slice(done, start) + by;
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}

interface Scan {
  readonly options: RedactTextOptions;
  readonly depth: number;
  /** True if escapes are already resolved. */
  readonly inView: boolean;
}

/** Finds secrets by form, by the text before them, and in encoded runs, from left to right. */
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
      // Marks inside the run are examined afterwards, unless the run contained a secret.
      runsDone = run.end;
      const replacement = inRun(text, run, done, how);
      if (replacement === undefined) continue;
      if (replacement.by !== '') found.push(replacement);
      done = replacement.end;
      // Search the rest of the run.
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

/** The replacement of a token in a run, or of the whole run if its decoded text contains a secret. */
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

/** A named secret with a known form uses the rule of that form, so that its placeholder is the same everywhere. */
function replacementOf(secret: string, { rule }: SecretSpan, { options, depth }: Scan): string {
  if (options.allows(secret)) return secret;
  const whole = (): string => placeholderOf(rule, options.fingerprint?.(secret));
  if (!VALUE_RULES.has(rule)) return options.off.has(rule) ? secret : whole();
  const inner = redactOnce(secret, { ...options, named: false }, depth);
  return options.off.has(rule) || isPlaceholder(inner) ? inner : whole();
}

/** Rules that find a value by the text before it; another rule may know its form. */
const VALUE_RULES: ReadonlySet<string> = new Set([
  'named-secret',
  'bearer-token',
  'basic-auth',
  'cookie',
  'url-credentials',
]);

/** A text without colours and escapes, with the position of each character in the original. */
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

/** True if an escape that may hide a secret begins at `at`; escaped blanks and slashes do not. */
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

/** Cost: one pass, and four bytes per character. */
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
