import {
  isPaced,
  levelRank,
  type AdviceCandidate,
  type AdviceLedger,
  type AdviceView,
  type LedgerEntry,
} from './advice.ts';

/** Limits on how often advice is given. */
export interface NoiseOptions {
  /** Maximum number of advice texts about one pattern in a run; default 4. */
  readonly maxPerPattern?: number;
  /**
   * Minimum number of calls between two advice texts about one pattern, or between two guidance texts of one provider
   * without a pattern; default 5.
   */
  readonly cooldownCalls?: number;
  /** Minimum number of turns between two such texts; default 0. */
  readonly cooldownTurns?: number;
  /**
   * Limits each provider to one advice text per this many calls of a run. The first may come at any call, and the second from
   * call `2 * callsPerAdvice`. The first text about a pattern or of a provider only waits for a fifth of these calls. Feedback
   * without a pattern is not counted. Default 0: no limit.
   */
  readonly callsPerAdvice?: number;
  /** Maximum number of advice texts of a provider in a run, which are counted in the same way; default: no limit. */
  readonly maxPerRun?: number;
  /**
   * Minimum number of calls between two feedback texts without a pattern; default 0, because triggers control how often
   * they are given.
   */
  readonly feedbackCooldownCalls?: number;
}

/** Defaults of `NoiseOptions`. `maxPerRun` has no default. */
export const NOISE_DEFAULTS = {
  maxPerPattern: 4,
  cooldownCalls: 5,
  cooldownTurns: 0,
  callsPerAdvice: 0,
  feedbackCooldownCalls: 0,
} as const;

/**
 * The reason of a decision.
 *
 * Reasons to give advice: `first`: the first advice of its identity. `cooldown-over`: the cooldown of advice without a
 * pattern has ended. `compacted`: the host shortened the conversation. `re-armed`: the pattern was cleared meanwhile.
 * `level-rose`: the level rose with new evidence. `count-doubled`: the count doubled since the last advice.
 *
 * Reasons not to give advice: `cooldown`: the cooldown has not ended. `budget-spent`: the limit of the pattern is reached.
 * `run-budget-spent`: the limit of the run is reached. `already-said`: advice at this level was given. `no-new-evidence`:
 * there is no new evidence for the higher level.
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
 * Decides whether advice is noise. Advice about a pattern is given once per level, up to the limit. It is given again after
 * the pattern was cleared (`rearmAdvice`), after its count doubled, or after the conversation was compacted. A rising level
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
  if (!isPaced(candidate) && isSpent(ledger, candidate, view, options))
    return { say: false, reason: 'run-budget-spent' };
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
    const hasRisen = occurrences > entry.occurrences;
    return { say: hasRisen, reason: hasRisen ? 'level-rose' : 'no-new-evidence' };
  }
  if (occurrences === 0 || occurrences < 2 * entry.occurrences) return { say: false, reason: 'already-said' };
  return cooling ? COOLING : { say: true, reason: 'count-doubled' };
}

type ResolvedNoise = NoiseOptions & Readonly<Record<keyof typeof NOISE_DEFAULTS, number>>;

const COOLING: AdviceDecision = { say: false, reason: 'cooldown' };

/** Returns true if the provider has given all the advice that is allowed up to this call. */
function isSpent(
  ledger: AdviceLedger,
  { identity, provider }: AdviceCandidate,
  { callIndex }: AdviceView,
  options: ResolvedNoise,
): boolean {
  const { callsPerAdvice, maxPerRun = Infinity } = options;
  if (callsPerAdvice === 0 && maxPerRun === Infinity) return false;
  const own = ledger.filter((entry) => entry.paced !== true && (entry.provider ?? provider) === provider);
  const said = own.reduce((total, entry) => total + entry.said, 0);
  if (said >= maxPerRun) return true;
  if (callsPerAdvice === 0) return false;
  if (own.every((entry) => entry.identity !== identity))
    return own.some((entry) => callIndex - entry.callIndex < callsPerAdvice * NEW_IDENTITY_SHARE);
  return said >= Math.max(1, Math.floor(callIndex / callsPerAdvice));
}

/** A second problem is another one: it may be spoken about before the first one may again. */
const NEW_IDENTITY_SHARE = 0.2;

function isCooling(entry: LedgerEntry, candidate: AdviceCandidate, view: AdviceView, options: ResolvedNoise): boolean {
  const isPacedNow = isPaced(candidate);
  const calls = isPacedNow ? options.feedbackCooldownCalls : options.cooldownCalls;
  const turns = isPacedNow ? 0 : options.cooldownTurns;
  return view.callIndex - entry.callIndex < calls || view.turn - entry.turn < turns;
}
