import type { PatternDetector } from '../pattern-detector.ts';
import { contextDegradationDetector } from './context-degradation.ts';
import { cycleDetector } from './cycle.ts';
import { driftDetector } from './drift.ts';
import { errorCascadeDetector } from './error-cascade.ts';
import { identicalCallDetector } from './identical-call.ts';
import { pollingDetector } from './polling.ts';
import { repeatedErrorDetector } from './repeated-error.ts';
import { sameFailureDetector } from './same-failure.ts';
import { sequentialCallsDetector } from './sequential-calls.ts';
import { similarCallsDetector } from './similar-calls.ts';
import { stagnationDetector } from './stagnation.ts';
import { stallDetector } from './stall.ts';
import { thrashDetector } from './thrash.ts';
import { toolAvoidanceDetector } from './tool-avoidance.ts';

/** Every built-in detector with its default thresholds: what `coxswain analyze` runs. */
export function defaultDetectors(): readonly PatternDetector[] {
  return [
    identicalCallDetector(),
    cycleDetector(),
    repeatedErrorDetector(),
    errorCascadeDetector(),
    pollingDetector(),
    stagnationDetector(),
    similarCallsDetector(),
    thrashDetector(),
    sameFailureDetector(),
    stallDetector(),
    driftDetector(),
    toolAvoidanceDetector(),
    contextDegradationDetector(),
    sequentialCallsDetector(),
  ];
}
