import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { isPaced, type AdviceCandidate } from './advice.ts';

/** One identity in the ledger. */
export interface LedgerEntry {
  readonly identity: string;
  /** Number of pieces of advice. */
  readonly said: number;
  /** Level of the last piece; null after `rearmAdvice`. */
  readonly level: PatternLevel | null;
  /** Occurrences of the pattern at the last piece; the same holds for the members below. */
  readonly occurrences: number;
  readonly callIndex: number;
  readonly turn: number;
  readonly compactions: number;
  /** True for feedback without a pattern, which is paced by its trigger. */
  readonly paced?: true;
}

/** Advice produced in a run, by identity, oldest first. Plain JSON. */
export type AdviceLedger = readonly LedgerEntry[];

/** Counts of the run at the moment of a decision: calls, model responses, compactions. */
export interface AdviceView {
  readonly callIndex: number;
  readonly turn: number;
  readonly compactions: number;
}

export const EMPTY_LEDGER: AdviceLedger = [];

/** Default size of a ledger. */
export const MAX_IDENTITIES = 256;

/**
 * Adds a piece of advice. Call it when advice is produced, even in shadow mode or when it is withheld or undelivered, so
 * that delivery never changes later decisions.
 *
 * Cost: O(identities). Beyond `maxIdentities` the oldest identity is dropped.
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
  let before = 0;
  for (const entry of ledger) {
    if (entry.identity === identity) before = entry.said;
    else entries.push(entry);
  }
  const entry: LedgerEntry = { identity, said: before + 1, level, occurrences, callIndex, turn, compactions };
  entries.push(isPaced(advice) ? { ...entry, paced: true } : entry);
  return entries.length > maxIdentities ? entries.slice(-maxIdentities) : entries;
}

/** Allows advice about a pattern again after it was cleared. Its budget stays spent. Cost: O(identities). */
export function rearmAdvice(ledger: AdviceLedger, identity: string): AdviceLedger {
  return ledger.map((entry) => (entry.identity === identity ? { ...entry, level: null } : entry));
}
