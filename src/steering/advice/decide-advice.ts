import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { isPaced, type AdviceCandidate } from './advice.ts';
import { ledgerEntry, type AdviceLedger, type AdviceView, type LedgerEntry } from './advice-ledger.ts';

/** How much is too much. */
export interface NoiseOptions {
  /** Most pieces of advice about one pattern a run; default 4. */
  readonly maxPerPattern?: number;
  /** Calls that must pass before a pattern, or guidance about none, is spoken of again; default 5. */
  readonly cooldownCalls?: number;
  /** Turns that must pass, likewise; default 0. */
  readonly cooldownTurns?: number;
  /**
   * Most pieces a run, as one in so many calls: the first may come at any call, the second from call `2 * callsPerAdvice`
   * on. Counts all but feedback about no pattern. Default 0: no limit.
   */
  readonly callsPerAdvice?: number;
  /** Most pieces a run, counted likewise; default: no limit. */
  readonly maxPerRun?: number;
  /** Calls that must pass before feedback about no pattern speaks again; default 0, because its trigger sets the pace. */
  readonly feedbackCooldownCalls?: number;
}

/**
 * Why advice is said or not.
 *
 * Said: `first` of its identity; `cooldown-over`, about no pattern; `compacted`, the host shortened the conversation;
 * `re-armed`, the agent had left the pattern; `level-rose`, on new evidence; `count-doubled`, seen twice as often as
 * when it was last said.
 *
 * Not said: `cooldown`; `budget-spent`, of the pattern; `run-budget-spent`; `already-said` at this level; `no-new-evidence`, a higher level on the same
 * occurrences.
 */
type AdviceReason =
  | 'first'
  | 'cooldown-over'
  | 'compacted'
  | 're-armed'
  | 'level-rose'
  | 'count-doubled'
  | 'cooldown'
  | 'budget-spent'
  | 'run-budget-spent'
  | 'already-said'
  | 'no-new-evidence';

/** Whether to say it. */
export interface AdviceDecision {
  readonly say: boolean;
  readonly reason: AdviceReason;
}

const RANK: Readonly<Record<PatternLevel, number>> = { hint: 0, warn: 1, strong: 2 };

/**
 * Whether a piece of advice is worth the agent's attention. Advice about a pattern is said once a level, within a
 * budget; again after the pattern was left (`rearmAdvice`), after its count doubled, and after a compaction. A rise
 * of the level and a compaction do not wait for the cooldown. Advice about no pattern only waits for its cooldown.
 *
 * Pure. Cost: O(identities in the ledger).
 */
export function decideAdvice(
  ledger: AdviceLedger,
  candidate: AdviceCandidate,
  view: AdviceView,
  options: NoiseOptions = {},
): AdviceDecision {
  if (!isPaced(candidate) && isSpent(ledger, view, options)) return { say: false, reason: 'run-budget-spent' };
  const entry = ledgerEntry(ledger, candidate.identity);
  if (entry === undefined) return { say: true, reason: 'first' };
  const { level } = candidate;
  if (level !== undefined && entry.said >= (options.maxPerPattern ?? 4)) return { say: false, reason: 'budget-spent' };
  if (view.compactions > entry.compactions) return { say: true, reason: 'compacted' };
  const cooling = isCooling(entry, candidate, view, options);
  if (level === undefined) return cooling ? COOLING : { say: true, reason: 'cooldown-over' };
  if (entry.level === null) return cooling ? COOLING : { say: true, reason: 're-armed' };
  const occurrences = candidate.occurrences ?? 0;
  if (RANK[level] > RANK[entry.level]) {
    const risen = occurrences > entry.occurrences;
    return { say: risen, reason: risen ? 'level-rose' : 'no-new-evidence' };
  }
  if (occurrences === 0 || occurrences < 2 * entry.occurrences) return { say: false, reason: 'already-said' };
  return cooling ? COOLING : { say: true, reason: 'count-doubled' };
}

const COOLING: AdviceDecision = { say: false, reason: 'cooldown' };

/** Whether the run has heard as much as it may by now. */
function isSpent(ledger: AdviceLedger, { callIndex }: AdviceView, options: NoiseOptions): boolean {
  const { callsPerAdvice = 0, maxPerRun = Infinity } = options;
  if (callsPerAdvice === 0 && maxPerRun === Infinity) return false;
  const most =
    callsPerAdvice === 0 ? maxPerRun : Math.min(maxPerRun, Math.max(1, Math.floor(callIndex / callsPerAdvice)));
  return ledger.reduce((said, entry) => said + (entry.paced === true ? 0 : entry.said), 0) >= most;
}

function isCooling(entry: LedgerEntry, candidate: AdviceCandidate, view: AdviceView, options: NoiseOptions): boolean {
  const paced = isPaced(candidate);
  const calls = paced ? (options.feedbackCooldownCalls ?? 0) : (options.cooldownCalls ?? 5);
  const turns = paced ? 0 : (options.cooldownTurns ?? 0);
  return view.callIndex - entry.callIndex < calls || view.turn - entry.turn < turns;
}
