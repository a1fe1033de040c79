import type { PatternDetector } from '../pattern-detector.ts';
import { contextDegradation } from './context-degradation.ts';
import { cycle } from './cycle.ts';
import { drift } from './drift.ts';
import { errorCascade } from './error-cascade.ts';
import { identicalCall } from './identical-call.ts';
import { polling } from './polling.ts';
import { repeatedError } from './repeated-error.ts';
import { repetition } from './repetition.ts';
import { sameFailure } from './same-failure.ts';
import { sequentialCalls } from './sequential-calls.ts';
import { stagnation } from './stagnation.ts';
import { stall } from './stall.ts';
import { thrash } from './thrash.ts';
import { toolAvoidance } from './tool-avoidance.ts';

/** The built-in detectors by the kind of pattern that reports and configurations name, in the order in which they look. */
export const DETECTORS: {
  readonly identical_call: typeof identicalCall;
  readonly cycle: typeof cycle;
  readonly repeated_error: typeof repeatedError;
  readonly error_cascade: typeof errorCascade;
  readonly polling_no_progress: typeof polling;
  readonly stagnation: typeof stagnation;
  readonly repetition: typeof repetition;
  readonly thrash: typeof thrash;
  readonly same_failure_after_edits: typeof sameFailure;
  readonly stall: typeof stall;
  readonly drift: typeof drift;
  readonly tool_avoidance: typeof toolAvoidance;
  readonly context_degradation: typeof contextDegradation;
  readonly sequential_when_parallel: typeof sequentialCalls;
} = {
  identical_call: identicalCall,
  cycle,
  repeated_error: repeatedError,
  error_cascade: errorCascade,
  polling_no_progress: polling,
  stagnation,
  repetition,
  thrash,
  same_failure_after_edits: sameFailure,
  stall,
  drift,
  tool_avoidance: toolAvoidance,
  context_degradation: contextDegradation,
  sequential_when_parallel: sequentialCalls,
};

/** Every built-in detector with its default thresholds: what `coxswain analyze` runs. */
export function defaultDetectors(): readonly PatternDetector[] {
  return Object.values(DETECTORS).map(({ make }) => make());
}
