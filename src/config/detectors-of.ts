import { contextDegradationDetector } from '../patterns/detectors/context-degradation.ts';
import { cycleDetector } from '../patterns/detectors/cycle.ts';
import { driftDetector } from '../patterns/detectors/drift.ts';
import { errorCascadeDetector } from '../patterns/detectors/error-cascade.ts';
import { identicalCallDetector } from '../patterns/detectors/identical-call.ts';
import { pollingDetector } from '../patterns/detectors/polling.ts';
import { repeatedErrorDetector } from '../patterns/detectors/repeated-error.ts';
import { sameFailureDetector } from '../patterns/detectors/same-failure.ts';
import { sequentialCallsDetector } from '../patterns/detectors/sequential-calls.ts';
import { similarCallsDetector } from '../patterns/detectors/similar-calls.ts';
import { stagnationDetector } from '../patterns/detectors/stagnation.ts';
import { stallDetector } from '../patterns/detectors/stall.ts';
import { thrashDetector } from '../patterns/detectors/thrash.ts';
import { toolAvoidanceDetector } from '../patterns/detectors/tool-avoidance.ts';
import type { PatternDetector } from '../patterns/pattern-detector.ts';
import type { DetectorSection, Switch } from './coxswain-config.ts';

/** The detectors of a configuration, in the order of `defaultDetectors()`: all that are not switched off. */
export function detectorsOf(section: DetectorSection): readonly PatternDetector[] {
  const made = <Options extends object>(
    given: Switch<Options> | undefined,
    make: (options?: Options) => PatternDetector,
  ): readonly PatternDetector[] => {
    if (given === false) return [];
    return [typeof given === 'object' ? make(given) : make()];
  };
  return [
    ...made(section.identical_call, identicalCallDetector),
    ...made(section.cycle, cycleDetector),
    ...made(section.repeated_error, repeatedErrorDetector),
    ...made(section.error_cascade, errorCascadeDetector),
    ...made(section.polling_no_progress, pollingDetector),
    ...made(section.stagnation, stagnationDetector),
    ...made(section.similar_calls, similarCallsDetector),
    ...made(section.thrash, thrashDetector),
    ...made(section.same_failure_after_edits, sameFailureDetector),
    ...made(section.stall, stallDetector),
    ...made(section.drift, driftDetector),
    ...made(section.tool_avoidance, toolAvoidanceDetector),
    ...made(section.context_degradation, contextDegradationDetector),
    ...made(section.sequential_when_parallel, sequentialCallsDetector),
  ];
}
