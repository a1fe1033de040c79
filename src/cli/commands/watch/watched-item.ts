import type { RunAlert } from '../../../core/facts/run-alert.ts';
import type { LiveEvent } from '../../runs/live-event.ts';

export interface WatchCounts {
  runs: number;
  calls: number;
  patterns: number;
  advice: number;
}

export const NO_COUNTS: Readonly<WatchCounts> = { runs: 0, calls: 0, patterns: 0, advice: 0 };

export function countEvent(counts: WatchCounts, event: WatchedEvent): void {
  if (event.type === 'run_started') counts.runs += 1;
  else if (event.type === 'advice') counts.advice += 1;
  else if (event.type === 'pattern' && event.change === 'flagged') counts.patterns += 1;
}

export interface WatchPlace {
  readonly run: string;
  readonly label: string;
  readonly atMs?: number;
}

interface WatchedBeginning extends WatchPlace {
  readonly type: 'run_started';
  readonly format: string;
  readonly parentRun?: string;
  readonly task?: string;
}

interface WatchedEnd extends WatchPlace {
  readonly type: 'run_ended';
  readonly outcome: string;
  readonly reason?: string;
  readonly success?: boolean;
  /** What the report says of a run whose process ended. */
  readonly evidence?: string;
}

/** What only a clock finds: the run waits for a person, or is silent. `failing`: the same new failure in five sessions within an hour. */
interface WatchedAlert extends WatchPlace, Omit<RunAlert, 'kind'> {
  readonly type: 'alert';
  readonly kind: RunAlert['kind'] | 'failing';
}

export type WatchedEvent = (LiveEvent & WatchPlace) | WatchedBeginning | WatchedEnd | WatchedAlert;

export type WatchNotice =
  | { readonly type: 'note'; readonly message: string }
  | ({ readonly type: 'caught_up'; readonly shown: number } & WatchCounts)
  | ({ readonly type: 'summary' } & WatchCounts);

export type WatchedItem = WatchedEvent | WatchNotice;
