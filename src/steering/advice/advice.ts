import type { DecisionPoint } from '../../records/guidance.ts';
import type { Severity } from '../../records/feedback.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';

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

/** True for feedback without a pattern, such as a deadline, which is paced by its trigger. */
export function isPaced({ source, level }: AdviceCandidate): boolean {
  return source === 'feedback' && level === undefined;
}

/** A piece of advice. Plain data. */
export interface Advice extends AdviceCandidate {
  /** See `adviceId`. */
  readonly id: string;
  readonly provider: string;
  readonly severity: Severity;
  readonly text: string;
  /** Number of calls before it. */
  readonly callIndex: number;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly point: DecisionPoint;
}

/**
 * The id of a piece of advice, the same in a replay.
 *
 * @param causeSeq  `seq` of the record that caused it
 * @param ordinal   index among the records derived from that record
 */
export function adviceId(causeSeq: number, ordinal: number): string {
  return `a${causeSeq}-${ordinal}`;
}

/** Replaces the cause's `seq` in an advice id; any other text stays as it is. */
export function adviceIdElsewhere(id: string, seqOf: (causeSeq: number) => number): string {
  return id.replace(/^a(\d+)-/, (_, causeSeq: string) => `a${seqOf(Number(causeSeq))}-`);
}

const SEVERITIES: Readonly<Record<PatternLevel, Severity>> = { hint: 'info', warn: 'caution', strong: 'warning' };
const RANKS: Readonly<Record<PatternLevel, number>> = { hint: 0, warn: 1, strong: 2 };

/** Severity of advice about a pattern. */
export function severityOfLevel(level: PatternLevel): Severity {
  return SEVERITIES[level];
}

/** A level as a number, for comparison. */
export function levelRank(level: PatternLevel): number {
  return RANKS[level];
}
