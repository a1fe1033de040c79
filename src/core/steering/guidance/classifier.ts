import { invalidDefinition } from '../../base/error.ts';
import type { ClassificationResult } from '../../records/spoken-advice.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryView } from '../prompt/prompt.ts';
import { present, isJsonObject } from '../../base/json.ts';
import { checkShare, defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import { type NumberShape, whole } from '../../base/shape.ts';

/**
 * Decides whether guidance is relevant at a decision point. A classifier is a stateless function of the context. It takes
 * microseconds and does no I/O.
 *
 * The confidence states how strongly the situation calls for guidance, even if the guidance is not relevant: 0 is a clear
 * no, 1 a clear yes. Built-in classifiers return 0.5 and above if relevant, else less.
 */
export interface Classifier {
  readonly name: string;
  /** As `GuidanceProvider.afterRefusals`. */
  readonly afterRefusals?: boolean | undefined;
  classify(context: GuidanceContext): ClassificationResult;
}

/**
 * Returns the result of a classifier that counts. The result is relevant if the count reaches the threshold. The confidence
 * grows with the count: up to 0.5 below the threshold, 0.75 at the threshold, 0.875 at twice the threshold, at most 0.99.
 *
 * @param limit  a whole number from 1
 */
export function classifyCount(count: number, limit: number, reason: string): ClassificationResult {
  const isRelevant = count >= limit;
  const exactConfidence = isRelevant ? Math.min(0.99, 1 - (0.25 * limit) / count) : (0.5 * count) / limit;
  const confidence = Math.round(exactConfidence * 1_000) / 1_000;
  return isRelevant ? { relevant: isRelevant, confidence, reason } : { relevant: isRelevant, confidence };
}

/** Level `warn` or above, seen within the last `maxAge` calls; undefined without one. Cost: O(open patterns). */
export function classifyPattern(
  trajectory: TrajectoryView,
  kinds: ReadonlySet<string>,
  maxAge: number,
): ClassificationResult | undefined {
  let bestPattern: TrajectoryPattern | undefined;
  for (const pattern of trajectory.openPatterns()) {
    if (pattern.level === 'hint' || !kinds.has(pattern.kind)) continue;
    const lastSeen = pattern.evidence.at(-1) ?? pattern.firstSeen;
    if (trajectory.calls - lastSeen > maxAge) continue;
    if (bestPattern === undefined || pattern.confidence > bestPattern.confidence) bestPattern = pattern;
  }
  if (bestPattern === undefined) return undefined;
  const { confidence, identity, kind, level, occurrences } = bestPattern;
  return { relevant: true, confidence, reason: `pattern ${kind}`, pattern: { identity, level, occurrences } };
}

// Confidence follows fuzzy logic: minimum, maximum, complement. The parts are rarely independent (an error streak and a
// doom loop coincide), so products would be too high. If the parts disagree, only those that decide the result determine
// the confidence. De Morgan's laws therefore hold exactly, and a part that is not relevant never raises the confidence.

/**
 * Relevant if every part is relevant. The confidence is the minimum of the deciding parts (all parts, or those that are not
 * relevant).
 *
 * @throws CoxswainError "invalid-definition" without parts
 */
export function allOf(...parts: readonly Classifier[]): Classifier {
  return joined('all_of', parts, (results) => results.every(({ relevant }) => relevant), Math.min);
}

/**
 * Relevant if any part is relevant. The confidence is the maximum of the deciding parts (those that are relevant, or all
 * parts).
 *
 * @throws CoxswainError "invalid-definition" without parts
 */
export function anyOf(...parts: readonly Classifier[]): Classifier {
  return joined('any_of', parts, (results) => results.some(({ relevant }) => relevant), Math.max);
}

/** Relevant if the part is not relevant. The confidence is one minus that of the part. */
export function not(part: Classifier): Classifier {
  return {
    ...describeParts('not', [part]),
    classify(context) {
      const { relevant, confidence } = part.classify(context);
      return { relevant: !relevant, confidence: 1 - confidence };
    },
  };
}

/**
 * Relevant if the part is relevant with at least this confidence. The confidence is unchanged.
 *
 * @throws CoxswainError "invalid-definition" if `minConfidence` is not from 0 to 1
 */
export function threshold(part: Classifier, minConfidence: number): Classifier {
  checkShare('minConfidence', minConfidence);
  return {
    ...describeParts('threshold', [part]),
    classify(context) {
      const result = part.classify(context);
      return { ...result, relevant: result.relevant && result.confidence >= minConfidence };
    },
  };
}

/** The parts that agree with the whole decide it, by the least or the greatest of their confidences. */
function joined(
  operator: string,
  parts: readonly Classifier[],
  isRelevantFor: (results: readonly ClassificationResult[]) => boolean,
  confidenceOf: (...confidences: number[]) => number,
): Classifier {
  return {
    ...describeParts(operator, parts),
    classify(context) {
      const results = parts.map((part) => part.classify(context));
      const relevant = isRelevantFor(results);
      const deciding = results.filter((result) => result.relevant === relevant);
      const confidence = confidenceOf(...deciding.map((result) => result.confidence));
      if (!relevant) return { relevant, confidence };
      const reason = deciding.flatMap((result) => result.reason ?? []).join('; ');
      const pattern = deciding.find((result) => result.pattern !== undefined)?.pattern;
      return { relevant, confidence, ...(reason === '' ? {} : { reason }), ...present({ pattern }) };
    },
  };
}

function describeParts(operator: string, parts: readonly Classifier[]): Pick<Classifier, 'name' | 'afterRefusals'> {
  if (parts.length === 0) throw invalidDefinition(`${operator} needs at least one classifier`, { operator });
  const name = `${operator}(${parts.map((part) => part.name).join(', ')})`;
  return { name, afterRefusals: parts.every((part) => part.afterRefusals === true) };
}

/** A classifier that is relevant if a count reaches `threshold`. */
export type ThresholdClassifier = ProviderDefinition<{ readonly threshold?: number }, Classifier>;

/** @param count  returns the count at a decision point and the reason */
export function defineThreshold(
  name: string,
  shape: NumberShape,
  count: (context: GuidanceContext, limit: number) => readonly [count: number, reason: string],
): ThresholdClassifier {
  return defineProvider<{ readonly threshold?: number }, Classifier>({ threshold: shape }, (options) => ({
    name,
    classify(context) {
      const [total, reason] = count(context, options.threshold);
      return classifyCount(total, options.threshold, reason);
    },
  }));
}

/** Relevant if the last `threshold` (default 3) calls failed, as the source says. Throws CoxswainError "invalid-definition". */
export const errorStreak: ThresholdClassifier = defineThreshold(
  'error_streak',
  whole(1, 1_000_000, 3),
  ({ trajectory: { consecutiveErrors: count } }) => [count, `${count} failed calls in a row`],
);

/**
 * Relevant if the run has at least `threshold` (default 50) tool calls. Limits and the cooldown decide how often guidance
 * is given after that.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 1
 */
export const highToolCount: ThresholdClassifier = defineThreshold(
  'high_tool_count',
  whole(1, 1_000_000, 50),
  ({ toolCallCount }) => [toolCallCount, `${toolCallCount} tool calls`],
);

/** Relevant if `threshold` (default 5) of the newest `2 * threshold` calls failed. Throws CoxswainError "invalid-definition". */
export const recentFailures: ThresholdClassifier = defineThreshold(
  'recent_failures',
  whole(1, 128, 5),
  ({ trajectory }, limit) => {
    const count = trajectory.recentCalls(2 * limit).filter(({ failed }) => failed).length;
    return [count, `${count} of the last ${2 * limit} calls failed`];
  },
);

/**
 * Relevant if at least the newest `threshold` (default 5) calls used the same tool. Thoughts and pauses do not count. At
 * most `2 * threshold` calls are counted.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 2 to 128
 */
export const singleToolRepeated: ThresholdClassifier = defineThreshold(
  'single_tool_repeated',
  whole(2, 128, 5),
  ({ trajectory }, limit) => {
    const calls = trajectory.recentCalls(2 * limit).filter(({ kind }) => kind !== 'note' && kind !== 'wait');
    const count = calls.length - 1 - calls.findLastIndex(({ tool }) => tool !== calls.at(-1)?.tool);
    return [count, `the last ${count} calls used one tool`];
  },
);

/** Relevant from `minChars` (default 20,000) UTF-16 units of the last result. Throws CoxswainError "invalid-definition". */
export const largeOutput: ProviderDefinition<{ readonly minChars?: number }, Classifier> = defineProvider(
  { minChars: whole(1, 1_000_000_000, 20_000) },
  ({ minChars }): Classifier => {
    return {
      name: 'large_output',
      classify(context) {
        const [last] = [...context.recentCalls(1), ...context.trajectory.recentCalls(1)];
        const chars = last?.resultChars ?? 0;
        return classifyCount(chars, minChars, `the last result has ${chars} characters`);
      },
    };
  },
);

const KINDS: ReadonlySet<string> = new Set(['stall', 'stagnation']);
/** Number of calls after which a detected pattern is out of date. */
const MAX_AGE = 5;

/**
 * Relevant if at least the newest `maxCalls` (default 20) calls had no new result, or if the analysis found a stall or
 * stagnation. Thoughts, pauses and polls do not count.
 *
 * @throws CoxswainError "invalid-definition" if `maxCalls` is not a whole number from 1 to 200
 */
export const progressStall: ProviderDefinition<{ readonly maxCalls?: number }, Classifier> = defineProvider(
  { maxCalls: whole(1, 200, 20) },
  ({ maxCalls }): Classifier => {
    return {
      name: 'progress_stall',
      classify({ trajectory }) {
        const pattern = classifyPattern(trajectory, KINDS, MAX_AGE);
        if (pattern !== undefined) return pattern;
        let count = 0;
        // The code reads a quarter more calls, because some calls do not count.
        for (const call of trajectory.recentCalls(Math.ceil(1.25 * maxCalls)).toReversed()) {
          if (call.kind === 'note' || call.kind === 'wait' || call.kind === 'poll') continue;
          if (call.novel) break;
          count += 1;
        }
        return classifyCount(count, maxCalls, `nothing new in ${count} calls`);
      },
    };
  },
);

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
