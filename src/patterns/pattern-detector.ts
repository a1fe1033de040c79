import type { Json } from '../base/json.ts';
import type { PatternLevel } from '../records/trajectory-pattern.ts';
import type { Step } from './step.ts';

/** The surroundings of a step, equal for every detector. */
export interface StepContext {
  /** Counts successful changes of the world and messages of the user: repeats count within one epoch. */
  readonly epoch: number;
  /** This step advanced the epoch. */
  readonly advanced: boolean;
  /** No call with these arguments and this result was seen in this epoch. */
  readonly novel: boolean;
  /** Share of the lines of the answer, digits aside, that no recent answer had: 0 to 1. */
  readonly freshLines: number;
  /** Steps so far that were not transparent, this one included. */
  readonly ordinal: number;
  /** Messages of the user so far. */
  readonly userMessages: number;
  /** The agent's task, if known. */
  readonly task: string | undefined;
}

/** A pattern that a detector sees, again or for the first time. */
export interface Sighting {
  readonly kind: string;
  /** Tells patterns of one kind apart: a call, a cause, a file. */
  readonly key: string;
  readonly stuck: boolean;
  readonly level: PatternLevel;
  /** 0 to 1. */
  readonly confidence: number;
  readonly occurrences: number;
  readonly tool?: string;
  /** Call indices, ascending; the last 32 are kept. */
  readonly evidence: readonly number[];
  /** The pattern of this kind and key has ended; the other members do not matter. Default false. */
  readonly over?: true;
  /** It is skipped while a more specific stuck pattern is flagged. Default false. */
  readonly vague?: true;
}

/** A detector at work on one run. */
export interface PatternFold {
  /**
   * Takes the next step, in order of results. May not keep `step` objects, only small facts.
   * @returns the patterns it sees now; undefined or empty most of the time
   */
  observe(step: Step, context: StepContext): readonly Sighting[] | undefined;
  /** The state as JSON: `start(snapshot())` continues without a difference. */
  snapshot(): Json;
}

/**
 * Finds one kind of pattern. Users write their own: a plain object with a name and a fold.
 * A detector that throws is switched off for the run and reported; it never stops the others.
 */
export interface PatternDetector {
  /** Unique among the detectors of an analysis. */
  readonly name: string;
  /** Begins a run, or continues one from a snapshot of the same detector. */
  start(snapshot?: Json): PatternFold;
}
