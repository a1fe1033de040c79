import { AdviceOutcomeFold } from '../../backtest/advice-outcome.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { StoredMessage } from '../../events/stored-message.ts';
import type { TrajectoryPattern } from '../../events/trajectory-pattern.ts';
import type { RunStarted, TrajectoryRecord } from '../../events/trajectory-record.ts';
import { RunFold } from '../run-fold.ts';
import { isStuck, type RunReport } from '../run-report.ts';
import { momentsOf, type Stretch } from './moments.ts';
import { NO_ADVICE, tallied, type FoundRun, type NightPattern } from './night-run.ts';

const MAX_PATTERNS = 256;
const MAX_SHOWN_PATTERNS = 8;
const MAX_OPEN_CALLS = 1_000;
const MAX_FAULTS = 20;

/**
 * Folds the records of one run into what a report says of it. The patterns are those that the run's own steering recorded;
 * of a run without steering, such as an imported one, those that the default detectors find.
 *
 * Cost: O(1) a record, bounded memory.
 */
export class NightFold {
  readonly #id: string;
  readonly #fold: RunFold;
  readonly #advice = new AdviceOutcomeFold();
  readonly #recorded = new LruMap<TrajectoryPattern>(MAX_PATTERNS);
  readonly #openCalls = new LruMap<number>(MAX_OPEN_CALLS);
  readonly #faults: string[] = [];
  #faultCount = 0;
  #started: RunStarted | undefined;
  #parentId: string | undefined;
  #startedAtMs = 0;
  #lastAtMs = 0;
  #calls = 0;
  #tokens: number | undefined;
  #costUsd: number | undefined;
  #streak: Stretch = { length: 0, call: 0, atMs: 0 };
  #longestStreak: Stretch = this.#streak;
  #longestGap: Stretch = { length: 0, call: 0, atMs: 0 };
  #gaveUp: Stretch | undefined;
  #ended = false;

  constructor(id: string, source?: string) {
    this.#id = id;
    this.#fold = new RunFold(id, { hints: false, source });
  }

  /** Unix milliseconds of the latest record that has a time. */
  get lastAtMs(): number {
    return this.#lastAtMs;
  }

  /** Takes the next record. */
  fold(record: TrajectoryRecord): void {
    const { payload } = record;
    this.#fold.fold(record);
    this.#advice.fold(record);
    this.#time(record);
    switch (payload.kind) {
      case 'run_started':
        this.#started = payload;
        this.#parentId = record.parent_run_id;
        return;
      case 'run_resumed':
        this.#ended = false;
        return;
      case 'run_ended':
        this.#ended = true;
        return;
      case 'tool_started':
        this.#openCalls.set(payload.tool_call_id, this.#calls);
        this.#calls += 1;
        return;
      case 'tool_ended':
        this.#came(this.#openCalls.get(payload.tool_call_id) ?? this.#calls, payload.is_error, record);
        return;
      case 'message_appended':
        this.#used(payload.message);
        return;
      case 'pattern_flagged':
      case 'pattern_cleared':
        this.#recorded.set(`${payload.pattern.identity}\n${payload.pattern.firstSeen}`, payload.pattern);
        return;
      case 'completion_checked':
        if (payload.gave_up === true) {
          this.#gaveUp = { length: payload.attempt, call: this.#calls, atMs: record.recorded_at_unix_ms };
        }
        return;
      case 'fault_noticed':
        this.#fault(`${payload.where}: ${payload.message}`);
        return;
      case 'provider_failed':
        this.#fault(`${payload.provider_name} (${payload.phase}): ${payload.message}`);
        return;
      default:
    }
  }

