import {
  ALNUM,
  BASE64_EXTRA,
  beginsWord,
  CAPITAL,
  DASH,
  DOT,
  hasDigit,
  HEX,
  isOf,
  runEnd,
  runStart,
  UNDERSCORE,
} from './char-class.ts';
import type { SecretSpan } from './secret-span.ts';
import { TOKEN_PREFIXES, type TokenPrefix } from './token-prefixes.ts';

const NAME = ALNUM | UNDERSCORE | DASH;
/** A token without a digit is one all the same from this length on; it also bounds what is read in vain. */
const SURELY_CHARS = 64;

/** A prefix and how many units stand before its first mark. */
interface MarkedPrefix extends TokenPrefix {
  readonly mark: number;
}

type PrefixesByMark = readonly (readonly MarkedPrefix[] | undefined)[];

/** Made when a prefix is first met, which is seldom: a short-lived process meets none. */
let byMark: PrefixesByMark | undefined;

/** Prefixes by the unit before their first mark and the mark itself, the longest first. */
function prefixesByMark(): PrefixesByMark {
  const made: (readonly MarkedPrefix[] | undefined)[] = Array.from({ length: 128 * 4 });
  for (const entry of [...TOKEN_PREFIXES].sort((one, other) => other.prefix.length - one.prefix.length)) {
    let mark = 0;
    while (markNumber(entry.prefix.charCodeAt(mark)) === 0) mark += 1;
    const key = keyAt(entry.prefix, mark);
    made[key] = [...(made[key] ?? []), { ...entry, mark }];
  }
  return made;
}

/** 1 to 3 for `_`, `-` and `.`, 0 for anything else. */
function markNumber(unit: number): number {
  if (unit === 0x5f) return 1;
  return unit === 0x2d ? 2 : unit === 0x2e ? 3 : 0;
}

function keyAt(text: string, mark: number): number {
  return (text.charCodeAt(mark - 1) << 2) | markNumber(text.charCodeAt(mark));
}

/**
 * A token known by its prefix whose first `_`, `-` or `.` stands at `at`.
 *
 * @param done  nothing before it is looked at
 */
export function findPrefixed(text: string, at: number, done: number): SecretSpan | undefined {
  const before = text.charCodeAt(at - 1);
  if (before > 127) return undefined;
  byMark ??= prefixesByMark();
  const entries = byMark[keyAt(text, at)];
  if (entries === undefined) return undefined;
  for (const { rule, prefix, body, min, digit, word, mark } of entries) {
    const start = at - mark;
    if (start < done || !text.startsWith(prefix, start) || (word && !beginsWord(text, start))) continue;
    const from = start + prefix.length;
    const sure = runEnd(text, from, body, from + SURELY_CHARS);
    if (sure - from < min) continue;
    if (digit && sure - from < SURELY_CHARS && !hasDigit(text, from, sure)) continue;
    return { start, end: runEnd(text, sure, body), rule };
  }
  return undefined;
}

/** A run of exactly `length` units of `mask` after `prefix`, with a word's limit on both sides. */
function exact(
  text: string,
  start: number,
  form: { readonly rule: string; readonly prefix: string; readonly mask: number; readonly length: number },
): SecretSpan | undefined {
  if (!text.startsWith(form.prefix, start) || !beginsWord(text, start)) return undefined;
  const from = start + form.prefix.length;
  const end = runEnd(text, from, form.mask, from + form.length);
  if (end - from < form.length || isOf(text, end, ALNUM | UNDERSCORE)) return undefined;
  return { start, end, rule: form.rule };
}

const AWS_ID = /A(?:KIA|SIA|GPA|IDA|ROA|NPA|NVA|BIA|CCA)/y;
const ATLASSIAN = /AT(?:ATT|CTT|BB)[A-Za-z0-9]/y;

/** Keys that begin with `A`: AWS, Google, Atlassian, Artifactory. */
export function findCapitalA(text: string, at: number): SecretSpan | undefined {
  const second = text.charCodeAt(at + 1);
  // A capital, or the `Iz` of Google.
  if (second < 65 || second > 90) return undefined;
  if (second === 73 && text.charCodeAt(at + 2) === 122) {
    return exact(text, at, { rule: 'google-api-key', prefix: 'AIza', mask: NAME, length: 35 });
  }
  AWS_ID.lastIndex = at;
  if (AWS_ID.test(text)) {
    return exact(text, at, {
      rule: 'aws-access-key',
      prefix: text.slice(at, at + 4),
      mask: CAPITAL,
      length: 16,
    });
  }
  ATLASSIAN.lastIndex = at;
  if (second === 84 && ATLASSIAN.test(text) && beginsWord(text, at)) {
    return atLeast(text, at, { rule: 'atlassian-token', mask: NAME | BASE64_EXTRA, min: 24 });
  }
  return second === 75 && text.startsWith('AKCp', at) && beginsWord(text, at)
    ? atLeast(text, at, { rule: 'artifactory-key', mask: ALNUM, min: 64 })
    : undefined;
}

