import { systemClock } from '../../../core/base/clock.ts';
import { present } from '../../../core/base/present.ts';
import type { RunCall } from '../../../core/facts/run-call.ts';
import type { TrajectoryPattern } from '../../../core/records/trajectory-pattern.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { saysStuck } from '../../../core/facts/seen-pattern.ts';
import { ReportFold } from '../../runs/report-fold.ts';
import { momentsOf, type Stretch } from './moments.ts';
import type { RunOutcome } from '../../../core/facts/run-verdict.ts';
import { WorkFold } from './night-work.ts';
import { NO_ADVICE, tallied, type FoundRun, type NightPattern } from './night-run.ts';

const MAX_SHOWN_PATTERNS = 8;
const MAX_FAULTS = 20;
/** Maximum number of calls whose start time is kept. */
const MAX_TIMED_CALLS = 20_000;

/**
 * Collects the records of one run for a report.
 *
 * Cost: as `RunView`; bounded memory.
 */
export class NightFold {
  readonly #id: string;
  readonly #place: string | undefined;
  readonly #fold: ReportFold;
  readonly #work = new WorkFold();
  readonly #faults: string[] = [];
  readonly #callTimes: number[] = [];
  #faultCount = 0;
  #streak: Stretch = { length: 0, call: 0, atMs: 0 };
  #longestStreak: Stretch = this.#streak;
  #longestGap: Stretch = { length: 0, call: 0, atMs: 0 };
  #gaveUp: Stretch | undefined;
  #ended: TrajectoryRecord | undefined;
  #isAlive = false;

  /** @param place  path of the store or file that contains the run */
  constructor(id: string, source?: string, place: string | undefined = source) {
    this.#id = id;
    this.#place = place;
    this.#fold = new ReportFold(id, { source });
  }

  /** Time of the last record with a time, in Unix milliseconds. */
  get lastAtMs(): number {
    return this.#fold.view.lastAtMs;
  }

  get outcome(): RunOutcome | undefined {
    return this.#fold.view.outcome;
  }

  /** The agent program of the run, if its records contain it. */
  get program(): string | undefined {
    const { started } = this.#fold.view;
    return started?.format ?? started?.host;
  }

  /** The session id. For a subagent: the id of the session that started it. */
  get sessionId(): string {
    return this.#fold.view.counts.conversationId ?? this.#id.replace(/#\d+$/, '');
  }

  /** True if the records show that the run is waiting for its user. */
  get isWaiting(): boolean {
    return this.#fold.view.waitsFor !== '';
  }

  /** Notes that the process of the run exists, so that a run without an end is not cut off, however old its last record is. */
  markAlive(): void {
    this.#isAlive = true;
  }

