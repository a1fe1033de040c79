import { findAssigned, findOption, findUserOption } from './find-named.ts';
import { findPrivateKey } from './find-private-key.ts';
import {
  findAzureSecret,
  findCapitalA,
  findDatabricks,
  findDotted,
  findNewRelic,
  findPair,
  findPrefixed,
  findScheme,
  findTwilioKey,
  findUrlCredentials,
} from './find-token.ts';
import { nextMark } from './secret-marks.ts';
import { isPlaceholder, placeholderEnd, placeholderOf, type SecretSpan } from './secret-span.ts';

/** Which secrets are left as they are. */
export interface RedactTextOptions {
  /** Names of rules that are off. */
  readonly off: ReadonlySet<string>;
  /** Whether a secret that was found is to be left. */
  readonly allows: (secret: string) => boolean;
  /** False: only what is a secret by its own form; names before a value do not count. */
  readonly named: boolean;
}

/**
 * The text with every secret replaced by its placeholder; the same text where there is none.
 *
 * Cost: one pass that looks closer only at a few marks. What is read after a mark is either bounded or becomes part of
 * a secret and is not read again, so the time grows with the length, whatever the text.
 */
export function redactText(text: string, options: RedactTextOptions): string {
  let redacted = redactOnce(text, options);
  if (redacted === text) return text;
  // What a secret was glued to stands free now and may read as one, so a second look must find nothing new.
  for (let round = 1; round < MAX_ROUNDS; round += 1) {
    const again = redactOnce(redacted, options);
    if (again === redacted) break;
    redacted = again;
  }
  return redacted;
}

const MAX_ROUNDS = 6;

function redactOnce(text: string, options: RedactTextOptions): string {
  let kept = '';
  let done = 0;
  for (let at = nextMark(text, 0); at >= 0; at = nextMark(text, Math.max(at + 1, done))) {
    const end = placeholderEnd(text, at);
    if (end >= 0) {
      kept += text.slice(done, end);
      done = end;
      continue;
    }
    const span = findForm(text, at, done) ?? (options.named ? findNamed(text, at, done) : undefined);
    if (span === undefined || span.start < done) continue;
    const secret = text.slice(span.start, span.end);
    kept += text.slice(done, span.start) + replacementOf(secret, span.rule, options);
    done = span.end;
  }
  return done === 0 ? text : kept + text.slice(done);
}

/** A secret under a telling name keeps the rule of its own form, so that it reads the same wherever it stands. */
function replacementOf(secret: string, rule: string, options: RedactTextOptions): string {
  if (options.allows(secret)) return secret;
  if (!VALUE_RULES.has(rule)) return options.off.has(rule) ? secret : placeholderOf(rule);
  const inner = redactOnce(secret, { ...options, named: false });
  return options.off.has(rule) || isPlaceholder(inner) ? inner : placeholderOf(rule);
}

/** Rules that find a value by what stands before it; another rule may know the value itself. */
const VALUE_RULES: ReadonlySet<string> = new Set([
  'named-secret',
  'bearer-token',
  'basic-auth',
  'cookie',
  'url-credentials',
]);

/** What is a secret by its own form and has its mark at `at`. */
function findForm(text: string, at: number, done: number): SecretSpan | undefined {
  const next = text.charCodeAt(at + 1);
  switch (text.charCodeAt(at)) {
    case 95: // _
      return findPrefixed(text, at, done);
    case 46: // .
      return findPrefixed(text, at, done) ?? findDotted(text, at, done);
    case 45: // -
      return findPrefixed(text, at, done) ?? findDashedKey(text, at, next);
    case 58: // :
      if (next === 47) return text.charCodeAt(at + 2) === 47 ? findUrlCredentials(text, at) : undefined;
      return findPair(text, at, done);
    case 65: // A
      return findCapitalA(text, at);
    case 83: // S
      return next === 75 ? findTwilioKey(text, at) : undefined;
    case 78: // N
      return next === 82 ? findNewRelic(text, at, done) : undefined;
    case 100: // d
      return next === 97 && text.charCodeAt(at + 2) === 112 ? findDatabricks(text, at) : undefined;
    case 66: // B
    case 98: // b
      // `Basic `, `Bearer `
      return (next | 32) === 97 || (next | 32) === 101 ? findScheme(text, at) : undefined;
    case 126: // ~
      return findAzureSecret(text, at, done);
    default:
      return undefined;
  }
}

function findDashedKey(text: string, at: number, next: number): SecretSpan | undefined {
  if (next === 45) return text.charCodeAt(at + 2) === 45 ? findPrivateKey(text, at) : undefined;
  // PuTTY-User-Key-File
  return next === 85 && text.charCodeAt(at - 1) === 89 ? findPrivateKey(text, at - 5) : undefined;
}

/** What is a secret because of the name before it. */
function findNamed(text: string, at: number, done: number): SecretSpan | undefined {
  const unit = text.charCodeAt(at);
  if (unit === 58 || unit === 61) return findAssigned(text, at, done);
  if (unit !== 45) return undefined;
  const next = text.charCodeAt(at + 1);
  if (next === 45) return findUserOption(text, at) ?? findOption(text, at);
  return next === 117 ? findUserOption(text, at) : undefined;
}
