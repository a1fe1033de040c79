import { isJsonObject } from '../../base/json.ts';
import type { Classifier } from './classifier.ts';

interface Secret {
  readonly what: string;
  readonly confidence: number;
  /** The pattern takes linear time: it has no nested quantifiers, and every repetition is bounded. */
  readonly pattern: RegExp;
}

const SECRETS: readonly Secret[] = [
  { what: 'a private key', confidence: 0.98, pattern: /-----BEGIN [A-Z ]{0,24}PRIVATE KEY/ },
  { what: 'a cloud access key', confidence: 0.95, pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{35}/ },
  {
    what: 'a service token',
    confidence: 0.95,
    pattern:
      /\bgh[opsu]_[A-Za-z0-9]{36}|\bgithub_pat_\w{22}|\bxox[abprs]-[\w-]{10}|\b[sr]k_live_\w{16}|\bglpat-[\w-]{20}/,
  },
  { what: 'a model API key', confidence: 0.9, pattern: /\bsk-[\w-]{20}/ },
  { what: 'a signed token', confidence: 0.85, pattern: /\beyJ[\w-]{10,400}\.eyJ[\w-]{10,800}\.[\w-]{10}/ },
  { what: 'a password in a URL', confidence: 0.85, pattern: /:\/\/[^\s:/@]{1,64}:[^\s:/@]{3,64}@/ },
  {
    what: 'a secret in an assignment',
    confidence: 0.8,
    pattern:
      /(?:api[_-]?key|secret|passwd|password|access[_-]?token|auth[_-]?token)["']{0,2} {0,2}[:=] {0,2}["']?(?=[\w+/=.-]{0,63}\d)[\w+/=.-]{8}/i,
  },
];
/** Matches names of members whose value is a secret. */
const SECRET_NAME =
  /^(?:api[_-]?key|(?:client[_-]?)?secret|passwd|password|(?:access|auth|refresh)[_-]?token|private[_-]?key)$/i;
const MIN_VALUE_CHARS = 6;
/** Matches a reference to a secret, such as `$TOKEN`, `{{token}}` or `<token>`. */
const REFERENCE = /^[$<{]/;

const MAX_DEPTH = 16;
/** Limits for all pending calls together. */
const MAX_CHARS = 65_536;
const MAX_VALUES = 2_000;

/**
 * Relevant if a pending call seems to contain a secret: a key, a token, a password in a URL or an assignment, or a member
 * whose name indicates a secret. Short or unusual secrets are not found. The reason states the kind of secret, never
 * the tool or the content.
 *
 * Cost: linear; reads at most 65,536 characters and 2,000 values of all pending calls together.
 */
export function sensitiveContentPending(): Classifier {
  return {
    name: 'sensitive_content_pending',
    afterRefusals: true,
    classify({ pendingToolCalls }) {
      const budget: Budget = { chars: MAX_CHARS, values: MAX_VALUES };
      for (const call of pendingToolCalls) {
        const finding = findSensitive(call.args, budget, 0);
        if (finding === undefined) continue;
        const reason = `a pending call holds what looks like ${finding.what}`;
        return { relevant: true, confidence: finding.confidence, reason };
      }
      return { relevant: false, confidence: 0 };
    },
  };
}

interface Budget {
  chars: number;
  values: number;
}

type Finding = Pick<Secret, 'what' | 'confidence'>;

const NAMED: Finding = { what: 'a secret in a member named for one', confidence: 0.85 };

function findSensitive(value: unknown, budget: Budget, depth: number): Finding | undefined {
  if (budget.values <= 0 || budget.chars <= 0 || depth > MAX_DEPTH) return undefined;
  budget.values -= 1;
  if (typeof value === 'string') return searchText(value, budget);
  if (Array.isArray(value)) {
    for (const item of value) {
      const finding = findSensitive(item, budget, depth + 1);
      if (finding !== undefined) return finding;
      if (budget.values <= 0) return undefined;
    }
    return undefined;
  }
  return isJsonObject(value) ? searchMembers(value, budget, depth) : undefined;
}

function searchMembers(value: Readonly<Record<string, unknown>>, budget: Budget, depth: number): Finding | undefined {
  for (const key in value) {
    const member = value[key];
    if (typeof member === 'string' && isNamedSecret(key, member)) return NAMED;
    const finding = findSensitive(member, budget, depth + 1);
    if (finding !== undefined) return finding;
    if (budget.values <= 0) return undefined;
  }
  return undefined;
}

function isNamedSecret(key: string, value: string): boolean {
  return value.length >= MIN_VALUE_CHARS && key.length <= 32 && SECRET_NAME.test(key) && !REFERENCE.test(value);
}

function searchText(text: string, budget: Budget): Finding | undefined {
  const searchedText = text.length > budget.chars ? text.slice(0, budget.chars) : text;
  budget.chars -= searchedText.length;
  return SECRETS.find(({ pattern }) => pattern.test(searchedText));
}
