import type { PatternDetector } from '../patterns/pattern-detector.ts';
import * as DETECTORS from './detectors-by-kind.ts';

export * from './cycle.ts';
export * from './drift.ts';
export * from './error-cascade.ts';
export * from './flood.ts';
export * from './identical-call.ts';
export * from './no-effect.ts';
export * from './polling.ts';
export * from './repeated-error.ts';
export * from './repeated-text.ts';
export * from './repetition.ts';
export * from './same-failure.ts';
export * from './same-hits.ts';
export * from './same-outcome.ts';
export * from './same-refusal.ts';
export * from './stagnation.ts';
export * from './stall.ts';
export * from './thrash.ts';

/** The built-in detectors by the kind of their patterns, in the order of the kinds. */
export { DETECTORS };

/** Every built-in detector with its default thresholds: what `coxswain analyze` runs. */
export function defaultDetectors(): readonly PatternDetector[] {
  return Object.values(DETECTORS).map((create) => create());
}
