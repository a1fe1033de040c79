/**
 * The result of `emit`.
 *
 * - `accepted`: the event is a valid record and waits to be written, or it is a streaming delta, which is not recorded
 * - `dropped`: the event is not recorded, and `health()` counts it: the queue is full (`recorder.dropped`), the run has
 *   ended (`input.lateEvents`), a provider emitted it while too many events were waiting (`input.crowded`), or it is
 *   unusable (`input.refused`)
 */
export type EmitAnswer = 'accepted' | 'dropped';

/** `stored`: everything added before is stored. `incomplete`: some records were dropped or still wait. */
export type FlushAnswer = 'stored' | 'incomplete';

/** The result of `run.end`. */
export interface EndAnswer {
  /** True if every record of the run is stored. */
  readonly stored: boolean;
  /** Number of records of the run that were lost. Records that still wait are not counted. */
  readonly lostRecords: number;
}

/** The maximum time that a call may wait, in milliseconds. */
export interface TimeLimit {
  readonly timeLimitMs?: number;
}
