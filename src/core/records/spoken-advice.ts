import { type ShapeOf, type ValueOf, CHOICES } from './shapes.ts';

export type Severity = ValueOf<'severity'>;

export const SEVERITIES: readonly Severity[] = CHOICES.severity;

/** An observation about the trajectory, that is, the sequence of the agent's calls. */
export type Observation = ShapeOf<'observation'>;

export type SpokenAdvice = ShapeOf<'spoken_advice'>;

/** Feedback as stored. Plain data. */
export interface StoredFeedback extends SpokenAdvice {
  readonly providerName: string;
}

/** An assessment by a trajectory observer, as stored. Plain data. */
export interface StoredAssessment extends SpokenAdvice {
  readonly observerName: string;
}

/**
 * A point in the agent's cycle at which guidance may be given.
 *
 * - `pre_render`: before the prompt is rendered
 * - `pre_tool_selection`: before the model chooses tools
 * - `pre_tool_execution`: after the model's calls are parsed, before they run
 * - `post_tool_result`: after a tool result
 * - `pre_response`: before the final response
 */
export type DecisionPoint = ValueOf<'decision_point'>;

/** All decision points in the order of the agent's cycle. */
export const DECISION_POINTS: readonly DecisionPoint[] = CHOICES.decision_point;

/** A single guidance text. Plain data, as stored. */
export type GuidanceInjection = ShapeOf<'injection'>;

/** The pattern that a classification or feedback refers to, for noise control. */
export type PatternReference = ShapeOf<'pattern_reference'>;

/** The relevance of guidance and the reason. Plain data, as stored. */
export type ClassificationResult = ShapeOf<'classification'>;

/** Guidance and its delivery. Plain data, as stored. */
export type StoredGuidance = ShapeOf<'guidance'>;
