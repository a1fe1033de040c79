import type { SpokenAdvice } from './feedback.ts';

/** What a trajectory observer produced, as stored. Plain data. */
export interface Assessment extends SpokenAdvice {
  readonly observerName: string;
}
