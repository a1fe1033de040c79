import type { OpenSession } from '../../../hosts/claude-code/open-sessions.ts';
import type { RunAlert } from '../../../core/facts/run-alert.ts';
import type { LiveEvent } from '../../runs/live-event.ts';

/** The open sessions of Claude Code; undefined if unknown. */
export type OpenSessions = ReadonlyMap<string, OpenSession> | undefined;

export interface WatchCounts {
  runs: number;
  /** Number of started calls, with or without a result. */
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
  /** A short unique name of the run. */
  readonly label: string;
  /** Time in Unix milliseconds, if known. */
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
  /** Why it ended, if the source says so. */
  readonly reason?: string;
  readonly success?: boolean;
}

/** What only a clock finds: the run waits for a person, or is silent. `failing`: the same new failure in five sessions within an hour. */
interface WatchedAlert extends WatchPlace, Omit<RunAlert, 'kind'> {
  readonly type: 'alert';
  readonly kind: RunAlert['kind'] | 'failing';
}

export type WatchedEvent = (LiveEvent & WatchPlace) | WatchedBeginning | WatchedEnd | WatchedAlert;

export type WatchNotice =
  /** The file is missing, was replaced, or has an unknown format. */
  | { readonly type: 'note'; readonly message: string }
  /** All existing records were read; the last `shown` events follow. */
  | ({ readonly type: 'caught_up'; readonly shown: number } & WatchCounts)
  | ({ readonly type: 'summary' } & WatchCounts);

/** The output of `coxswain watch`; with `--json` one per line. */
export type WatchedItem = WatchedEvent | WatchNotice;
