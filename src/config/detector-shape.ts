import type { ContextDegradationOptions } from '../patterns/detectors/context-degradation.ts';
import type { CycleOptions } from '../patterns/detectors/cycle.ts';
import type { DriftOptions } from '../patterns/detectors/drift.ts';
import type { ErrorCascadeOptions } from '../patterns/detectors/error-cascade.ts';
import type { IdenticalCallOptions } from '../patterns/detectors/identical-call.ts';
import type { PollingOptions } from '../patterns/detectors/polling.ts';
import type { RepeatedErrorOptions } from '../patterns/detectors/repeated-error.ts';
import type { SameFailureOptions } from '../patterns/detectors/same-failure.ts';
import type { SequentialCallsOptions } from '../patterns/detectors/sequential-calls.ts';
import type { SimilarCallsOptions } from '../patterns/detectors/similar-calls.ts';
import type { StagnationOptions } from '../patterns/detectors/stagnation.ts';
import type { StallOptions } from '../patterns/detectors/stall.ts';
import type { ThrashOptions } from '../patterns/detectors/thrash.ts';
import type { Recommendation, ToolAvoidanceOptions } from '../patterns/detectors/tool-avoidance.ts';
import type { DetectorSection } from './coxswain-config.ts';
import { above0, flag, list, object, share, switchOf, text, whole, type ObjectShape, type ShapesOf } from './shape.ts';

/** Far beyond what makes sense; it keeps states small. */
const MAX_COUNT = 1_000;
/** Detectors that remember what was asked remember so many. */
const MAX_REMEMBERED = 32;

const toolOrProgram = text('the name of a tool or program', { maxChars: 128, pattern: () => /\S/ });

/** One call is no repetition: most thresholds begin at two. */
const repeats = (standard: number): ReturnType<typeof whole> => whole(2, MAX_COUNT, standard);

const detectorFields: { readonly [Kind in keyof Required<DetectorSection>]: ObjectShape } = {
  identical_call: object({
    warnAt: repeats(3),
    blindWarnAt: repeats(10),
    maxBetween: whole(0, MAX_COUNT, 3),
  } satisfies ShapesOf<IdenticalCallOptions>),
  cycle: object({
    roundsToWarn: whole(1, MAX_COUNT, 2),
    maxDifferent: whole(2, 128, 32),
  } satisfies ShapesOf<CycleOptions>),
  repeated_error: object({
    exactWarnAt: repeats(3),
    causeWarnAt: repeats(4),
    groupWarnAt: repeats(5),
    maxBetween: whole(0, MAX_COUNT, 4),
  } satisfies ShapesOf<RepeatedErrorOptions>),
  error_cascade: object({ warnAt: repeats(6) } satisfies ShapesOf<ErrorCascadeOptions>),
  polling_no_progress: object({
    warnAt: repeats(10),
    maxUnchangedMs: above0(86_400_000, 1_800_000),
  } satisfies ShapesOf<PollingOptions>),
  stagnation: object({
    warnAt: whole(2, MAX_REMEMBERED, 6),
    shortWarnAt: whole(2, MAX_REMEMBERED, 10),
  } satisfies ShapesOf<StagnationOptions>),
  similar_calls: object({
    similarityThreshold: share(0.85),
    windowSize: whole(2, 32, 8),
    maxRepetitions: whole(2, 32, 4),
  } satisfies ShapesOf<SimilarCallsOptions>),
  thrash: object({
    revertsWarnAt: whole(1, MAX_COUNT, 2),
    rewritesWarnAt: repeats(10),
  } satisfies ShapesOf<ThrashOptions>),
  same_failure_after_edits: object({ warnAt: whole(1, MAX_COUNT, 4) } satisfies ShapesOf<SameFailureOptions>),
  stall: object({
    maxCalls: whole(1, MAX_COUNT, 20),
    maxSeconds: above0(86_400, 900),
  } satisfies ShapesOf<StallOptions>),
  drift: object({ windowSize: whole(2, 200, 20), maxRelated: share(0) } satisfies ShapesOf<DriftOptions>),
  tool_avoidance: object({
    recommendations: list(
      object(
        {
          tools: list(toolOrProgram, 32, 1),
          insteadOf: list(toolOrProgram, 32, 1),
          available: flag(false),
        } satisfies ShapesOf<Recommendation>,
        { required: ['tools', 'insteadOf'], strict: true },
      ),
      32,
    ),
    warnAt: repeats(10),
  } satisfies ShapesOf<ToolAvoidanceOptions>),
  context_degradation: object({
    windowSize: whole(2, 500, 40),
    rereadsWarnAt: whole(1, MAX_COUNT, 8),
  } satisfies ShapesOf<ContextDegradationOptions>),
  sequential_when_parallel: object({ warnAt: whole(2, MAX_REMEMBERED, 8) } satisfies ShapesOf<SequentialCallsOptions>),
};

/** `detectors`: by the kind of pattern, as reports name it. */
export const detectorShape: ObjectShape = {
  kind: 'object',
  fields: Object.fromEntries(Object.entries(detectorFields).map(([kind, options]) => [kind, switchOf(options, true)])),
};

/** Kinds of patterns that are found. `ping_pong` has no thresholds of its own: `cycle` finds it. */
export const PATTERN_KINDS: Readonly<Record<keyof DetectorSection | 'ping_pong', true>> = {
  identical_call: true,
  ping_pong: true,
  cycle: true,
  repeated_error: true,
  error_cascade: true,
  polling_no_progress: true,
  stagnation: true,
  similar_calls: true,
  thrash: true,
  same_failure_after_edits: true,
  stall: true,
  drift: true,
  tool_avoidance: true,
  context_degradation: true,
  sequential_when_parallel: true,
};
