import type { DecisionPoint } from '../../records/guidance.ts';
import type { Severity } from '../../records/feedback.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';

/** What the ledger must know of a piece of advice to say whether it is noise. */
export interface AdviceCandidate {
  readonly source: 'feedback' | 'guidance';
  /** What the advice is about: a pattern's identity, or a name of its provider's own. */
  readonly identity: string;
  /** Level of the pattern it speaks of; absent for advice about no pattern, such as a deadline. */
  readonly level?: PatternLevel;
  /** How often the pattern was seen so far; belongs to `level`. Default 0. */
  readonly occurrences?: number;
}

/** Whether its trigger sets the pace: feedback about no pattern, such as a deadline. */
export function isPaced({ source, level }: AdviceCandidate): boolean {
  return source === 'feedback' && level === undefined;
}

/** One thing said, or about to be said, to the agent. Plain data. */
export interface Advice extends AdviceCandidate {
  /** From the cause's `seq` and its ordinal, so that a replay gives the same: see `adviceId`. */
  readonly id: string;
  readonly provider: string;
  readonly severity: Severity;
  readonly text: string;
  /** Calls of the run before it. */
  readonly callIndex: number;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly point: DecisionPoint;
}

/**
 * The id of a piece of advice.
 *
 * @param causeSeq  `seq` of the record that led to it
 * @param ordinal   its place among what that record led to, from 0
 */
export function adviceId(causeSeq: number, ordinal: number): string {
  return `a${causeSeq}-${ordinal}`;
}

/** The id of the same advice where the record that led to it has another `seq`; any other text as it is. */
export function adviceIdElsewhere(id: string, seqOf: (causeSeq: number) => number): string {
  return id.replace(/^a(\d+)-/, (_, causeSeq: string) => `a${seqOf(Number(causeSeq))}-`);
}

const SEVERITIES: Readonly<Record<PatternLevel, Severity>> = { hint: 'info', warn: 'caution', strong: 'warning' };

/** How loud a pattern of that level speaks. */
export function severityOfLevel(level: PatternLevel): Severity {
  return SEVERITIES[level];
}
