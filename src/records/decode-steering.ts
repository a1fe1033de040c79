import type { Assessment } from './assessment.ts';
import { SEVERITIES, type Observation, type SpokenAdvice } from './feedback.ts';
import {
  amount,
  anyJson,
  count,
  deadlineTime,
  flag,
  listOf,
  nullable,
  objectOf,
  oneOf,
  optional,
  text,
  type FieldDecode,
} from './field-decode.ts';
import {
  DECISION_POINTS,
  type ClassificationResult,
  type GuidanceDelivered,
  type GuidanceInjection,
  type PatternReference,
} from './guidance.ts';
import type { SteeringStart, StoredBudget, StoredPendingCall } from './trajectory-record.ts';
import { ANSWER_CLASSES, type TrajectoryPattern } from './trajectory-pattern.ts';

/** Names every field of a shape, so that one added to it cannot be forgotten here. */
type Fields<Shape> = { readonly [Field in keyof Shape]-?: FieldDecode };

const level = oneOf(['hint', 'warn', 'strong']);
const confidence = amount;

/** A decision point. */
export const point: FieldDecode = oneOf(DECISION_POINTS);

const budgetFields: Fields<StoredBudget> = {
  calls: optional(amount),
  tokens: optional(amount),
  cost_usd: optional(amount),
};
/** Limits of a run, or what was used of them. */
export const budget: FieldDecode = objectOf(budgetFields);

const steeringFields: Fields<SteeringStart> = {
  prompt_name: text,
  deadline_at_unix_ms: optional(deadlineTime(amount)),
  budget: optional(budget),
  configuration_hash: text,
  mode: oneOf(['steer', 'shadow']),
  holdout: optional(objectOf({ share: amount, withheld: flag })),
};
/** How the steering of a run began. */
export const steering: FieldDecode = objectOf(steeringFields);

const pendingFields: Fields<StoredPendingCall> = { tool_call_id: text, tool_name: text, args: anyJson };
/** A call that has not run yet. */
export const pendingCall: FieldDecode = objectOf(pendingFields);

const patternFields: Fields<TrajectoryPattern> = {
  kind: text,
  identity: text,
  stuck: flag,
  level,
  confidence,
  tool: optional(text),
  subject: optional(text),
  answer: optional(oneOf(ANSWER_CLASSES)),
  evidence: listOf(count),
  firstSeen: count,
  flaggedAt: nullable(count),
  occurrences: amount,
  clearedAt: optional(count),
};
/** A pattern of the trajectory. */
export const pattern: FieldDecode = objectOf(patternFields);

const referenceFields: Fields<PatternReference> = { identity: text, level, occurrences: amount };
const reference = objectOf(referenceFields);
const observationFields: Fields<Observation> = { category: text, description: text, evidence: optional(text) };
const adviceFields: Fields<SpokenAdvice> & Partial<Fields<Assessment>> = {
  summary: text,
  observations: listOf(objectOf(observationFields)),
  suggestions: listOf(text),
  severity: oneOf(SEVERITIES),
  atMs: amount,
  callIndex: count,
  promptName: text,
  pattern: optional(reference),
};
/** Feedback, or the assessment of an observer. */
export const spokenAdvice: FieldDecode = objectOf(adviceFields);

const injectionFields: Fields<GuidanceInjection> = { key: text, content: text, priority: anyJson, category: text };
/** One piece of guidance. */
export const injection: FieldDecode = objectOf(injectionFields);

const classificationFields: Fields<ClassificationResult> = {
  relevant: flag,
  confidence,
  reason: optional(text),
  pattern: optional(reference),
};
/** Why guidance was said. */
export const classification: FieldDecode = objectOf(classificationFields);

const deliveredFields: Fields<GuidanceDelivered> = {
  providerName: text,
  injection,
  decisionPoint: point,
  classification,
  atMs: amount,
  delivered: flag,
  channel: optional(text),
  reason: optional(text),
};
/** Guidance and whether it reached the agent. */
export const guidanceDelivered: FieldDecode = objectOf(deliveredFields);
