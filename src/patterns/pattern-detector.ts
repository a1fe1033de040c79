import type { Json } from '../base/json.ts';
import type { PatternLevel } from '../records/trajectory-pattern.ts';
import type { Step } from './step.ts';

/** What the world looks like at a step: the same for every detector. */
export interface StepContext {
  /** Counts successful changes of the world and messages of the user: repeats count within one epoch. */
  readonly epoch: number;
  /** This step advanced the epoch. */
  readonly advanced: boolean;
  /** Nothing with these arguments and this result was seen in this epoch. */
  readonly novel: boolean;
  /** Share of the lines of the answer, digits aside, that no recent answer had: 0 to 1. */
  readonly freshLines: number;
  /** Steps so far that were not transparent, this one included. */
  readonly ordinal: number;
  /** Messages of the user so far. */
  readonly userMessages: number;
  /** What the agent was asked to do, where known. */
  readonly task: string | undefined;
}

/** A detector says that it sees a pattern, again or for the first time. */
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
  /** The pattern of this kind and key is over: the agent has got out. Its other members do not matter. Default false. */
  readonly over?: true;
  /** It says less than other stuck patterns: it is passed over while one of them is flagged. Default false. */
  readonly vague?: true;
}

/** A detector at work on one run. */
export interface PatternFold {
  /**
   * Takes the next step. Called once a step, in order of results. May not keep `step` objects: only small facts.
   * @returns what it sees now; nothing (undefined or empty) most of the time
   */
  observe(step: Step, context: StepContext): readonly Sighting[] | undefined;
  /** The state as JSON: `start(snapshot())` goes on as if nothing had happened. */
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
