import type { TrajectoryPattern } from '../core/records/trajectory-pattern.ts';

/** The numbers of calls after a warning at which a stop is measured. */
export const STOP_AFTER: readonly number[] = [0, 1, 2, 3, 5, 10];

/** Duration, tokens and cost of a run up to some moment. A value is null if the run does not record it. */
export interface RunUse {
  readonly ms: number | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
}

/** The first warning of a kind and level in a run. Plain JSON. */
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
