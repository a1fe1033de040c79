import type { ShapeOf, ValueOf } from './field-types.ts';
import { CHOICES } from './shapes.ts';

export type Severity = ValueOf<'severity'>;

/** All severities in ascending order. */
export const SEVERITIES: readonly Severity[] = CHOICES.severity;

/** An observation about the trajectory, that is, the sequence of the agent's calls. */
export type Observation = ShapeOf<'observation'>;

/** The common fields of feedback and assessments. */
export type SpokenAdvice = ShapeOf<'spoken_advice'>;

/** Feedback as stored. Plain data. */
export interface StoredFeedback extends SpokenAdvice {
  readonly providerName: string;
}

/** An assessment by a trajectory observer, as stored. Plain data. */
export interface StoredAssessment extends SpokenAdvice {
  readonly observerName: string;
}
