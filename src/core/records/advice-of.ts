import type { Severity } from './feedback.ts';
import type { DecisionPoint, PatternReference } from './guidance.ts';
import type { FeedbackProduced, GuidanceProduced, TrajectoryPayload } from './trajectory-record.ts';

/** What feedback, assessments and guidance have in common, as recorded. */
export interface RecordedAdvice {
  readonly speaker: 'feedback' | 'guidance';
  /** The text for the agent. */
  readonly text: string;
  readonly pattern: PatternReference | undefined;
  /** Guidance has none. */
  readonly severity: Severity | undefined;
  /** Feedback is given after a tool result. */
  readonly point: DecisionPoint;
}

/** Returns the advice of a payload. Returns undefined for a payload of another kind. */
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
    text: injection.content,
    pattern: classification.pattern,
    severity: undefined,
    point,
  };
}
