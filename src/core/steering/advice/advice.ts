import { present } from '../../base/json.ts';
import type { DecisionPoint, Severity } from '../../records/spoken-advice.ts';
import { LEVEL_RANK, type PatternLevel } from '../../records/trajectory-pattern.ts';

/** The entry of one identity in the ledger. The place is that of the last advice. */
export interface LedgerEntry extends AdviceView {
  readonly identity: string;
  /** Number of advice texts for this identity. */
  readonly said: number;
  /** Level of the last advice; null after `rearmAdvice`. */
  readonly level: PatternLevel | null;
  /** Occurrences of the pattern at the last advice. */
  readonly occurrences: number;
  /** Provider of the last advice. Absent in states of earlier versions. */
  readonly provider?: string;
  /** True for feedback without a pattern. Its trigger controls how often it is given. */
  readonly paced?: true;
  /** Number of texts that did not reach the agent and count toward no limit. */
  readonly undelivered?: number;
}

/** The advice produced in a run, by identity, oldest first. Plain JSON. */
export type AdviceLedger = readonly LedgerEntry[];

export interface AdviceView {
  readonly callIndex: number;
  readonly turn: number;
  readonly compactions: number;
  /** `seq` of the record that causes the advice. */
  readonly seq?: number;
}

export const EMPTY_LEDGER: AdviceLedger = [];

/** Default size of a ledger. */
export const MAX_IDENTITIES = 256;

/** For produced advice, also in shadow mode or withheld. Cost: O(identities); beyond `maxIdentities` the oldest is dropped. */
export function recordAdvice(
  ledger: AdviceLedger,
  advice: AdviceCandidate,
  view: AdviceView,
  maxIdentities: number = MAX_IDENTITIES,
): AdviceLedger {
  const { identity, level = null, occurrences = 0, provider } = advice;
  const known = ledger.find((entry) => entry.identity === identity);
  const entries = ledger.filter((entry) => entry !== known);
  const { said: countBefore = 0, undelivered } = known ?? {};
  const said = countBefore + 1;
  const entry = { identity, said, level, occurrences, ...view, ...present({ provider, undelivered }) };
  entries.push(isPaced(advice) ? { ...entry, paced: true } : entry);
  return entries.length > maxIdentities ? entries.slice(-maxIdentities) : entries;
}

/** The pattern was cleared. Advice already given still counts toward its limit. Cost: O(identities). */
export function rearmAdvice(ledger: AdviceLedger, identity: string): AdviceLedger {
  return ledger.map((entry) => (entry.identity === identity ? { ...entry, level: null } : entry));
}

/** Maximum number of texts of one identity that are given again: a host may deliver none at all. */
const MAX_UNDELIVERED = 3;

/** The advice did not reach the agent: it does not count, and may be given again after its cooldown. Cost: O(identities). */
export function withdrawAdvice(ledger: AdviceLedger, provider: string, seq: number): AdviceLedger {
  return ledger.map((entry) => {
    const { said, undelivered = 0 } = entry;
    if (entry.seq !== seq || entry.provider !== provider || undelivered === MAX_UNDELIVERED) return entry;
    return { ...entry, said: said - 1, level: null, seq: -1, undelivered: undelivered + 1 };
  });
}

export interface AdviceCandidate {
  readonly source: 'feedback' | 'guidance';
  readonly provider?: string;
  /** Identity of the pattern, or the provider's name. */
  readonly identity: string;
  /** Level of the pattern; absent for advice without a pattern, such as a deadline. */
  readonly level?: PatternLevel;
  /** Occurrences of the pattern. Default 0. */
  readonly occurrences?: number;
}

/** Returns true for feedback without a pattern, such as a deadline. Its trigger controls how often it is given. */
function isPaced({ source, level }: AdviceCandidate): boolean {
  return source === 'feedback' && level === undefined;
}

export interface Advice extends AdviceCandidate {
  readonly id: string;
  readonly provider: string;
  readonly severity: Severity;
  readonly text: string;
  readonly callIndex: number;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly point: DecisionPoint;
}

/**
 * The same in a replay.
 *
 * @param causeSeq  `seq` of the causing record
 * @param ordinal  index among its derived records
 */
export function adviceId(causeSeq: number, ordinal: number): string {
  return `a${causeSeq}-${ordinal}`;
}

/** The `seq` of the cause in an advice id. Undefined for any other text. */
export function causeOfAdvice(id: string): number | undefined {
  const seq = /^a(\d+)-/.exec(id)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

/** Replaces the `seq` of the cause in an advice id. Any other text is returned unchanged. */
export function adviceIdElsewhere(id: string, seqOf: (causeSeq: number) => number): string {
  return id.replace(/^a(\d+)-/, (_, causeSeq: string) => `a${seqOf(Number(causeSeq))}-`);
}

const SEVERITIES: Readonly<Record<PatternLevel, Severity>> = { hint: 'info', warn: 'caution', strong: 'warning' };

export function severityOfLevel(level: PatternLevel): Severity {
  return SEVERITIES[level];
}

export function levelRank(level: PatternLevel): number {
  return LEVEL_RANK[level];
}

/** Limits on how often advice is given. */
export interface NoiseOptions {
  /** Maximum number of advice texts about one pattern in a run; default 4. */
  readonly maxPerPattern?: number;
  /** Calls between two texts about a pattern, or two guidance texts of a provider without one; default 5. */
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
  /** Calls between two feedback texts without a pattern; default 0, because triggers control them. */
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
 * Advice about a pattern is given once per level, up to the limit, and again after the pattern was cleared
 * (`rearmAdvice`), its count doubled, or the conversation was compacted. A rising level and a compaction skip the
 * cooldown, for which advice without a pattern only waits. Cost: O(identities in the ledger).
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
  const own = ledger.filter(
    (entry) => entry.paced !== true && entry.said > 0 && (entry.provider ?? provider) === provider,
  );
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

/** Default maximum in UTF-16 units. Every known delivery channel can carry a text of this length. */
export const MAX_ADVICE_CHARS = 9_000;

interface JoinedAdvice<Item> {
  readonly text: string;
  readonly included: readonly Item[];
  /** The items that did not fit, most severe first. */
  readonly omitted: readonly Item[];
}

const RANK: Readonly<Record<Severity, number>> = { warning: 0, caution: 1, info: 2 };

/** Most severe first, in order. Beyond the limit, the least severe are left out whole, and any longer than the limit. */
export function joinAdvice<Item extends { readonly text: string; readonly severity: Severity }>(
  items: readonly Item[],
  options: { readonly maxChars?: number; readonly separator?: string } = {},
): JoinedAdvice<Item> {
  const { maxChars = MAX_ADVICE_CHARS, separator = '\n\n' } = options;
  const includedItems: Item[] = [];
  const omittedItems: Item[] = [];
  let length = -separator.length;
  let isFull = false;
  for (const item of items.toSorted((a, b) => RANK[a.severity] - RANK[b.severity])) {
    const lengthAfter = length + separator.length + item.text.length;
    if (item.text.length > maxChars) {
      omittedItems.push(item);
    } else if (isFull || lengthAfter > maxChars) {
      isFull = true;
      omittedItems.push(item);
    } else {
      length = lengthAfter;
      includedItems.push(item);
    }
  }
  return {
    text: includedItems.map((item) => item.text).join(separator),
    included: includedItems,
    omitted: omittedItems,
  };
}
