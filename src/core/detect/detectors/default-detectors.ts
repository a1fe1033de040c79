import type { PatternDetector } from '../patterns/pattern-detector.ts';
import { cycleDetector } from './cycle.ts';
import { driftDetector } from './drift.ts';
import { errorCascadeDetector } from './error-cascade.ts';
import { floodDetector } from './flood.ts';
import { identicalCallDetector } from './identical-call.ts';
import { noEffectDetector } from './no-effect.ts';
import { pollingDetector } from './polling.ts';
import { repeatedErrorDetector } from './repeated-error.ts';
import { repeatedTextDetector } from './repeated-text.ts';
import { repetitionDetector } from './repetition.ts';
import { sameFailureDetector } from './same-failure.ts';
import { sameHitsDetector } from './same-hits.ts';
import { sameOutcomeDetector } from './same-outcome.ts';
import { sameRefusalDetector } from './same-refusal.ts';
import { sequentialCallsDetector } from './sequential-calls.ts';
import { stagnationDetector } from './stagnation.ts';
import { stallDetector } from './stall.ts';
import { thrashDetector } from './thrash.ts';

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
export * from './sequential-calls.ts';
export * from './stagnation.ts';
export * from './stall.ts';
export * from './thrash.ts';

/** The built-in detectors by the kind of their patterns, in the order in which they observe a step. */
export const DETECTORS: {
  readonly identical_call: typeof identicalCallDetector;
  readonly flood: typeof floodDetector;
  readonly cycle: typeof cycleDetector;
  readonly repeated_error: typeof repeatedErrorDetector;
  readonly error_cascade: typeof errorCascadeDetector;
  readonly no_effect: typeof noEffectDetector;
  readonly same_refusal: typeof sameRefusalDetector;
  readonly polling_no_progress: typeof pollingDetector;
  readonly same_hits: typeof sameHitsDetector;
  readonly same_outcome: typeof sameOutcomeDetector;
  readonly stagnation: typeof stagnationDetector;
  readonly repetition: typeof repetitionDetector;
  readonly repeated_text: typeof repeatedTextDetector;
  readonly thrash: typeof thrashDetector;
  readonly same_failure_after_edits: typeof sameFailureDetector;
  readonly stall: typeof stallDetector;
  readonly drift: typeof driftDetector;
  readonly sequential_when_parallel: typeof sequentialCallsDetector;
} = {
  identical_call: identicalCallDetector,
  flood: floodDetector,
  cycle: cycleDetector,
  repeated_error: repeatedErrorDetector,
  error_cascade: errorCascadeDetector,
  no_effect: noEffectDetector,
  same_refusal: sameRefusalDetector,
  polling_no_progress: pollingDetector,
  same_hits: sameHitsDetector,
  same_outcome: sameOutcomeDetector,
  stagnation: stagnationDetector,
  repetition: repetitionDetector,
  repeated_text: repeatedTextDetector,
  thrash: thrashDetector,
  same_failure_after_edits: sameFailureDetector,
  stall: stallDetector,
  drift: driftDetector,
  sequential_when_parallel: sequentialCallsDetector,
};

/** Every built-in detector with its default thresholds: what `coxswain analyze` runs. */
export function defaultDetectors(): readonly PatternDetector[] {
  return Object.values(DETECTORS).map((create) => create());
}
