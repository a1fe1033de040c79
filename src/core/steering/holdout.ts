import { present } from '../base/json.ts';
import { invalidArgument } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../records/words.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import type { SteeringStart } from '../records/trajectory-record.ts';
import type { StuckStretch } from './stop-policy.ts';

/** Options of an experiment that withholds advice at random to measure its effect. */
export interface HoldoutOptions {
  /** The share of advice that is withheld, 0 to 1. 0 means no experiment. */
  readonly share: number;
  /** The seed of the random assignment. Another seed assigns other arms; default empty. */
  readonly seed?: string;
  /**
   * The unit of assignment. `episode` (default) assigns each episode in which an agent is stuck, and needs far fewer runs.
   * `run` assigns each run with its descendants, and also measures the success rate of runs.
   */
  readonly unit?: 'episode' | 'run';
  /** The agent leaves the pattern within this many calls: the outcome declared in advance. 1 to 1,000; default 10. */
  readonly withinCalls?: number;
}

/** The arm of a run, as stored in its first record. */
export type HoldoutArm = NonNullable<SteeringStart['holdout']>;

export interface DrawnAdvice {
  readonly providerName: string;
  readonly speaker: 'feedback' | 'guidance';
  readonly pattern?: Pick<TrajectoryPattern, 'identity' | 'firstSeen' | 'stuck'>;
  readonly stretch?: StuckStretch;
}

/** A stretch is one unit, or one provider could state what is withheld from another; else the pattern, or the provider. */
export function unitOf({ pattern, providerName, speaker, stretch }: DrawnAdvice): string {
  const isOfStretch = pattern === undefined ? speaker === 'guidance' : pattern.stuck;
  if (stretch !== undefined && isOfStretch) return `stretch ${stretch.since}`;
  return pattern === undefined ? `provider ${providerName}` : `${pattern.identity} ${pattern.firstSeen}`;
}

/** Returns the reason to withhold advice, or undefined if it may be given. */
export function silenceReason(
  mode: 'steer' | 'shadow',
  arm: HoldoutArm | undefined,
  { runId, unit }: { readonly runId: string; readonly unit: string },
): string | undefined {
  if (mode === 'shadow') return SHADOW_REASON;
  if (arm === undefined) return undefined;
  const { seed = '', share, withheld = fractionOf([seed, runId, unit]) < share } = arm;
  return withheld ? WITHHELD_REASON : undefined;
}

/** Number of hexadecimal digits of the hash that are used. They make 52 bits, which a number represents exactly. */
const DIGITS = 13;

export const DECLARED_WITHIN_CALLS = 10;
const MAX_WITHIN_CALLS = 1_000;

/** @throws CoxswainError "invalid-argument" for a share outside 0 to 1 or another invalid member */
export function checkHoldout(holdout: number | HoldoutOptions | undefined): HoldoutOptions {
  const options: HoldoutOptions = typeof holdout === 'number' ? { share: holdout } : (holdout ?? { share: 0 });
  const { seed, share, unit, withinCalls } = options;
  const refuse = (problem: string, value: unknown): never => {
    throw invalidArgument(`${problem}, got ${JSON.stringify(value)}`);
  };
  // JavaScript callers may pass a value of any type.
  if (typeof share !== 'number' || !(share >= 0 && share <= 1)) refuse('holdout must be a number from 0 to 1', share);
  if (seed !== undefined && typeof seed !== 'string') refuse('holdout.seed must be a text', seed);
  if (unit !== undefined && unit !== 'episode' && unit !== 'run') refuse('holdout.unit must be episode or run', unit);
  if (
    withinCalls !== undefined &&
    !(Number.isInteger(withinCalls) && withinCalls >= 1 && withinCalls <= MAX_WITHIN_CALLS)
  )
    refuse(`holdout.withinCalls must be a whole number from 1 to ${MAX_WITHIN_CALLS}`, withinCalls);
  return { share, ...present({ seed, unit, withinCalls }) };
}

/**
 * Depends only on the seed and ids, so every process assigns the same arm; advice withheld at one share is also
 * withheld at every greater share.
 *
 * @param rootRunId  with `unit: 'run'`, descendants have its arm Undefined without an experiment.
 */
export function holdoutArmOf(
  { seed = '', share, unit = 'episode', withinCalls = DECLARED_WITHIN_CALLS }: HoldoutOptions,
  rootRunId: string,
): HoldoutArm | undefined {
  if (share === 0) return undefined;
  const assignment = unit === 'run' ? { withheld: fractionOf([seed, rootRunId]) < share } : { seed };
  return { share, ...assignment, within_calls: withinCalls };
}

function fractionOf(texts: readonly string[]): number {
  return Number.parseInt(hashText(texts.join('\n')).slice(0, DIGITS), 16) / 16 ** DIGITS;
}
