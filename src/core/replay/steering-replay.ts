import type { Budget } from '../base/budget.ts';
import { deadlineAfter, type TimeSpan } from '../base/deadline.ts';
import type { DerivedPayload } from '../records/derived-payload.ts';
import {
  TRAJECTORY_SCHEMA_VERSION,
  type Evaluation,
  type RunStarted,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../records/trajectory-record.ts';
import { type ResolvedSteering, resolveSteering } from '../steering/resolve-steering.ts';
import { roleOf } from '../records/kind-definition.ts';
import { RunFold } from '../run/run-fold.ts';
import { toStoredBudget } from '../run/run-situation.ts';
import { DEFAULT_PROMPT } from '../run/run-speakers-by-prompt.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';
import type { Redactor } from '../redact/redactor.ts';

export interface SteeringReplayOptions {
  /** Default: the standard set. */
  readonly steering?: SteeringOptions;
  /** A deadline, relative to the time of `run_started`. Ignored if that record has no time. Default: none. */
  readonly deadline?: TimeSpan;
  /** Default: no limit. */
  readonly budget?: Budget;
  /** True if the run has not ended. Then each result is evaluated at once instead of at the next record. Default: false. */
  readonly growing?: boolean;
  /** @internal `steering` with its defaults filled in. Many runs can share it. */
  readonly resolved?: ResolvedSteering;
  /** @internal Redacts the texts of providers before the state stores them, as in a live run. Default: no redaction. */
  readonly redactor?: Redactor;
}

const ASK_BEFORE_TURN: Evaluation = { kind: 'evaluation', point: 'pre_tool_selection' };
const ASK_AFTER_CALL: Evaluation = { kind: 'evaluation', point: 'post_tool_result' };
const NOTHING: readonly DerivedPayload[] = [];

type Visit = (record: TrajectoryRecord, derived: readonly DerivedPayload[]) => void;

/**
 * Replays a run under a steering that the run did not have. It processes the agent's records one by one. It evaluates the steering after
 * every result and before every turn except the first, at the time of the previous record. An evaluation after a result waits for the
 * next record, so the last result is not evaluated. Records of an earlier steering are skipped. A `Replay` of the output with the same
 * steering gives the same derived records.
 *
 * The replay shows the advice, but not how the agent would have reacted to it.
 *
 * Cost: that of `RunFold.fold`, plus one evaluation per call and per turn.
 */
export class SteeringReplay {
  readonly #options: SteeringReplayOptions;
  readonly #steering: ResolvedSteering;
  readonly #fold: RunFold;
  #nextSeq = 0;
  #lastMs = 0;
  #turns = 0;
  /** The last result, while its evaluation is pending. */
  #result: TrajectoryRecord | undefined;

  /**
   * @throws CoxswainError "invalid-definition" if two providers have the same name
   * @throws CoxswainError "invalid-argument" for a limit outside its range
   */
  constructor(options: SteeringReplayOptions = {}) {
    this.#options = options;
    this.#steering = options.resolved ?? resolveSteering(options.steering ?? {});
    this.#fold = new RunFold({ steering: this.#steering, prompts: [], redactor: options.redactor });
  }

  /** The current counters, recent calls and patterns. */
  get analysis(): TrajectoryAnalysis {
    return this.#fold.analysis;
  }

  /**
   * Processes the next record of the run.
   *
   * @returns the records that replace it, in order, with a `seq` that starts at 0 and has no gaps: the record itself, the evaluations
   * around it, and everything derived from them. Empty for a record of an earlier steering.
   */
  take(record: TrajectoryRecord): readonly TrajectoryRecord[] {
    const records: TrajectoryRecord[] = [];
    this.#visitDerived(record, (input, derived) => {
      records.push(input);
      let seq = input.payload.kind === 'gap' ? input.payload.through_seq : input.seq;
      for (const payload of derived) records.push({ ...input, seq: (seq += 1), payload });
    });
    return records;
  }

  /** Does the same as `take`, but returns only the derived payloads. */
  follow(record: TrajectoryRecord): readonly DerivedPayload[] {
    let allPayloads: readonly DerivedPayload[] = NOTHING;
    this.#visitDerived(record, (_input, derived) => {
      if (derived.length > 0) allPayloads = allPayloads.length === 0 ? derived : [...allPayloads, ...derived];
    });
    return allPayloads;
  }

  #visitDerived(record: TrajectoryRecord, visit: Visit): void {
    const { payload } = record;
    // Other records belong to the recorded steering, or the replay derives them again.
    if (roleOf(payload) !== 'input') return;
    // The configured deadline replaces the host's deadline.
    if (payload.kind === 'deadline_set' && this.#options.deadline !== undefined) return;
    if (this.#result !== undefined) {
      if (payload.kind !== 'run_ended') this.#addPayload(ASK_AFTER_CALL, this.#result, this.#lastMs, visit);
      this.#result = undefined;
    }
    if (payload.kind === 'turn_started') {
      if (this.#turns > 0) this.#addPayload(ASK_BEFORE_TURN, record, this.#lastMs, visit);
      this.#turns += 1;
    }
    this.#lastMs = Math.max(this.#lastMs, record.recorded_at_unix_ms);
    this.#addPayload(this.#withOptions(payload, record), record, record.recorded_at_unix_ms, visit);
    if (payload.kind !== 'tool_ended' || payload.result_missing === true) return;
    if (this.#options.growing === true) this.#addPayload(ASK_AFTER_CALL, record, this.#lastMs, visit);
    else this.#result = record;
  }

  /** Adds a payload to the run that `cause` belongs to. */
  #addPayload(payload: TrajectoryPayload, cause: TrajectoryRecord, atMs: number, visit: Visit): void {
    const seq = this.#nextSeq;
    const record = { ...cause, schema_version: TRAJECTORY_SCHEMA_VERSION, seq, recorded_at_unix_ms: atMs, payload };
    const derivedPayloads = this.#fold.fold(record);
    this.#nextSeq = (payload.kind === 'gap' ? payload.through_seq : seq) + 1 + derivedPayloads.length;
    visit(record, derivedPayloads);
  }

  #withOptions(payload: TrajectoryPayload, record: TrajectoryRecord): TrajectoryPayload {
    if (payload.kind === 'run_started') return this.#withLimits(payload, record.recorded_at_unix_ms);
    if (payload.kind !== 'gap') return payload;
    return { ...payload, through_seq: this.#nextSeq + Math.max(0, payload.through_seq - record.seq) };
  }

  #withLimits(started: RunStarted, atMs: number): RunStarted {
    const { deadline, budget } = this.#options;
    const { configurationHash, mode } = this.#steering;
    return {
      ...started,
      steering: {
        prompt_name: DEFAULT_PROMPT.name,
        ...(deadline === undefined || atMs === 0 ? {} : { deadline_at_unix_ms: deadlineAfter(atMs, deadline).atMs }),
        ...(budget === undefined ? {} : { budget: toStoredBudget(budget) }),
        configuration_hash: configurationHash,
        mode,
      },
    };
  }
}
