import type { ShapeOf, ValueOf } from './field-types.ts';
import { CHOICES } from './shapes.ts';

/** How much a piece of feedback matters, ascending. */
export type Severity = ValueOf<'severity'>;

/** Every severity, from the least to the most severe. */
export const SEVERITIES: readonly Severity[] = CHOICES.severity;

/** One thing that was seen in the trajectory. */
export type Observation = ShapeOf<'observation'>;

/** What any speaker produced, whoever it was. */
export type SpokenAdvice = ShapeOf<'spoken_advice'>;

/** Progress feedback, as stored. Plain data. */
export interface StoredFeedback extends SpokenAdvice {
  readonly providerName: string;
}