  /** Adds a payload that is not recorded, as if it were the last record. */
  add(payload: TrajectoryPayload): void {
    const { counts, lastAtMs } = this.#fold.view;
    const place = { run_id: this.#id, depth: counts.depth, seq: counts.lastSeq + 1, schema_version: 1 } as const;
    this.fold({ ...place, recorded_at_unix_ms: lastAtMs, payload });
  }

  fold(record: TrajectoryRecord): void {
    const { view } = this.#fold;
    const { payload, recorded_at_unix_ms: atMs } = record;
    const { lastAtMs } = view;
    const call = this.#fold.fold(record);
    this.#work.fold(payload, call);
    if (call?.endSeq === undefined && call !== undefined && call.number <= MAX_TIMED_CALLS) {
      this.#callTimes[call.number - 1] = atMs;
    }
    if (lastAtMs > 0 && isOfAgent(payload) && atMs - lastAtMs > this.#longestGap.length) {
      this.#longestGap = { length: atMs - lastAtMs, call: Math.max(0, view.calls - 1), atMs: lastAtMs };
    }
    if (call?.endSeq !== undefined) this.#countStreak(call, atMs);
    if (payload.kind === 'completion_checked' && payload.gave_up === true) {
      this.#gaveUp = { length: payload.attempt, call: view.calls, atMs };
    }
    if (payload.kind === 'run_ended') this.#ended = { ...record, payload: { ...payload, new_messages: [] } };
    if (payload.kind === 'fault_noticed') this.#addFault(`${payload.where}: ${payload.message}`);
    if (payload.kind === 'provider_failed') {
      this.#addFault(`${payload.provider_name} (${payload.phase}): ${payload.message}`);
    }
  }

  /**
   * @param problem  reason why the run could not be read to its end
   * @param nowMs  the time at which the state of a run without an end is judged
   */
  found(problem?: string, nowMs: number = systemClock.nowMs()): FoundRun {
    const { advice: outcomes, checks, counts, started, usage } = this.#fold.view;
    const report = this.#fold.report(this.#isAlive ? this.lastAtMs : nowMs);
    const { calls, errors, lostRecords, modelId, outcome, patternBasis, patterns, refused, task, turns, verdict } =
      report;
    const agentName = started?.identity.agent_name;
    const agent = agentName ?? this.program;
    const label = outcome?.labels?.['person'];
    const person = typeof label === 'string' ? label : ownerOf(this.#place);
    const moments = momentsOf({
      runId: this.#id,
      report,
      outcomes,
      faults: this.#faults,
      streak: this.#longestStreak,
      gap: this.#longestGap,
      gaveUp: this.#gaveUp,
      callTimes: this.#callTimes,
    });
    return {
      report,
      outcomes,
      faults: this.#faults,
      moments,
      ...(outcome === undefined ? {} : present({ ended: this.#ended })),
      run: {
        id: this.#id,
        ...present({ parentId: counts.parentRunId, task: task?.slice(0, 200).toWellFormed(), agent, modelId, person }),
        startedAtMs: counts.startedAtMs,
        lastAtMs: counts.lastAtMs,
        ...present({ outcome }),
        verdict,
        calls,
        turns,
        errors,
        ...present({ refused, lostRecords }),
        ...usage,
        ...this.#work.work,
        checks,
        stuck: saysStuck(patterns),
        patternBasis,
        patterns: patterns.slice(0, MAX_SHOWN_PATTERNS).map(shortPattern),
        advice: outcomes.reduce(tallied, NO_ADVICE),
        faults: this.#faultCount,
        ...present({ problem }),
      },
    };
  }

  #countStreak({ failed, number, outcome }: RunCall, atMs: number): void {
    // A refused or cancelled call neither continues nor ends a streak of failures.
    if (outcome !== undefined) return;
    const call = number - 1;
    const { length } = this.#streak;
    this.#streak = failed
      ? { ...(length === 0 ? { call, atMs } : this.#streak), length: length + 1 }
      : { length: 0, call, atMs };
    if (this.#streak.length > this.#longestStreak.length) this.#longestStreak = this.#streak;
  }

  #addFault(text: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(text.slice(0, 300));
  }
}

/** Returns the user whose home folder contains the path; undefined without such a user. */
function ownerOf(path: string | undefined): string | undefined {
  return path === undefined ? undefined : /^(?:\/home|\/Users|[A-Za-z]:\\Users)[/\\]([^/\\]+)[/\\]/.exec(path)?.[1];
}

/** Returns true if the agent caused the record. A late message of the user or the host shows no activity of the agent. */
function isOfAgent(payload: TrajectoryRecord['payload']): boolean {
  if (payload.kind === 'message_appended') return payload.message.role !== 'user' && payload.message.role !== 'system';
  return payload.kind === 'tool_started' || payload.kind === 'tool_ended' || payload.kind === 'turn_started';
}

function shortPattern(pattern: TrajectoryPattern): NightPattern {
  const { clearedAt, flaggedAt, kind, level, occurrences, stuck, tool } = pattern;
  return { kind, level, stuck, flaggedAt, occurrences, ...present({ clearedAt, tool }) };
}
