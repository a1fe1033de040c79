import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { isPaced, type AdviceCandidate } from './advice.ts';

/** What is remembered of one identity. */
export interface LedgerEntry {
  readonly identity: string;
  /** Pieces of advice so far. */
  readonly said: number;
  /** Level of the last one; null when nothing stands in the way of saying it again. */
  readonly level: PatternLevel | null;
  /** Occurrences when it was last said. */
  readonly occurrences: number;
  readonly callIndex: number;
  readonly turn: number;
  /** Compactions of the run when it was last said. */
  readonly compactions: number;
  /** Set for feedback about no pattern, which its trigger paces. */
  readonly paced?: true;
}

/** What was said in a run, by identity: the one spoken of longest ago first, `MAX_IDENTITIES` at most. Plain JSON. */
export type AdviceLedger = readonly LedgerEntry[];

/** Where the run stands when advice is weighed. */
export interface AdviceView {
  /** Calls of the run so far. */
  readonly callIndex: number;
  /** Model answers so far. */
  readonly turn: number;
  /** Compactions so far. */
  readonly compactions: number;
}

/** A run in which nothing was said. */
export const EMPTY_LEDGER: AdviceLedger = [];

/** Identities that are remembered, unless less is asked for. */
export const MAX_IDENTITIES = 256;

/** What is remembered of `identity`. Cost: O(identities). */
export function ledgerEntry(ledger: AdviceLedger, identity: string): LedgerEntry | undefined {
  for (const entry of ledger) if (entry.identity === identity) return entry;
  return undefined;
}

/**
 * The ledger after `advice` was said. To be called when advice is produced, also when it is in shadow, withheld or
 * not delivered, so that what an adapter can deliver never changes what is said later.
 *
 * Cost: O(identities); the identity spoken of longest ago is forgotten beyond `maxIdentities`.
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

/**
 * The ledger after the agent left a pattern by real progress: should it come back, it may be spoken of again. What
 * was spent of the pattern's budget stays spent.
 *
 * Cost: O(identities).
 */
export function rearmAdvice(ledger: AdviceLedger, identity: string): AdviceLedger {
  return ledger.map((entry) => (entry.identity === identity ? { ...entry, level: null } : entry));
}
