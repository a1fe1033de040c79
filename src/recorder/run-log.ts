import type { Clock } from '../base/clock.ts';
import { invalidArgument } from '../base/error.ts';
import type { InputFault } from '../base/input-fault.ts';
import { isNear, readEventTime } from '../base/unix-time.ts';
import { ValueBudget } from '../base/value-budget.ts';
import { mendPayload } from '../records/decode-payload.ts';
import { countDecode } from '../records/field-decode.ts';
import {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../records/trajectory-record.ts';
import { storableRunId } from '../store/check-batch.ts';
import type { InputTally } from './input-tally.ts';
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
  /** Counts what had to be mended. */
  readonly tally?: InputTally;
  /** Called with what had to be mended, once a run for each kind of fault; the same is recorded. */
  readonly onInputFault?: (message: string) => void;
}

/** What leaves a mark in the value itself, or nothing to look at, needs no record beside it. */
const UNSPOKEN: ReadonlySet<InputFault> = new Set<InputFault>(['binaries', 'cutValues', 'cycles', 'lateEvents']);

/** Payloads that are read from within each other, at most. */
const MAX_READING = 4;

/**
 * Gives each payload of a run its place and time and hands it to the recorder. `seq` is gapless from 0.
 *
 * It is the gate of a run: whatever a host, a provider or a model gave, what leaves here can be stored and read again. What
 * has to be mended for that is counted, and recorded as `fault_noticed` when it is met first.
 */
export class RunLog {
  readonly identity: RunLogIdentity;
  readonly #parts: RunLogParts;
  readonly #budget = new ValueBudget((fault, detail) => this.noteInput(fault, detail));
  readonly #spoken = new Set<InputFault>();
  #notices: string[] = [];
  /** Payloads that are being read, each from within the one before. */
  #reading = 0;
  #nextSeq: number;
  #lastMs: number;

  constructor(identity: RunLogIdentity, parts: RunLogParts) {
    this.#parts = parts;
    this.#nextSeq = parts.nextSeq ?? 0;
    this.#lastMs = parts.lastMs ?? 0;
    this.identity = this.#storable(identity);
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** The clock's time; that of the last record where the clock has none. */
  nowMs(): number {
    const now = this.#parts.clock.nowMs();
    if (Number.isFinite(now) && now >= 0) return now;
    this.noteInput('badTimes', `the clock says ${now}`);
    return this.#lastMs;
  }

  /**
   * A record of the run at this moment, or at `atMs`. Times never run backwards within a run.
   *
   * @throws CoxswainError `invalid-record` for a payload of which nothing can be made
   */
  stamp(payload: TrajectoryPayload, atMs?: number): TrajectoryRecord {
    const { runId, parentRunId, depth } = this.identity;
    const { redact } = this.#parts;
    // What follows from a record has its time.
    const now = atMs !== undefined && atMs === this.#lastMs ? atMs : this.#timeOf(atMs);
    const mended = this.#mended(payload, now);
    const stored = redact === undefined ? mended : redact(mended);
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
    const answer = this.#parts.queue?.add(record) ?? 'accepted';
    if (this.#notices.length === 0) return answer;
    for (const message of this.#notices.splice(0)) {
      this.#parts.queue?.add(this.stamp({ kind: 'fault_noticed', where: 'input', message }));
    }
    return answer;
  }

  /**
   * The payload as it can be stored, for one that has to wait for its record.
   *
   * @throws CoxswainError `invalid-record` for a payload of which nothing can be made
   */
  mend(payload: TrajectoryPayload): TrajectoryPayload {
    return this.#mended(payload, this.nowMs());
  }

  #mended(payload: TrajectoryPayload, nowMs: number): TrajectoryPayload {
    // A getter of the host's may emit in turn, and a proxy without end.
    if (this.#reading >= MAX_READING) {
      throw invalidArgument('reading an event leads to another one, over and over');
    }
    const budget = this.#reading === 0 ? this.#budget : new ValueBudget(this.#budget.note);
    budget.renew(nowMs);
    this.#reading += 1;
    try {
      return mendPayload(payload, budget);
    } finally {
      this.#reading -= 1;
    }
  }

  /** Counts a fault of the input that is recorded elsewhere. */
  countInput(fault: InputFault): void {
    this.#parts.tally?.note(fault);
  }

  /** Counts a fault of the input; the first of its kind is recorded behind the record at hand. */
  noteInput(fault: InputFault, detail: string): void {
    const { tally, onInputFault } = this.#parts;
    tally?.note(fault);
    if (UNSPOKEN.has(fault) || this.#spoken.has(fault)) return;
    this.#spoken.add(fault);
    const message = `${fault}: ${detail}; mended here, and counted from now on`;
    this.#notices.push(message);
    onInputFault?.(`input: ${message}`);
  }

  #timeOf(atMs: unknown): number {
    if (atMs === undefined) return this.nowMs();
    const now = this.nowMs();
    if (isNear(atMs, now)) return atMs;
    const { ms, fault, detail = '' } = readEventTime(atMs, now);
    if (fault !== undefined) this.noteInput(fault, detail);
    return ms;
  }

  /** Under an id that no store takes, all of the run would be lost. */
  #storable({ runId, parentRunId, depth }: RunLogIdentity): RunLogIdentity {
    const id = storableRunId(runId);
    const parent = parentRunId === undefined || parentRunId === null ? undefined : storableRunId(parentRunId);
    if (id !== runId || parent !== (parentRunId ?? undefined))
      this.noteInput('wrongTypes', 'the id of a run cannot be stored');
    // `count` gives a number, or nothing.
    const level = (countDecode.mend(depth, this.#budget, 'depth') ?? 0) as number;
    return { runId: id, ...(parent === undefined ? {} : { parentRunId: parent }), depth: level };
  }
}