function atLeast(
  text: string,
  start: number,
  form: { readonly rule: string; readonly mask: number; readonly min: number },
): SecretSpan | undefined {
  const sure = runEnd(text, start, form.mask, start + form.min);
  if (sure - start < form.min || !hasDigit(text, start, sure)) return undefined;
  return { start, end: runEnd(text, sure, form.mask), rule: form.rule };
}

/** `SK` and 32 hexadecimal digits: an API key of Twilio. */
export function findTwilioKey(text: string, at: number): SecretSpan | undefined {
  return exact(text, at, { rule: 'twilio-key', prefix: 'SK', mask: HEX, length: 32 });
}

/** `dapi` and 32 hexadecimal digits: a token of Databricks. */
export function findDatabricks(text: string, at: number): SecretSpan | undefined {
  return exact(text, at, { rule: 'databricks-token', prefix: 'dapi', mask: HEX, length: 32 });
}

/** 36 hexadecimal digits and `NRAL`: a licence key of New Relic. */
export function findNewRelic(text: string, at: number, done: number): SecretSpan | undefined {
  if (!text.startsWith('NRAL', at)) return undefined;
  const start = runStart(text, at, HEX, Math.max(done, at - 37));
  return at - start === 36 ? { start, end: at + 4, rule: 'new-relic-key' } : undefined;
}

const AZURE = /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/y;

/** A client secret of Azure's directory, whose sixth unit is `~`. */
export function findAzureSecret(text: string, at: number, done: number): SecretSpan | undefined {
  if (text[at - 1] !== 'Q' || at - 5 < done) return undefined;
  AZURE.lastIndex = at - 5;
  return AZURE.test(text) ? { start: at - 5, end: AZURE.lastIndex, rule: 'azure-client-secret' } : undefined;
}

/** What has a dot in it: JSON web tokens, Discord's and Terraform's tokens, web hooks. */
export function findDotted(text: string, at: number, done: number): SecretSpan | undefined {
  const next = text.charCodeAt(at + 1);
  if (next === 101 && text.startsWith('.eyJ', at)) return findJwt(text, at, done);
  if (next === 97 && text.startsWith('.atlasv1.', at)) return findTerraform(text, at, done);
  if (next === 115 && text.startsWith('hooks.slack.com/', at - 5)) return findHook(text, at - 5, 'slack-webhook');
  if (next === 99 && text.startsWith('.com/api/webhooks/', at)) return findHook(text, at + 1, 'discord-webhook');
  return text.charCodeAt(at + 7) === 46 ? findDiscord(text, at, done) : undefined;
}

function findJwt(text: string, at: number, done: number): SecretSpan | undefined {
  const start = runStart(text, at, NAME, done);
  // Something may stand before it without a limit, such as the `n` of an escaped line break.
  const opening = text.slice(start, at).indexOf('eyJ');
  if (opening < 0) return undefined;
  const payload = runEnd(text, at + 1, NAME);
  const end = text[payload] === '.' ? runEnd(text, payload + 1, NAME) : payload;
  return payload - at < 8 ? undefined : { start: start + opening, end, rule: 'jwt' };
}

function findTerraform(text: string, at: number, done: number): SecretSpan | undefined {
  const start = runStart(text, at, ALNUM, Math.max(done, at - 16));
  const from = at + '.atlasv1.'.length;
  const end = runEnd(text, from, NAME);
  return at - start < 10 || end - from < 40 ? undefined : { start, end, rule: 'terraform-token' };
}

function findDiscord(text: string, at: number, done: number): SecretSpan | undefined {
  const start = runStart(text, at, NAME, Math.max(done, at - 30));
  if (at - start < 23 || at - start > 28 || !'MNO'.includes(text[start] ?? ' ')) return undefined;
  if (runEnd(text, at + 1, NAME, at + 8) !== at + 7) return undefined;
  const sure = runEnd(text, at + 8, NAME, at + 8 + 27);
  return sure < at + 8 + 27 ? undefined : { start, end: runEnd(text, sure, NAME), rule: 'discord-token' };
}

