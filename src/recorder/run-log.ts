import type { Clock } from '../base/clock.ts';
import {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../events/trajectory-record.ts';
import type { RecordQueue } from './record-queue.ts';
import type { EmitAnswer } from './recorder-answers.ts';

/** Who a run is, for its records. */
export interface RunLogIdentity {
  readonly runId: string;
  readonly parentRunId?: string;
  readonly depth: number;
}

/** What a log is made from. */
export interface RunLogParts {
  readonly clock: Clock;
  /** Absent when nothing is recorded. */
  readonly queue: Pick<RecordQueue, 'add'> | undefined;
  /** Default 0. */
  readonly nextSeq?: number;
  /** Time of the run's last record so far, Unix milliseconds; default 0. */
  readonly lastMs?: number;
  /** What of a payload may be folded and stored. Every record goes through it, and there is no other way. */
  readonly redact?: (payload: TrajectoryPayload) => TrajectoryPayload;
  /** As of `TrajectoryRecord.late_input_id`, for every record of this log. */
  readonly lateInputId?: string | undefined;
}

/** Gives each payload of a run its place and time and hands it to the recorder. `seq` is gapless from 0. */
export class RunLog {
  readonly identity: RunLogIdentity;
  readonly #parts: RunLogParts;
  #nextSeq: number;
  #lastMs: number;

  constructor(identity: RunLogIdentity, parts: RunLogParts) {
    this.identity = identity;
    this.#parts = parts;
    this.#nextSeq = parts.nextSeq ?? 0;
    this.#lastMs = parts.lastMs ?? 0;
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** The clock's time. */
  nowMs(): number {
    return this.#parts.clock.nowMs();
  }

  /** A record of the run at this moment, or at `atMs`. Times never run backwards within a run. */
  stamp(payload: TrajectoryPayload, atMs?: number): TrajectoryRecord {
    const { runId, parentRunId, depth } = this.identity;
    const { redact } = this.#parts;
    const stored = redact === undefined ? payload : redact(payload);
    const now = atMs ?? this.nowMs();
    this.#lastMs = Math.max(this.#lastMs, now);
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    const schema_version = TRAJECTORY_SCHEMA_VERSION;
    const recorded_at_unix_ms = this.#lastMs;
    const { lateInputId } = this.#parts;
    if (parentRunId === undefined && lateInputId === undefined)
      return { schema_version, seq, run_id: runId, depth, recorded_at_unix_ms, payload: stored };
    return {
      schema_version,
      seq,
      run_id: runId,
      ...(parentRunId === undefined ? {} : { parent_run_id: parentRunId }),
      depth,
      recorded_at_unix_ms,
      ...(lateInputId === undefined ? {} : { late_input_id: lateInputId }),
      payload: stored,
    };
  }

  /** Queues a stamped record. Never waits. Without a recorder everything counts as accepted. */
  write(record: TrajectoryRecord): EmitAnswer {
    return this.#parts.queue?.add(record) ?? 'accepted';
  }
}
