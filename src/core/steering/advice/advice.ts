import type { DecisionPoint } from '../../records/guidance.ts';
import type { Severity } from '../../records/feedback.ts';
import { LEVEL_RANK, type PatternLevel } from '../../records/trajectory-pattern.ts';

/** The input of noise control. */
export interface AdviceCandidate {
  readonly source: 'feedback' | 'guidance';
  /** Identity of the pattern, or the provider's name. */
  readonly identity: string;
  /** Level of the pattern; absent for advice without a pattern, such as a deadline. */
  readonly level?: PatternLevel;
  /** Occurrences of the pattern. Default 0. */
  readonly occurrences?: number;
}

/** Returns true for feedback without a pattern, such as a deadline. Its trigger controls how often it is given. */
export function isPaced({ source, level }: AdviceCandidate): boolean {
  return source === 'feedback' && level === undefined;
}

/** A single advice text. Plain data. */
export interface Advice extends AdviceCandidate {
  /** The result of `adviceId`. */
  readonly id: string;
  readonly provider: string;
  readonly severity: Severity;
  readonly text: string;
  /** Number of calls before this advice. */
  readonly callIndex: number;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly point: DecisionPoint;
}

/**
 * Returns the id of an advice text. The id is the same in a replay.
 *
 * @param causeSeq  `seq` of the record that caused the advice
 * @param ordinal   index among the records derived from that record
 */
export function adviceId(causeSeq: number, ordinal: number): string {
  return `a${causeSeq}-${ordinal}`;
}

/** Replaces the `seq` of the cause in an advice id. Any other text is returned unchanged. */
export function adviceIdElsewhere(id: string, seqOf: (causeSeq: number) => number): string {
  return id.replace(/^a(\d+)-/, (_, causeSeq: string) => `a${seqOf(Number(causeSeq))}-`);
}

const SEVERITIES: Readonly<Record<PatternLevel, Severity>> = { hint: 'info', warn: 'caution', strong: 'warning' };

/** Returns the severity of advice about a pattern. */
export function severityOfLevel(level: PatternLevel): Severity {
  return SEVERITIES[level];
}

/** Returns a level as a number, for comparison. */
export function levelRank(level: PatternLevel): number {
  return LEVEL_RANK[level];
}
