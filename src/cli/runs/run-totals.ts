import type { JsonObject } from '../../core/base/json.ts';
import { LessonTexts } from '../../core/facts/lesson-texts.ts';
import { saysStuck } from '../../core/facts/seen-pattern.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { lettersOf } from '../../core/redact/fingerprint.ts';
import { createRedactor } from '../../core/redact/redactor.ts';

export interface RunBranch {
  readonly run: RunSummary;
  readonly level: number;
}

/** Children follow their parent in the order of their start. A run whose parent is not in the list keeps its place. */
export function runTree(runs: readonly RunSummary[]): readonly RunBranch[] {
  const ids = new Set(runs.map(({ runId }) => runId));
  const isBelow = ({ parentRunId, runId }: RunSummary): boolean =>
    parentRunId !== undefined && parentRunId !== runId && ids.has(parentRunId);
  const children = Map.groupBy(runs.filter(isBelow), ({ parentRunId }) => parentRunId);
  const visitedRuns = new Set<RunSummary>();
  const branch = (run: RunSummary, level: number): readonly RunBranch[] => {
    if (visitedRuns.has(run)) return [];
    visitedRuns.add(run);
    const below = (children.get(run.runId) ?? []).toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    return [{ run, level }, ...below.flatMap((child) => branch(child, level + 1))];
  };
  // Records may name two runs as parents of each other. Both runs are shown.
  return [...runs.filter((run) => !isBelow(run)), ...runs].flatMap((run) => branch(run, 0));
}

/**
 * Redacts whole records, because a secret in a shortened text has no known form any more, and a named secret needs its
 * key. Placeholders number the different secrets; no key is stored. Cost: a fifth of the time to analyse a run.
 *
 * @param onlyLessons  true to leave out what lessons do not need. All secrets then look the same, so that calls of two sessions do
 */
export function secretRemover(onlyLessons = false): (record: TrajectoryRecord) => TrajectoryRecord {
  const marks = new Map<string, string>();
  const fingerprint = (secret: string): string => {
    const mark = marks.get(secret) ?? lettersOf(Uint8Array.of(marks.size >> 8, marks.size), 2);
    marks.set(secret, mark);
    return mark;
  };
  const redactor = createRedactor({}, onlyLessons ? {} : { fingerprint });
  const texts = onlyLessons ? new LessonTexts() : undefined;
  return (record) => {
    const payload = redactor.redact(texts?.keep(record.payload) ?? record.payload);
    return payload === record.payload ? record : { ...record, payload };
  };
}

const COUNTS = ['calls', 'errors', 'refused', 'declined', 'cancelled', 'lostRecords'] as const;
const MAX_NAMES = 64;
const OTHERS = '(others)';

export interface RunTally {
  readonly runs: number;
  readonly stuck: number;
  /** Number of runs whose source states whether they succeeded, and number of those that succeeded. */
  readonly judged: number;
  readonly succeeded: number;
}

const NONE: RunTally = { runs: 0, stuck: 0, judged: 0, succeeded: 0 };

export class RunTotals {
  #all = NONE;
  readonly counts: Record<(typeof COUNTS)[number], number> = {
    calls: 0,
    errors: 0,
    refused: 0,
    declined: 0,
    cancelled: 0,
    lostRecords: 0,
  };
  readonly #outcomes = new Map<string, RunTally>();
  readonly #patterns = new Map<string, RunTally>();

  add(run: RunFacts): void {
    for (const name of COUNTS) this.counts[name] += run[name] ?? 0;
    this.#all = tallied(this.#all, run);
    count(this.#outcomes, run.verdict.verdict, run);
    const kinds = new Set(run.patterns.filter(({ level }) => level !== 'hint').map(({ kind }) => kind));
    for (const kind of kinds) count(this.#patterns, kind, run);
  }

  get all(): RunTally {
    return this.#all;
  }
  get outcomes(): readonly (readonly [string, RunTally])[] {
    return byRuns(this.#outcomes);
  }
  get patterns(): readonly (readonly [string, RunTally])[] {
    return byRuns(this.#patterns);
  }

  toJson(): JsonObject {
    const { runs } = this.#all;
    return {
      ...this.#all,
      ...this.counts,
      outcomes: this.outcomes.map(([outcome, tally]) => ({ outcome, ...tally, share: share(tally.runs, runs) })),
      patterns: this.patterns.map(([kind, tally]) => ({ kind, ...tally, share: share(tally.runs, runs) })),
    };
  }
}

function count(tallies: Map<string, RunTally>, key: string, run: RunFacts): void {
  const name = tallies.has(key) || tallies.size < MAX_NAMES ? key : OTHERS;
  tallies.set(name, tallied(tallies.get(name) ?? NONE, run));
}

function tallied(tally: RunTally, run: RunFacts): RunTally {
  const success = run.ending?.success;
  return {
    runs: tally.runs + 1,
    stuck: tally.stuck + (saysStuck(run.patterns) ? 1 : 0),
    judged: tally.judged + (success === undefined ? 0 : 1),
    succeeded: tally.succeeded + (success === true ? 1 : 0),
  };
}

function byRuns(tallies: ReadonlyMap<string, RunTally>): readonly (readonly [string, RunTally])[] {
  return [...tallies].sort(([a, left], [b, right]) => right.runs - left.runs || (a < b ? -1 : 1));
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}
