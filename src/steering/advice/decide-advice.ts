import { isPaced, levelRank, type AdviceCandidate } from './advice.ts';
import type { AdviceLedger, AdviceView, LedgerEntry } from './advice-ledger.ts';

/** Limits on how often advice is given. */
export interface NoiseOptions {
  /** Maximum advice about one pattern in a run; default 4. */
  readonly maxPerPattern?: number;
  /** Calls between two pieces about one pattern, or of one guidance provider without a pattern; default 5. */
  readonly cooldownCalls?: number;
  /** Turns between them; default 0. */
  readonly cooldownTurns?: number;
  /**
   * Limits a run to one piece in so many calls: the first may come at any call, the second from call `2 * callsPerAdvice`.
   * Feedback without a pattern does not count. Default 0: no limit.
   */
  readonly callsPerAdvice?: number;
  /** Maximum advice in a run, counted the same way; default: no limit. */
  readonly maxPerRun?: number;
  /** Calls between two pieces of feedback without a pattern; default 0, because triggers pace it. */
  readonly feedbackCooldownCalls?: number;
}

/** Defaults of `NoiseOptions`; `maxPerRun` has none. */
export const NOISE_DEFAULTS = {
  maxPerPattern: 4,
  cooldownCalls: 5,
  cooldownTurns: 0,
  callsPerAdvice: 0,
  feedbackCooldownCalls: 0,
} as const;

/**
 * Reason of a decision.
 *
 * Said: `first` of its identity; `cooldown-over`, without a pattern; `compacted`, the host shortened the conversation;
 * `re-armed`, the pattern was cleared meanwhile; `level-rose`, with new evidence; `count-doubled` since the last piece.
 *
 * Not said: `cooldown`; `budget-spent` of the pattern; `run-budget-spent`; `already-said` at this level;
 * `no-new-evidence` for the higher level.
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

export interface AdviceDecision {
  readonly say: boolean;
  readonly reason: AdviceReason;
}

/**
 * Decides whether a piece of advice is noise. Advice about a pattern is given once per level, within a budget, and again
 * after the pattern was cleared (`rearmAdvice`), its count doubled, or the conversation was compacted. A rising level
 * and a compaction skip the cooldown. Advice without a pattern only waits for its cooldown.
 *
 * Pure. Cost: O(identities in the ledger).
 */
export function decideAdvice(
  ledger: AdviceLedger,
  candidate: AdviceCandidate,
  view: AdviceView,
  noise: NoiseOptions = {},
): AdviceDecision {
  const options = { ...NOISE_DEFAULTS, ...noise };
  if (!isPaced(candidate) && isSpent(ledger, view, options)) return { say: false, reason: 'run-budget-spent' };
  const entry = ledger.find(({ identity }) => identity === candidate.identity);
  if (entry === undefined) return { say: true, reason: 'first' };
  const { level } = candidate;
  if (level !== undefined && entry.said >= options.maxPerPattern) return { say: false, reason: 'budget-spent' };
  if (view.compactions > entry.compactions) return { say: true, reason: 'compacted' };
  const cooling = isCooling(entry, candidate, view, options);
  if (level === undefined) return cooling ? COOLING : { say: true, reason: 'cooldown-over' };
  if (entry.level === null) return cooling ? COOLING : { say: true, reason: 're-armed' };
  const occurrences = candidate.occurrences ?? 0;
  if (levelRank(level) > levelRank(entry.level)) {
    const risen = occurrences > entry.occurrences;
    return { say: risen, reason: risen ? 'level-rose' : 'no-new-evidence' };
  }
  if (occurrences === 0 || occurrences < 2 * entry.occurrences) return { say: false, reason: 'already-said' };
  return cooling ? COOLING : { say: true, reason: 'count-doubled' };
}

type ResolvedNoise = NoiseOptions & Readonly<Record<keyof typeof NOISE_DEFAULTS, number>>;

const COOLING: AdviceDecision = { say: false, reason: 'cooldown' };

/** True if the run has had all the advice allowed by now. */
function isSpent(ledger: AdviceLedger, { callIndex }: AdviceView, options: ResolvedNoise): boolean {
  const { callsPerAdvice, maxPerRun = Infinity } = options;
  if (callsPerAdvice === 0 && maxPerRun === Infinity) return false;
  const most =
    callsPerAdvice === 0 ? maxPerRun : Math.min(maxPerRun, Math.max(1, Math.floor(callIndex / callsPerAdvice)));
  return ledger.reduce((total, entry) => total + (entry.paced === true ? 0 : entry.said), 0) >= most;
}

function isCooling(entry: LedgerEntry, candidate: AdviceCandidate, view: AdviceView, options: ResolvedNoise): boolean {
  const paced = isPaced(candidate);
  const calls = paced ? options.feedbackCooldownCalls : options.cooldownCalls;
  const turns = paced ? 0 : options.cooldownTurns;
  return view.callIndex - entry.callIndex < calls || view.turn - entry.turn < turns;
}
