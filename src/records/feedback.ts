import type { PatternReference } from './guidance.ts';

/** How much a piece of feedback matters, ascending. */
export type Severity = 'info' | 'caution' | 'warning';

/** Every severity, from the least to the most severe. */
export const SEVERITIES: readonly Severity[] = ['info', 'caution', 'warning'];

/** One thing that was seen in the trajectory. */
export interface Observation {
  /** Groups observations: `loop`, `error_rate`, `drift`, `stall`. */
  readonly category: string;
  readonly description: string;
  /** What shows it, such as call indices. Recorded, never rendered. */
  readonly evidence?: string;
}

/** What any speaker produced, whoever it was. */
export interface SpokenAdvice {
  readonly summary: string;
  readonly observations: readonly Observation[];
  readonly suggestions: readonly string[];
  readonly severity: Severity;
  /** Unix milliseconds when it was produced. */
  readonly atMs: number;
  /** Tool calls that had come back under this prompt by then. */
  readonly callIndex: number;
  /** The prompt in force. */
  readonly promptName: string;
  /** The trajectory pattern it speaks of, where it speaks of one. */
  readonly pattern?: PatternReference;
}

/** Progress feedback, as stored. Plain data. */
export interface Feedback extends SpokenAdvice {
  readonly providerName: string;
}
