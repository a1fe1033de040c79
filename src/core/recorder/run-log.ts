import type { Clock } from '../base/clock.ts';
import { invalidArgument } from '../base/error.ts';
import type { InputFault } from '../base/input-fault.ts';
import { isNear, readEventTime } from '../base/unix-time.ts';
import { ValueBudget } from '../base/to-json.ts';
import { withHostOutcome } from '../facts/host-refusals.ts';
import { repairPayload } from '../records/decode-payload.ts';
import type { AgentIdentity } from '../records/agent-event.ts';
import { countDecode } from '../records/field-decode.ts';
import {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../records/trajectory-record.ts';
import { storableRunId } from '../store/check-batch.ts';
import type { InputTally } from './to-payload.ts';
import type { RecordQueue } from './record-queue.ts';
import type { EmitAnswer } from './record-queue-options.ts';

export type RunLogIdentity = Pick<AgentIdentity, 'runId' | 'parentRunId' | 'depth'>;

export interface RunLogParts {
  readonly clock: Clock;
  readonly queue: Pick<RecordQueue, 'add'> | undefined;
  /** Default 0. */
  readonly nextSeq?: number;
  /** Time of the run's last record, Unix milliseconds; default 0. */
  readonly lastMs?: number;
  readonly redact?: (payload: TrajectoryPayload) => TrajectoryPayload;
  readonly lateInputId?: string | undefined;
  readonly tally?: InputTally;
  /** Called once per run and kind of fault. The same message is recorded. */
  readonly onInputFault?: (message: string) => void;
}

/** Faults that are not recorded, because they are visible in the stored value or there is nothing to report. */
const UNREPORTED: ReadonlySet<InputFault> = new Set<InputFault>(['binaries', 'cutValues', 'cycles', 'lateEvents']);

const MAX_REPORTED_FAULTS = 40;

const MAX_NESTED_READS = 4;

/** `seq` starts at 0 without gaps. All values can be stored and read again; repairs are counted and reported once. */
export class RunLog {
  readonly identity: RunLogIdentity;
  readonly #parts: RunLogParts;
  readonly #budget = new ValueBudget((fault, detail) => this.noteInputFault(fault, detail));
  readonly #reportedFaults = new Set<string>();
  #notices: string[] = [];
  #nestedReads = 0;
  #nextSeq: number;
  #lastMs: number;

  constructor(identity: RunLogIdentity, parts: RunLogParts) {
    this.#parts = parts;
    this.#nextSeq = parts.nextSeq ?? 0;
    this.#lastMs = parts.lastMs ?? 0;
    this.identity = this.#makeStorable(identity);
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Returns the clock's time. If that is not a valid time, returns the time of the last record. */
  nowMs(): number {
    const nowMs = this.#parts.clock.nowMs();
    if (Number.isFinite(nowMs) && nowMs >= 0) return nowMs;
    this.noteInputFault('badTimes', `the clock returned ${nowMs}`);
    return this.#lastMs;
  }

  /** Times never decrease within a run. Throws CoxswainError `invalid-record` for an unusable payload. */
  stamp(payload: TrajectoryPayload, atMs?: number): TrajectoryRecord {
    const { runId, parentRunId, depth } = this.identity;
    const { redact } = this.#parts;
    // Derived records have the time of their cause.
    const nowMs = atMs !== undefined && atMs === this.#lastMs ? atMs : this.#timeOf(atMs);
    const repairedPayload = this.#repairAt(payload, nowMs);
    const storedPayload = redact === undefined ? repairedPayload : redact(repairedPayload);
    this.#lastMs = Math.max(this.#lastMs, nowMs);
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    const schema_version = TRAJECTORY_SCHEMA_VERSION;
    const recorded_at_unix_ms = this.#lastMs;
    const { lateInputId } = this.#parts;
    if (parentRunId === undefined && lateInputId === undefined)
      return { schema_version, seq, run_id: runId, depth, recorded_at_unix_ms, payload: storedPayload };
    return {
      schema_version,
      seq,
      run_id: runId,
      ...(parentRunId === undefined ? {} : { parent_run_id: parentRunId }),
      depth,
      recorded_at_unix_ms,
      ...(lateInputId === undefined ? {} : { late_input_id: lateInputId }),
      payload: storedPayload,
    };
  }

  write(record: TrajectoryRecord): EmitAnswer {
    const answer = this.#parts.queue?.add(record) ?? 'accepted';
    if (this.#notices.length === 0) return answer;
    for (const message of this.#notices.splice(0)) {
      this.#parts.queue?.add(this.stamp({ kind: 'fault_noticed', where: 'input', message }));
    }
    return answer;
  }

  /** For a payload that has to wait for its record. Throws CoxswainError `invalid-record` for an unusable payload. */
  repair(payload: TrajectoryPayload): TrajectoryPayload {
    return this.#repairAt(payload, this.nowMs());
  }

  #repairAt(payload: TrajectoryPayload, nowMs: number): TrajectoryPayload {
    // A getter in the host's value may emit events, and a proxy may do so without end.
    if (this.#nestedReads >= MAX_NESTED_READS) {
      throw invalidArgument('reading an event emits another one, repeatedly');
    }
    const budget = this.#nestedReads === 0 ? this.#budget : new ValueBudget(this.#budget.note);
    budget.renew(nowMs);
    this.#nestedReads += 1;
    try {
      return withHostOutcome(repairPayload(payload, budget));
    } finally {
      this.#nestedReads -= 1;
    }
  }

  countInputFault(fault: InputFault): void {
    this.#parts.tally?.note(fault);
  }

  noteInputFault(fault: InputFault, detail: string): void {
    const { tally, onInputFault } = this.#parts;
    tally?.note(fault);
    if (UNREPORTED.has(fault) || this.#reportedFaults.size >= MAX_REPORTED_FAULTS) return;
    const key = fault === 'unknownTypes' ? `${fault} ${detail}` : fault;
    if (this.#reportedFaults.has(key)) return;
    this.#reportedFaults.add(key);
    const message = `${fault}: ${detail}; repaired here, and counted from now on`;
    this.#notices.push(message);
    onInputFault?.(`input: ${message}`);
  }

  #timeOf(atMs: unknown): number {
    if (atMs === undefined) return this.nowMs();
    const nowMs = this.nowMs();
    if (isNear(atMs, nowMs)) return atMs;
    const { ms, fault, detail = '' } = readEventTime(atMs, nowMs);
    if (fault !== undefined) this.noteInputFault(fault, detail);
    return ms;
  }

  /** Replaces ids that no store accepts. Otherwise the whole run would be lost. */
  #makeStorable({ runId, parentRunId, depth }: RunLogIdentity): RunLogIdentity {
    const validId = storableRunId(runId);
    const parentId = parentRunId === undefined || parentRunId === null ? undefined : storableRunId(parentRunId);
    if (validId !== runId || parentId !== (parentRunId ?? undefined))
      this.noteInputFault('wrongTypes', 'the id of a run cannot be stored');
    // `count` returns a number or undefined.
    const level = (countDecode.repair(depth, this.#budget, 'depth') ?? 0) as number;
    return { runId: validId, ...(parentId === undefined ? {} : { parentRunId: parentId }), depth: level };
  }
}
