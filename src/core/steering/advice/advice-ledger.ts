import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { isPaced, type AdviceCandidate } from './advice.ts';

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
  const { identity, level = null, occurrences = 0 } = advice;
  const { callIndex, turn, compactions } = view;
  const entries: LedgerEntry[] = [];
  let countBefore = 0;
  for (const entry of ledger) {
    if (entry.identity === identity) countBefore = entry.said;
    else entries.push(entry);
  }
  const entry: LedgerEntry = { identity, said: countBefore + 1, level, occurrences, callIndex, turn, compactions };
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
