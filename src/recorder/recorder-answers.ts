/**
 * What becomes of an event.
 *
 * - `accepted`: it is a record that every store takes, and waits to be written; or a streaming delta, of which none is made
 * - `dropped`: it is not recorded, and counted in `health()`: there is no room (`recorder.dropped`), the run is over
 *   (`input.lateEvents`), too many wait from within a provider (`input.crowded`), or nothing can be made of it (`input.refused`)
 */
export type EmitAnswer = 'accepted' | 'dropped';

/** Whether everything added before is stored; what is not was dropped or still waits. */
export type FlushAnswer = 'stored' | 'incomplete';

/** How long a call may wait, in milliseconds. */
export interface TimeLimit {
  readonly timeLimitMs?: number;
}