  /** What was found. @param problem  why the run could not be read to its end */
  found(problem?: string): FoundRun {
    const report = this.#report();
    const { calls, errors, outcome, task, turns } = report;
    const outcomes = this.#advice.outcomes();
    const modelId = this.#started?.identity.model_id;
    const moments = momentsOf({
      runId: this.#id,
      report,
      outcomes,
      faults: this.#faults,
      streak: this.#longestStreak,
      gap: this.#longestGap,
      gaveUp: this.#gaveUp,
    });
    return {
      report,
      outcomes,
      faults: this.#faults,
      moments,
      run: {
        id: this.#id,
        ...(this.#parentId === undefined ? {} : { parentId: this.#parentId }),
        ...(task === undefined ? {} : { task: task.slice(0, 200).toWellFormed() }),
        ...(modelId === undefined ? {} : { modelId }),
        startedAtMs: this.#startedAtMs,
        lastAtMs: this.#lastAtMs,
        ...(outcome === undefined ? {} : { outcome }),
        calls,
        turns,
        errors,
        ...(this.#tokens === undefined ? {} : { tokens: this.#tokens }),
        ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }),
        stuck: isStuck(report),
        patterns: report.patterns.slice(0, MAX_SHOWN_PATTERNS).map(shortPattern),
        advice: outcomes.reduce(tallied, NO_ADVICE),
        faults: this.#faultCount,
        ...(problem === undefined ? {} : { problem }),
      },
    };
  }

  #report(): RunReport {
    const { outcome, ...report } = this.#fold.report();
    const isSteered = this.#started?.steering !== undefined;
    const recorded = this.#recorded
      .entries()
      .map(([, pattern]) => pattern)
      .toSorted((a, b) => a.firstSeen - b.firstSeen);
    return {
      ...report,
      // What the end said holds no longer once the run goes on.
      ...(this.#ended && outcome !== undefined ? { outcome } : {}),
      patterns: isSteered ? recorded : report.patterns,
    };
  }

  #time({ payload, recorded_at_unix_ms: atMs }: TrajectoryRecord): void {
    if (atMs <= 0) return;
    if (this.#startedAtMs === 0) this.#startedAtMs = atMs;
    const length = atMs - this.#lastAtMs;
    if (this.#lastAtMs > 0 && isOfAgent(payload) && length > this.#longestGap.length) {
      this.#longestGap = { length, call: Math.max(0, this.#calls - 1), atMs: this.#lastAtMs };
    }
    this.#lastAtMs = Math.max(this.#lastAtMs, atMs);
  }

  #came(call: number, isError: boolean, { recorded_at_unix_ms: atMs }: TrajectoryRecord): void {
    const { length } = this.#streak;
    this.#streak = isError
      ? { ...(length === 0 ? { call, atMs } : this.#streak), length: length + 1 }
      : { length: 0, call, atMs };
    if (this.#streak.length > this.#longestStreak.length) this.#longestStreak = this.#streak;
  }

  #used(message: StoredMessage): void {
    if (message.role !== 'assistant' || message.usage === undefined) return;
    const { cost_usd: costUsd, input_tokens: input, output_tokens: output } = message.usage;
    if (input !== undefined || output !== undefined) this.#tokens = (this.#tokens ?? 0) + (input ?? 0) + (output ?? 0);
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
  }

  #fault(text: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(text.slice(0, 300));
  }
}

/** Whether the agent did it: what its user or its host does after a long time says nothing of the agent. */
function isOfAgent(payload: TrajectoryRecord['payload']): boolean {
  if (payload.kind === 'message_appended') return payload.message.role !== 'user' && payload.message.role !== 'system';
  return payload.kind === 'tool_started' || payload.kind === 'tool_ended' || payload.kind === 'turn_started';
}

function shortPattern({
  clearedAt,
  flaggedAt,
  kind,
  level,
  occurrences,
  stuck,
  tool,
}: TrajectoryPattern): NightPattern {
  return {
    kind,
    level,
    stuck,
    flaggedAt,
    occurrences,
    ...(clearedAt === undefined ? {} : { clearedAt }),
    ...(tool === undefined ? {} : { tool }),
  };
}
