import type { ShapeOf, ValueOf } from './field-types.ts';
import { CHOICES } from './shapes.ts';

export type Severity = ValueOf<'severity'>;

/** In ascending order. */
export const SEVERITIES: readonly Severity[] = CHOICES.severity;

/** An observation about the trajectory. */
export type Observation = ShapeOf<'observation'>;

/** Feedback or an assessment. */
export type SpokenAdvice = ShapeOf<'spoken_advice'>;

/** Progress feedback, as stored. Plain data. */
export interface StoredFeedback extends SpokenAdvice {
  readonly providerName: string;
}

/** The assessment of a trajectory observer, as stored. Plain data. */
export interface StoredAssessment extends SpokenAdvice {
  readonly observerName: string;
}
