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

/** Options for redacting records. */
export interface RedactionOptions {
  /**
   * - `secrets` (default): secrets are replaced by `[REDACTED:rule]`.
   * - `structureOnly`: only shapes, sizes and keyed fingerprints are stored, no content. Needs `key`.
   */
  readonly mode?: 'secrets' | 'structureOnly';
  /**
   * The key for `structureOnly`: at least 16 characters, and the same for every process that writes to a store. It is not
   * stored.
   */
  readonly key?: string;
  /** Custom rules, in addition to the built-in ones. */
  readonly rules?: readonly RedactionRule[];
  /** Names of disabled built-in rules. */
  readonly off?: readonly string[];
  /** Harmless values that redaction keeps, as whole strings or patterns, such as example keys or the password of a test. */
  readonly allow?: readonly (string | RegExp)[];
}

export interface RedactorParts {
  /** Called when a custom rule fails. The whole text is then replaced. */
  readonly onFault?: (rule: string, message: string) => void;
  /** Fingerprint in placeholders, so that different secrets remain different. Default: none. */
  readonly fingerprint?: Fingerprint;
  /** For `structureOnly`: classifies a tool's result. Default: the text itself, without a class. */
  readonly readResult?: (text: string) => TextReading;
}

/** Removes secrets, or all content, from payloads. */
export interface Redactor {
  /** Returns the redacted payload, or the same object if nothing changed. Never throws. */
  redact(payload: TrajectoryPayload): TrajectoryPayload;
}

const MIN_KEY_CHARS = 16;

/**
 * Creates a redactor.
 *
 * Cost of `redact`: one pass over the strings of the payload; see docs/redaction.md for figures.
 *
 * @throws CoxswainError "invalid-definition" for an invalid custom rule
 * @throws CoxswainError "invalid-argument" for an unknown rule in `off`, or `structureOnly` without a `key` of 16 characters
 */
export function createRedactor(options: RedactionOptions = {}, parts: RedactorParts = {}): Redactor {
  const { rules = [], off = [], allow = [], mode = 'secrets' } = options;
  checkOwnRules(rules, new Set(BUILT_IN_RULES));
  for (const name of off) {
    if (BUILT_IN_RULES.includes(name)) continue;
    throw invalidArgument(`redaction.off names ${JSON.stringify(name)}, which is not a built-in rule`, {
      details: { name, rules: BUILT_IN_RULES },
    });
  }
  const allows = allowsOf(allow);
  const whole = { off: new Set(off), allows, named: true };
  const ownOptions = { allows, onFault: parts.onFault ?? ((): void => {}) };
  const { fingerprint } = parts;
  const content = { ...whole, fingerprint };
  const forms = { ...content, named: false };
  const redactWith =
    (textOptions: RedactTextOptions) =>
    (value: string): string => {
      const redactedText = redactText(value, textOptions);
      return rules.length === 0 ? redactedText : applyOwnRules(redactedText, rules, ownOptions);
    };
  const text = redactWith(content);
  // This text has no fingerprint, so that a replay on another machine gives the same text.
  const configured = redactWith(whole);
  const token = (value: string): string => redactText(value, forms);
  const named = (secret: string, rule: string): string | undefined =>
    whole.off.has('named-secret') || allows(secret) ? undefined : placeholderOf(rule, fingerprint?.(secret));
  const json: FieldWriter['json'] = (value) => redactJson(value, { text, token, named });
  /** Keeps redacted ids distinct. */
  const id = (value: string): string => {
    const redactedText = text(value);
    return redactedText === value || fingerprint !== undefined ? redactedText : `${redactedText}-${hashText(value)}`;
  };
  const writer: FieldWriter =
    mode === 'structureOnly'
      ? structureWriter({ key: keyOf(options), readResult: parts.readResult ?? unclassifiedText, redact: configured })
      : { text, json, result: json, name: text, id, configured };
  return { redact: (payload) => redactFields(payload, writer) };
}

function unclassifiedText(text: string): TextReading {
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
  // Without the flags that make `test` stateful.
  const patterns = allow.flatMap((item) =>
    typeof item === 'string' ? [] : [new RegExp(item.source, item.flags.replace(/[gy]/g, ''))],
  );
  return (secret) => secrets.has(secret) || patterns.some((pattern) => pattern.test(secret));
}
