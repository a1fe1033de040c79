import { present } from '../../base/json.ts';
import type { DecisionPoint, Severity } from '../../records/spoken-advice.ts';
import { LEVEL_RANK, type PatternLevel } from '../../records/trajectory-pattern.ts';

/** The entry of one identity in the ledger. */
export interface LedgerEntry {
  readonly identity: string;
  /** Number of advice texts for this identity. */
  readonly said: number;
  /** Level of the last advice; null after `rearmAdvice`. */
  readonly level: PatternLevel | null;
  /** Occurrences of the pattern at the last advice. The fields below also describe the last advice. */
  readonly occurrences: number;
  readonly callIndex: number;
  readonly turn: number;
  readonly compactions: number;
  /** Provider of the last advice. Absent in states of earlier versions. */
  readonly provider?: string;
  /** True for feedback without a pattern. Its trigger controls how often it is given. */
  readonly paced?: true;
}

/** The advice produced in a run, by identity, oldest first. Plain JSON. */
export type AdviceLedger = readonly LedgerEntry[];

/** Counts of the run at the time of a decision: calls, model responses, compactions. */
export interface AdviceView {
  readonly callIndex: number;
  readonly turn: number;
  readonly compactions: number;
}

export const EMPTY_LEDGER: AdviceLedger = [];

/** Default size of a ledger. */
export const MAX_IDENTITIES = 256;

/**
 * Adds advice to the ledger. Call it when advice is produced, even in shadow mode and even if the advice is withheld or not
 * delivered. Delivery therefore never changes later decisions.
 *
 * Cost: O(identities). Beyond `maxIdentities`, the oldest identity is dropped.
 */
export function recordAdvice(
  ledger: AdviceLedger,
  advice: AdviceCandidate,
  view: AdviceView,
  maxIdentities: number = MAX_IDENTITIES,
): AdviceLedger {
  const { identity, level = null, occurrences = 0, provider } = advice;
  const { callIndex, turn, compactions } = view;
  const entries: LedgerEntry[] = [];
  let countBefore = 0;
  for (const entry of ledger) {
    if (entry.identity === identity) countBefore = entry.said;
    else entries.push(entry);
  }
  const said = countBefore + 1;
  const entry = { identity, said, level, occurrences, callIndex, turn, compactions, ...present({ provider }) };
  entries.push(isPaced(advice) ? { ...entry, paced: true } : entry);
  return entries.length > maxIdentities ? entries.slice(-maxIdentities) : entries;
}

/**
 * Allows advice about a pattern again after the pattern was cleared. Advice already given still counts toward its limit.
 * Cost: O(identities).
 */
export function rearmAdvice(ledger: AdviceLedger, identity: string): AdviceLedger {
  return ledger.map((entry) => (entry.identity === identity ? { ...entry, level: null } : entry));
}

/** The input of noise control. */
export interface AdviceCandidate {
  readonly source: 'feedback' | 'guidance';
  /** Name of the provider. Each provider has its own budget of a run. */
  readonly provider?: string;
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
