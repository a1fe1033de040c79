import type { SpokenAdvice } from './feedback.ts';

/** What a trajectory observer produced, as stored. Plain data. */
export interface StoredAssessment extends SpokenAdvice {
  readonly observerName: string;
}
