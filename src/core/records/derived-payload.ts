import type { KindsThat, PayloadOf } from './shapes.ts';
import { roleOf } from './kind-definition.ts';
import type { TrajectoryPayload, FeedbackProduced, GuidanceProduced } from './trajectory-record.ts';
import type { Severity, DecisionPoint, PatternReference } from './spoken-advice.ts';

/** Payloads that are derived from an input record. */
export type DerivedPayload = PayloadOf<KindsThat<{ readonly role: 'derived' }>>;

type Without<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

export type DerivedDraft = Without<DerivedPayload, 'cause_seq' | 'ordinal' | 'advice_id'>;

/** Returns true for a payload that a replay derives again. */
export function isDerived(payload: TrajectoryPayload): payload is DerivedPayload {
  return roleOf(payload) === 'derived';
}

/** Guidance often stands behind the result of a tool, which could hold the same words: the head says who speaks. */
export function guidanceText(provider: string, content: string): string {
  return `[Guidance - ${provider}]\n\n${content}`;
}

interface RecordedAdvice {
  readonly speaker: 'feedback' | 'guidance';
  readonly text: string;
  readonly pattern: PatternReference | undefined;
  readonly severity: Severity | undefined;
  readonly point: DecisionPoint;
}

export function adviceOf(payload: FeedbackProduced | GuidanceProduced): RecordedAdvice;
export function adviceOf(payload: TrajectoryPayload): RecordedAdvice | undefined;
export function adviceOf(payload: TrajectoryPayload): RecordedAdvice | undefined {
  if (payload.kind === 'feedback_produced') {
    const { feedback, text } = payload;
    const { pattern, severity } = feedback;
    return { speaker: 'feedback', text, pattern, severity, point: 'post_tool_result' };
  }
  if (payload.kind !== 'guidance_produced') return undefined;
  const { classification, decision_point: point, injection } = payload;
  return {
    speaker: 'guidance',
    text: guidanceText(payload.provider_name, injection.content),
    pattern: classification.pattern,
    severity: undefined,
    point,
  };
}
