import { checkedOptions } from '../../base/check-members.ts';
import type { Json } from '../../base/json.ts';
import { object, whole, type NumberShape, type ObjectShape } from '../../base/shape.ts';
import type { PatternDetector, PatternFold } from '../patterns/pattern-detector.ts';

export interface DetectorFactory<Option extends string> {
  /** @throws CoxswainError "invalid-definition" if an option is unknown or does not match its shape */
  (options?: { readonly [Name in Option]?: number }): PatternDetector;
  /** The shapes of its options with their defaults, for configurations. */
  readonly options: ObjectShape;
}

/** A `PatternFold` with a typed state. */
interface StatefulFold<State> extends Pick<PatternFold, 'observe' | 'read'> {
  snapshot(): State;
}

/**
 * @param shapes  the only place of the defaults
 * @param start  from a state that is the detector's to change
 */
export function defineDetector<Option extends string, State>(
  name: string,
  shapes: Readonly<Record<Option, NumberShape>>,
  start: (options: Readonly<Record<Option, number>>, state: State | undefined) => StatefulFold<State>,
): DetectorFactory<Option> {
  const create = (options?: { readonly [Name in Option]?: number }): PatternDetector => {
    // All numbers have a default.
    const resolvedOptions = checkedOptions<object>(shapes, options) as Readonly<Record<Option, number>>;
    // The analysis keeps snapshots by name, and a state is JSON.
    return { name, start: (snapshot?: Json) => start(resolvedOptions, snapshot as State | undefined) as PatternFold };
  };
  return Object.assign(create, { options: object(shapes) });
}

/** Far beyond any useful value; it bounds states. */
export const MAX_COUNT = 1_000;

/** Number of questions that detectors remember. */
export const MAX_REMEMBERED = 32;

export function countShape(defaultCount: number): NumberShape {
  return whole(2, MAX_COUNT, defaultCount);
}