const HOOK = /hooks\.slack\.com\/[a-z]{4,20}\/|com\/api\/webhooks\/\d{5,25}\//y;

/** The secret part of a web hook's address. */
function findHook(text: string, at: number, rule: string): SecretSpan | undefined {
  HOOK.lastIndex = at;
  if (!HOOK.test(text)) return undefined;
  const start = HOOK.lastIndex;
  const end = runEnd(text, start, NAME | BASE64_EXTRA);
  return end - start < 20 ? undefined : { start, end, rule };
}

/** A bot's number and its key: Telegram; an account and its key: Twilio. */
export function findPair(text: string, at: number, done: number): SecretSpan | undefined {
  if (!isOf(text, at - 1, HEX)) return undefined;
  const digits = runStart(text, at, HEX, Math.max(done, at - 33));
  // `A` and `C` are hexadecimal digits themselves.
  if (at - digits >= 32 && text.startsWith('AC', at - 34) && runEnd(text, at + 1, HEX, at + 34) === at + 33) {
    return { start: at + 1, end: at + 33, rule: 'twilio-key' };
  }
  if (at - digits < 8 || at - digits > 10 || !/^\d+$/.test(text.slice(digits, at))) return undefined;
  const end = runEnd(text, at + 1, NAME, at + 37);
  return end === at + 36 ? { start: digits, end, rule: 'telegram-token' } : undefined;
}

const CREDENTIAL = ALNUM | UNDERSCORE | DASH | DOT | BASE64_EXTRA;

/** `Bearer TOKEN` and `Basic BASE64`, whatever stands before them. */
export function findScheme(text: string, at: number): SecretSpan | undefined {
  const isBasicScheme = (text.charCodeAt(at + 1) | 32) === 97;
  // The third letter: ba-s-ic, be-a-rer.
  if ((text.charCodeAt(at + 2) | 32) !== (isBasicScheme ? 115 : 97)) return undefined;
  const word = isBasicScheme ? 'basic ' : 'bearer ';
  const start = at + word.length;
  if (text.slice(at, start).toLowerCase() !== word || !beginsWord(text, at)) return undefined;
  const sure = runEnd(text, start, CREDENTIAL, start + 32);
  const isSecret = isBasicScheme
    ? isBasic(text.slice(start, Math.min(runEnd(text, sure, CREDENTIAL), start + 4_096)))
    : sure - start === 32 || (sure - start >= 16 && hasDigit(text, start, sure));
  if (!isSecret) return undefined;
  return { start, end: runEnd(text, sure, CREDENTIAL), rule: isBasicScheme ? 'basic-auth' : 'bearer-token' };
}

/** Whether a base64 text says `user:password`. */
function isBasic(encoded: string): boolean {
  if (encoded.length < 8 || encoded.length > 4_095) return encoded.length > 4_095;
  // Not `atob`, which throws at what is no base64: an error a word costs more than all else here.
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(encoded, 'base64').toString('latin1'));
}

/** Longest user and password of an address. */
const MAX_USER_CHARS = 2_048;

/** `scheme://user:password@host`, of which the password goes; `scheme://KEY@host`, of which the key goes. */
export function findUrlCredentials(text: string, at: number): SecretSpan | undefined {
  const from = at + 3;
  const limit = Math.min(text.length, from + MAX_USER_CHARS);
  let colon = -1;
  let sign = -1;
  for (let end = from; end < limit; end += 1) {
    const unit = text.charCodeAt(end);
    if (unit === 58 && colon < 0) colon = end;
    else if (unit === 64) sign = end;
    // A blank, a quotation mark, or what ends the host's part.
    else if (unit <= 34 || "/?#<>\\`'{}|^[]".includes(text.charAt(end))) break;
  }
  if (sign < 0) return undefined;
  if (colon >= 0 && colon < sign) {
    return sign - colon > 1 && !isReference(text, colon + 1)
      ? { start: colon + 1, end: sign, rule: 'url-credentials' }
      : undefined;
  }
  return sign - from >= 16 && hasDigit(text, from, sign)
    ? { start: from, end: sign, rule: 'url-credentials' }
    : undefined;
}

/** A variable or a word in brackets stands where the secret would. */
function isReference(text: string, at: number): boolean {
  return '$<%*['.includes(text[at] ?? '');
}
