import type { LiveEvent } from '../../runs/live-event.ts';

/** What was seen so far of everything that is watched. */
export interface WatchCounts {
  readonly runs: number;
  /** Calls that began, also those without a result so far. */
  readonly calls: number;
  /** Flagged ones. */
  readonly patterns: number;
  /** Pieces of advice. */
  readonly advice: number;
}

/** Where something that happened belongs. */
export interface WatchPlace {
  readonly run: string;
  /** A short name of the run, unlike that of every other one. */
  readonly label: string;
  /** Unix milliseconds; absent where the source does not say. */
  readonly atMs?: number;
}

/** A run began. */
interface WatchedBeginning extends WatchPlace {
  readonly type: 'run_started';
  readonly format: string;
  readonly parentRun?: string;
  readonly task?: string;
}

/** A run is over: its source says so. */
interface WatchedEnd extends WatchPlace {
  readonly type: 'run_ended';
  readonly outcome: string;
  readonly success?: boolean;
}

/** What belongs to a run. */
export type WatchedEvent = (LiveEvent & WatchPlace) | WatchedBeginning | WatchedEnd;

/** Where watching stands. */
export type WatchNotice =
  /** A file that is not there yet, or is another one now, or that nothing recognises. */
  | { readonly type: 'note'; readonly message: string }
  /** All that was there was read; of it `shown` events follow. */
  | ({ readonly type: 'caught_up'; readonly shown: number } & WatchCounts)
  | ({ readonly type: 'summary' } & WatchCounts);

/** Everything `coxswain watch` writes; with `--json` as it is, one a line. */
export type WatchedItem = WatchedEvent | WatchNotice;
