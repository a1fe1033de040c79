import { object, whole, type NumberShape, type ObjectShape, type ShapesOf } from '../../base/shape.ts';
import type { PatternDetector } from '../pattern-detector.ts';

/** A built-in detector, as `DETECTORS` lists it. */
export interface DetectorDefinition<Options extends object> {
  /** What a configuration may say of its options, with their defaults. */
  readonly options: ObjectShape;
  readonly make: (options?: Options) => PatternDetector;
}

/** A built-in detector: the shape of each of its options, and what makes it of them. */
export function defineDetector<Options extends object>(
  options: ShapesOf<Options>,
  make: (options?: Options) => PatternDetector,
): DetectorDefinition<Options> {
  return { options: object(options), make };
}

/** Far beyond what makes sense; it keeps states small. */
export const MAX_COUNT = 1_000;

/** Detectors that remember what was asked remember so many. */
export const MAX_REMEMBERED = 32;

/** How often something must come again: one call is no repetition. */
export function repeats(standard: number): NumberShape {
  return whole(2, MAX_COUNT, standard);
}
