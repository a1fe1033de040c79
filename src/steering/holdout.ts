import { present } from '../base/present.ts';
import { invalidArgument } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../records/delivery-reason.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import type { SteeringStart } from '../records/trajectory-record.ts';
import type { StuckStretch } from './stuck-stretch.ts';

/** An experiment: advice is withheld at random, to measure what it does. */
export interface HoldoutOptions {
  /** Share that is withheld, 0 to 1; at 0 there is no experiment. */
  readonly share: number;
  /** Another seed draws other arms; default empty. */
  readonly seed?: string;
  /**
   * What is drawn: each episode in which an agent is stuck (default), which needs far fewer runs; or each run with the runs below it,
   * which also shows whether runs succeed more often.
   */
  readonly unit?: 'episode' | 'run';
  /** The outcome, declared beforehand: a pattern is left within so many calls, 1 to 1,000; default 10. */
  readonly withinCalls?: number;
}

/** A run's part in an experiment, as its first record says it. */
export type HoldoutArm = NonNullable<SteeringStart['holdout']>;

/** A piece of advice, as an experiment draws it. */
export interface DrawnAdvice {
  readonly providerName: string;
  readonly speaker: 'feedback' | 'guidance';
  /** The pattern that it speaks of. */
  readonly pattern?: Pick<TrajectoryPattern, 'identity' | 'firstSeen' | 'stuck'>;
  /** The stretch in which the agent is stuck meanwhile. */
  readonly stretch?: StuckStretch;
}

/**
 * What is drawn together with a piece of advice. While the agent is stuck, whatever speaks of that is one unit: else it could be told by
 * one provider what is withheld of another. A pattern in which it is not stuck is a unit, and all advice of a provider that speaks of no
 * pattern, such as of a deadline.
 */
export function unitOf({ pattern, providerName, speaker, stretch }: DrawnAdvice): string {
  const isOfStretch = pattern === undefined ? speaker === 'guidance' : pattern.stuck;
  if (stretch !== undefined && isOfStretch) return `stretch ${stretch.since}`;
  return pattern === undefined ? `provider ${providerName}` : `${pattern.identity} ${pattern.firstSeen}`;
}

/** Why a piece of advice is not given; undefined where it is. */
export function silenceReason(
  mode: 'steer' | 'shadow',
  arm: HoldoutArm | undefined,
  { runId, unit }: { readonly runId: string; readonly unit: string },
): string | undefined {
  if (mode === 'shadow') return SHADOW_REASON;
  if (arm === undefined) return undefined;
  const { seed = '', share, withheld = placeOf([seed, runId, unit]) < share } = arm;
  return withheld ? WITHHELD_REASON : undefined;
}

/** Hexadecimal digits of the fingerprint that are used: 52 bits, which a number holds exactly. */
const DIGITS = 13;

/** Calls within which a pattern should be left, where an experiment declares nothing else. */
export const DECLARED_WITHIN_CALLS = 10;
const MAX_WITHIN_CALLS = 1_000;

/** @throws CoxswainError "invalid-argument" for a share outside 0 to 1, or another member that is not as declared */
export function checkHoldout(holdout: number | HoldoutOptions | undefined): HoldoutOptions {
  const given: HoldoutOptions = typeof holdout === 'number' ? { share: holdout } : (holdout ?? { share: 0 });
  const { seed, share, unit, withinCalls } = given;
  const refuse = (problem: string, value: unknown): never => {
    throw invalidArgument(`${problem}, got ${JSON.stringify(value)}`);
  };
  // From JavaScript anything may come, whatever the types say.
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
 * A run's part in an experiment. Arms follow from seed and ids alone, so every process draws the same ones, and what is withheld at
 * one share is withheld at every greater one.
 *
 * @param rootRunId  the run at the root: where runs are drawn, those below it are in its arm
 * @returns undefined where there is no experiment
 */
export function holdoutArmOf(
  { seed = '', share, unit = 'episode', withinCalls = DECLARED_WITHIN_CALLS }: HoldoutOptions,
  rootRunId: string,
): HoldoutArm | undefined {
  if (share === 0) return undefined;
  const drawn = unit === 'run' ? { withheld: placeOf([seed, rootRunId]) < share } : { seed };
  return { share, ...drawn, within_calls: withinCalls };
}

/** A number from 0 up to 1 that follows from the texts, evenly spread. */
function placeOf(texts: readonly string[]): number {
  return Number.parseInt(hashText(texts.join('\n')).slice(0, DIGITS), 16) / 16 ** DIGITS;
}
