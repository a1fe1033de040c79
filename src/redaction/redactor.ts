import { invalidArgument } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { applyOwnRules, checkOwnRules, type RedactionRule } from './own-rules.ts';
import { redactFields, type FieldWriter } from './payload-fields.ts';
import { redactJson } from './redact-json.ts';
import { redactText, type RedactTextOptions } from './redact-text.ts';
import { BUILT_IN_RULES } from './secret-rules.ts';
import { placeholderOf, type Fingerprint } from './secret-span.ts';
import { structureWriter, type TextReading } from './structure-only.ts';

/** What is taken out of records before anything sees them. */
export interface RedactionOptions {
  /**
   * - `secrets` (default): secrets are replaced by `[REDACTED:rule]`, all else stays.
   * - `structureOnly`: no content is stored, only shapes, sizes and keyed fingerprints. Needs `key`.
   */
  readonly mode?: 'secrets' | 'structureOnly';
  /** For `structureOnly`: at least 16 characters, the same for every process that writes to a store. Never stored. */
  readonly key?: string;
  /** Rules besides the built-in ones. */
  readonly rules?: readonly RedactionRule[];
  /** Names of built-in rules that are off. */
  readonly off?: readonly string[];
  /** Secrets that are none, whole or as patterns: keys of examples, a test's password. */
  readonly allow?: readonly (string | RegExp)[];
}

/** What a redactor is made with besides its options. */
export interface RedactorParts {
  /** Told when a rule of the user's own fails; the text is then replaced whole. */
  readonly onFault?: (rule: string, message: string) => void;
  /** What placeholders in content carry, so that equal secrets stay equal and different ones different. Default: nothing. */
  readonly fingerprint?: Fingerprint;
  /** For `structureOnly`: what a tool's answer says. Default: nothing, and the text as it is. */
  readonly readResult?: (text: string) => TextReading;
}

/** Takes secrets, or all content, out of payloads. */
export interface Redactor {
  /** The payload as it may be stored; the same object when nothing had to go. Never throws. */
  redact(payload: TrajectoryPayload): TrajectoryPayload;
}

const MIN_KEY_CHARS = 16;

/**
 * Makes the redactor of a process.
 *
 * Cost of `redact`: one pass over the strings of the payload; see docs/redaction.md for figures.
 *
 * @throws CoxswainError "invalid-definition" for a rule of the user's own that is not one
 * @throws CoxswainError "invalid-argument" for an unknown rule in `off`, or `structureOnly` without a `key` of 16 characters
 */
export function createRedactor(options: RedactionOptions = {}, parts: RedactorParts = {}): Redactor {
  const { rules = [], off = [], allow = [], mode = 'secrets' } = options;
  checkOwnRules(rules, new Set(BUILT_IN_RULES));
  for (const name of off) {
    if (BUILT_IN_RULES.includes(name)) continue;
    throw invalidArgument(`redaction.off names ${JSON.stringify(name)}, which is no built-in rule`, {
      details: { name, rules: BUILT_IN_RULES },
    });
  }
  const allows = allowsOf(allow);
  const whole = { off: new Set(off), allows, named: true };
  const own = { allows, onFault: parts.onFault ?? ((): void => {}) };
  const { fingerprint } = parts;
  const content = { ...whole, fingerprint };
  const forms = { ...content, named: false };
  const redactWith =
    (how: RedactTextOptions) =>
    (value: string): string => {
      const redacted = redactText(value, how);
      return rules.length === 0 ? redacted : applyOwnRules(redacted, rules, own);
    };
  const text = redactWith(content);
  // Of the configuration, or worked out from redacted records: without a key, so that a replay anywhere says the same.
  const configured = redactWith(whole);
  const token = (value: string): string => redactText(value, forms);
  const named = (secret: string, rule: string): string | undefined =>
    whole.off.has('named-secret') || allows(secret) ? undefined : placeholderOf(rule, fingerprint?.(secret));
  const json: FieldWriter['json'] = (value) => redactJson(value, { text, token, named });
  /** An id keeps telling records apart. */
  const id = (value: string): string => {
    const redacted = text(value);
    return redacted === value || fingerprint !== undefined ? redacted : `${redacted}-${hashText(value)}`;
  };
  const writer: FieldWriter =
    mode === 'structureOnly'
      ? structureWriter({ key: keyOf(options), readResult: parts.readResult ?? asItIs, redact: configured })
      : { text, json, result: json, name: text, id, configured };
  return { redact: (payload) => redactFields(payload, writer) };
}

function asItIs(text: string): TextReading {
  return { plain: text, says: '' };
}

function keyOf(options: RedactionOptions): string {
  const { key = '' } = options;
  if (key.length >= MIN_KEY_CHARS) return key;
  throw invalidArgument(
    `redaction in the mode structureOnly needs a key of at least ${MIN_KEY_CHARS} characters, got ${key.length}`,
    { details: { length: key.length } },
  );
}

function allowsOf(allow: readonly (string | RegExp)[]): (secret: string) => boolean {
  if (allow.length === 0) return () => false;
  const secrets = new Set(allow.filter((item) => typeof item === 'string'));
  // Without the flags that make `test` remember a position.
  const patterns = allow.flatMap((item) =>
    typeof item === 'string' ? [] : [new RegExp(item.source, item.flags.replace(/[gy]/g, ''))],
  );
  return (secret) => secrets.has(secret) || patterns.some((pattern) => pattern.test(secret));
}
