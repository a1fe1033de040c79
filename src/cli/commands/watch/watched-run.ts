import { present } from '../../../core/base/present.ts';
import type { TimeSpan } from '../../../core/base/deadline.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { ReadRun } from '../../../formats/read-runs.ts';
import type { RunCall } from '../../../core/facts/run-call.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import { standardSteering } from '../../../core/steering/standard-steering.ts';
import { SteeringReplay } from '../../../core/replay/steering-replay.ts';
import { callEventOf, liveEventOf } from '../../runs/live-event.ts';
import type { WatchedEvent, WatchPlace } from './watched-item.ts';

interface WatchedRunOptions {
  readonly label: string;
  readonly deadline?: TimeSpan | undefined;
  /** True if the run comes from a store. The records of a steered run then contain patterns and advice. */
  readonly isStore?: boolean;
}

/** A record of a watched run with its events. */
interface SeenRecord {
  readonly record: TrajectoryRecord;
  readonly events: readonly WatchedEvent[];
}

/**
 * Derives the events of a watched run, and the advice that the standard steering would give.
 *
 * Cost: like `SteeringReplay.take`. Memory is bounded.
 */
export class WatchedRun {
  readonly #run: ReadRun;
  readonly #label: string;
  readonly #steering: SteeringReplay;
  readonly #view = new RunView();
  readonly #isStore: boolean;
  #isRecorded = false;

  constructor(run: ReadRun, { label, deadline, isStore = false }: WatchedRunOptions) {
    this.#run = run;
    this.#label = label;
    this.#isStore = isStore;
    // A subagent has the deadline of its parent.
    const limit = deadline === undefined || run.depth > 0 ? {} : { deadline };
    this.#steering = new SteeringReplay({ steering: standardSteering(), growing: true, ...limit });
  }

  get calls(): number {
    return this.#view.calls;
  }

  /** Processes the next record. @returns the record and the records derived from it */
  take(record: TrajectoryRecord): readonly SeenRecord[] {
    const call = this.#view.fold(record);
    const { payload } = record;
    if (this.#isStore && payload.kind === 'run_started') this.#isRecorded = payload.steering !== undefined;
    if (this.#isRecorded) return [{ record, events: this.#eventsOf(record, call) }];
    return this.#steering.take(record).map((item) => ({ record: item, events: this.#eventsOf(item, call) }));
  }

  #eventsOf(record: TrajectoryRecord, call: RunCall | undefined): readonly WatchedEvent[] {
    const { payload, recorded_at_unix_ms: atMs } = record;
    const place: WatchPlace = { run: this.#run.id, label: this.#label, ...(atMs > 0 ? { atMs } : {}) };
    if (payload.kind === 'run_started') {
      const { format = 'coxswain', task } = payload;
      return [{ type: 'run_started', ...place, format, ...present({ parentRun: this.#run.parentId, task }) }];
    }
    if (payload.kind === 'run_ended') {
      const { outcome, success } = payload;
      return [{ type: 'run_ended', ...place, outcome, ...present({ success }) }];
    }
    const event = payload.kind === 'tool_ended' ? callEventOf(call, record) : liveEventOf(payload);
    return event === undefined ? [] : [{ ...event, ...place }];
  }
}
