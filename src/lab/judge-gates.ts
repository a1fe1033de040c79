import type { GateReport, PartReport } from './backtest-report.ts';
import { rounded } from './statistics.ts';
import { countOf } from '../core/base/number-text.ts';
import type { TrajectoryPattern } from '../core/records/trajectory-pattern.ts';
import { invalidArgument } from '../core/base/error.ts';
import { hashText } from '../core/base/hash.ts';

/** Returns a note on runs with the id of an earlier run; none without such runs. */
export function copiesNote(repeatedRuns: number): readonly string[] {
  if (repeatedRuns === 0) return [];
  const runs = countOf(repeatedRuns, 'run');
  return [
    `${runs} with the id of an earlier run: copies of a run count several times, so the intervals are too narrow.`,
  ];
}

/** The numbers of calls after a warning at which a stop is measured. */
export const STOP_AFTER: readonly number[] = [0, 1, 2, 3, 5, 10];

export interface RunUse {
  readonly ms: number | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
}

export interface StopPoint {
  /** The pattern's kind, or null for the first warning of any kind. */
  readonly kind: string | null;
  readonly level: 'warn' | 'strong';
  /** 0-based index of the call after which the pattern was flagged. */
  readonly call: number;
  /** The use at each stop in `STOP_AFTER` that the run reached. */
  readonly used: readonly RunUse[];
}

interface Pending extends Omit<StopPoint, 'used'> {
  readonly used: RunUse[];
}

/** Collects the first stuck warnings of one run, and the run's use at each stop. */
export class StopPoints {
  readonly #points = new Map<string, Pending>();
  #pendingStops: Pending[] = [];

  /** @param call  index of the call after which the pattern was flagged */
  flagged({ kind, level, stuck }: TrajectoryPattern, call: number, use: () => RunUse): void {
    if (!stuck || level === 'hint') return;
    const levels = level === 'strong' ? (['warn', 'strong'] as const) : (['warn'] as const);
    for (const reachedPoints of levels) {
      for (const name of [null, kind]) {
        const key = `${reachedPoints} ${name ?? ''}`;
        if (this.#points.has(key)) continue;
        const point: Pending = { kind: name, level: reachedPoints, call, used: [use()] };
        this.#points.set(key, point);
        this.#pendingStops.push(point);
      }
    }
  }

  /** @param number  1-based number of the finished call */
  ended(number: number, use: () => RunUse): void {
    if (this.#pendingStops.length === 0) return;
    for (const point of this.#pendingStops) {
      let callLimit = STOP_AFTER[point.used.length];
      while (callLimit !== undefined && number > point.call + callLimit) {
        point.used.push(use());
        callLimit = STOP_AFTER[point.used.length];
      }
    }
    this.#pendingStops = this.#pendingStops.filter(({ used }) => used.length < STOP_AFTER.length);
  }

  points(): readonly StopPoint[] {
    return [...this.#points.values()];
  }
}

export interface Split {
  readonly name: string;
  /** The share of the named part, above 0 and below 1. */
  readonly share: number;
}

const REST = 'test';

/** Parses a split such as `dev=0.7`. Throws CoxswainError "invalid-argument". */
export function parseSplit(text: string): Split {
  const [, name, share] = /^([\w-]{1,32})=(0?\.\d+)$/.exec(text) ?? [];
  if (name !== undefined && share !== undefined && Number(share) > 0 && name !== REST) {
    return { name, share: Number(share) };
  }
  throw invalidArgument(`--split ${text}: give a name and a share, such as dev=0.7`);
}

/** Returns the names of the parts in order. Without a split, the only part is `all`. */
export function partNames(split: Split | undefined): readonly string[] {
  return split === undefined ? ['all'] : [split.name, REST];
}

/** All runs of a task are in one part, so it does not test the threshold that it chose. By a hash: adding runs moves no other. */
export function partOf(task: string, split: Split | undefined): string {
  if (split === undefined) return 'all';
  const place = Number.parseInt(hashText(`split ${task}`).slice(0, 8), 16) / 2 ** 32;
  return place < split.share ? split.name : REST;
}

/** Limits that a configuration must satisfy, for automated checks. */
export interface Gates {
  /** Maximum share of successful runs with advice, from 0 to 1. */
  readonly maxFalseRate?: number;
  /** Minimum share of failed runs with advice, from 0 to 1. */
  readonly minRecall?: number;
  /** Maximum number of advice firings per 100 calls. */
  readonly maxAdvicePer100Calls?: number;
}

/** Checks the gates against the last configuration in this part. A gate with an unknown figure fails. */
export function judgeGates(gates: Gates, part: PartReport | undefined): readonly GateReport[] {
  const advice = part?.byConfiguration.at(-1)?.advice;
  const place = part === undefined || part.name === 'all' ? '' : ` on ${part.name}`;
  const reports: GateReport[] = [];
  const judge = (
    gate: GateReport['gate'],
    limit: number | undefined,
    {
      value,
      what,
      unknown,
    }: { readonly value: number | null | undefined; readonly what: string; readonly unknown: string },
  ): void => {
    if (limit === undefined) return;
    if (value === undefined || value === null) {
      reports.push({
        gate,
        limit,
        value: null,
        passed: false,
        reason: `${gate} ${limit}: unknown${place}: ${unknown}`,
      });
      return;
    }
    const isMinimum = gate === 'min-recall';
    const hasPassed = isMinimum ? value >= limit : value <= limit;
    const relation = hasPassed ? (isMinimum ? 'at least' : 'at most') : isMinimum ? 'below' : 'over';
    const reason = `${gate}: ${what}${place} is ${rounded(value)}, ${relation} ${limit}`;
    reports.push({ gate, limit, value: rounded(value), passed: hasPassed, reason });
  };
  judge('max-false-rate', gates.maxFalseRate, {
    value: advice?.falseRate.share,
    what: 'the share of successful runs with advice',
    unknown: 'no run is known to have succeeded',
  });
  judge('min-recall', gates.minRecall, {
    value: advice?.recall.share,
    what: 'the share of failed runs with advice',
    unknown: 'no run is known to have failed',
  });
  judge('max-advice-per-100-calls', gates.maxAdvicePer100Calls, {
    value: advice?.per100Calls,
    what: 'advice per 100 calls',
    unknown: 'no run has a call',
  });
  return reports;
}
