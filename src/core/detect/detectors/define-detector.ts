import { checkedOptions } from '../../base/check-members.ts';
import type { Json } from '../../base/json.ts';
import { object, whole, type NumberShape, type ObjectShape, type ShapesOf } from '../../base/shape.ts';
import type { PatternDetector, PatternFold } from '../patterns/pattern-detector.ts';

export interface DetectorFactory<Options extends object> {
  /** @throws CoxswainError "invalid-definition" if an option is unknown or does not match its shape */
  (options?: Options): PatternDetector;
  /** The shapes of its options with their defaults, for configurations. */
  readonly options: ObjectShape;
}

/** Options with defaults: numbers always have one. */
type Resolved<Options> = {
  readonly [Name in keyof Options as NonNullable<Options[Name]> extends number ? Name : never]-?: number;
} & Options;

/** A `PatternFold` with a typed state. */
interface StatefulFold<State> extends Pick<PatternFold, 'observe' | 'read'> {
  /** JSON. */
  snapshot(): State;
}

/**
 * Defines a built-in detector.
 *
 * @param name  also the kind of its patterns
 * @param shapes  of its options; the only place of their defaults
 * @param start  starts a run, or continues it from a state that is the detector's to change
 */
export function defineDetector<Options extends object, State>(
  name: string,
  shapes: ShapesOf<Options>,
  start: (options: Resolved<Options>, state: State | undefined) => StatefulFold<State>,
): DetectorFactory<Options> {
  const create = (options?: Options): PatternDetector => {
    // All numbers have a default.
    const resolvedOptions = checkedOptions<Options>(shapes, options) as Resolved<Options>;
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
