import type { Json } from '../../base/json.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { Step } from './step.ts';

/** The context of a step. Every detector receives the same context. */
export interface StepContext {
  /** Number of successful state changes and user messages in the run. Repeated calls are only counted within the same epoch. */
  readonly epoch: number;
  /** True if this step started a new epoch. */
  readonly advanced: boolean;
  /** True if no earlier call in this epoch had the same arguments and the same result. */
  readonly novel: boolean;
  /** Share (0 to 1) of the lines in the result that no recent result contained. Digits are ignored. */
  readonly freshLines: number;
  /** Number of non-transparent steps in the run, including this step. */
  readonly ordinal: number;
  /** Number of user messages in the run. */
  readonly userMessages: number;
  /** The task of the agent, if known. */
  readonly task: string | undefined;
}

/** A detector reports a new pattern, or sees an open pattern again. */
export interface Sighting {
  readonly kind: string;
  /** Distinguishes patterns of the same kind, for example by call, cause or file. */
  readonly key: string;
  readonly stuck: boolean;
  readonly level: PatternLevel;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly occurrences: number;
  readonly tool?: string;
  /** Call indices in ascending order. Only the last 32 are kept. */
  readonly evidence: readonly number[];
  /** True if the pattern with this kind and key has ended. The other fields are then ignored. Default: false. */
  readonly over?: true;
  /** True if this sighting is ignored while a more specific stuck pattern is flagged. Default: false. */
  readonly vague?: true;
}

/** Where a text of the agent stands. */
export interface TextPlace {
  /** Index of the last call that was issued before the text; 0 before the first call. */
  readonly callIndex: number;
  /** Number of user messages in the run. */
  readonly userMessages: number;
}

/** The state of a detector for one run. */
export interface PatternFold {
  /**
   * Processes the next step, in the order of results. Implementations must not keep `step` objects; they may keep small values.
   * @returns the patterns seen in this step; usually undefined or empty
   */
  observe(step: Step, context: StepContext): readonly Sighting[] | undefined;
  /**
   * Processes a text of the agent: an answer or its visible thinking. Optional. The text must not be kept, only small values.
   * @returns the patterns seen in this text
   */
  read?(text: string, place: TextPlace): readonly Sighting[] | undefined;
  /** Returns the state as JSON. `start(snapshot())` continues from the same state. */
  snapshot(): Json;
}

/**
 * Detects one kind of pattern. Users can write custom detectors: plain objects with a name and a `start` function. A detector that
 * throws is disabled for the rest of the run and reported. Other detectors continue.
 */
export interface PatternDetector {
  /** Must be unique among the detectors of an analysis. */
  readonly name: string;
  /** Starts a run, or continues a run from a snapshot of the same detector. */
  start(snapshot?: Json): PatternFold;
}
