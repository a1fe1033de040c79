import { present } from '../base/present.ts';
import { CoxswainError } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../records/delivery-reason.ts';
import type { SteeringStart } from '../records/trajectory-record.ts';

/** An experiment: advice is withheld from a share of runs, so that one sees what becomes of runs without it. */
export interface HoldoutOptions {
  /** Share of runs, 0 to 1; at 0 there is no experiment. */
  readonly share: number;
  /** Another seed puts other runs into each arm; default empty. */
  readonly seed?: string;
}

/** A run's part in an experiment, as its first record says it. */
export type HoldoutArm = NonNullable<SteeringStart['holdout']>;

/** Why nothing is said in a run; undefined where advice is given. */
export function silenceReason(mode: 'steer' | 'shadow', arm: HoldoutArm | undefined): string | undefined {
  if (mode === 'shadow') return SHADOW_REASON;
  return arm?.withheld === true ? WITHHELD_REASON : undefined;
}

/** Hexadecimal digits of the fingerprint that are used: 52 bits, which a number holds exactly. */
const DIGITS = 13;

/** @throws CoxswainError "invalid-argument" for a share outside 0 to 1, or a seed that is no text */
export function checkHoldout(holdout: number | HoldoutOptions | undefined): HoldoutOptions {
  const { share, seed } = typeof holdout === 'number' ? { share: holdout } : (holdout ?? { share: 0 });
  // From JavaScript anything may come, whatever the types say.
  if (typeof share !== 'number' || !(share >= 0 && share <= 1)) {
    const value = JSON.stringify(share);
    throw new CoxswainError('invalid-argument', `holdout must be a number from 0 to 1, got ${value}`);
  }
  if (seed !== undefined && typeof seed !== 'string') {
    throw new CoxswainError('invalid-argument', `holdout.seed must be a text, got ${JSON.stringify(seed)}`);
  }
  return { share, ...present({ seed }) };
}

/**
 * The arm of a run. It follows from seed and id alone, so every process gives the same one, and a run that is withheld at
 * one share is withheld at every greater one.
 *
 * @param rootRunId  the run at the root: runs below it are in its arm
 * @returns undefined where there is no experiment
 */
export function holdoutArmOf({ share, seed = '' }: HoldoutOptions, rootRunId: string): HoldoutArm | undefined {
  if (share === 0) return undefined;
  const place = Number.parseInt(hashText(`${seed}\n${rootRunId}`).slice(0, DIGITS), 16) / 16 ** DIGITS;
  return { share, withheld: place < share };
}
