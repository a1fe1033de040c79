import { invalidArgument } from './error.ts';

/** A point in time by which a run should be done. Plain data. */
export interface Deadline {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** When it was set, in Unix milliseconds; absent where the run began with it. */
  readonly setAtMs?: number;
}

/** A length of time; the parts add up. At least one part, all finite and not negative. */
export interface TimeSpan {
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/**
 * The deadline that lies `span` after `nowMs`: `deadlineAfter(nowMs, { minutes: 20 })`.
 *
 * @param nowMs Unix milliseconds
 * @throws CoxswainError "invalid-argument" when `nowMs` is not finite, or `span` has no part or a negative or infinite one
 */
export function deadlineAfter(nowMs: number, span: TimeSpan): Deadline {
  const parts = [(span.hours ?? 0) * 3_600_000, (span.minutes ?? 0) * 60_000, (span.seconds ?? 0) * 1_000];
  const given = span.hours !== undefined || span.minutes !== undefined || span.seconds !== undefined;
  if (!Number.isFinite(nowMs) || !given || parts.some((part) => !Number.isFinite(part) || part < 0)) {
    throw invalidArgument(
      `a deadline needs hours, minutes or seconds from 0, got ${JSON.stringify(span)} after ${nowMs}`,
      { details: { nowMs, span } },
    );
  }
  return { atMs: nowMs + parts.reduce((sum, part) => sum + part, 0) };
}

/** Milliseconds left; 0 at the deadline, negative after it. */
export function remainingMs(deadline: Deadline, nowMs: number): number {
  return deadline.atMs - nowMs;
}

/** True at the deadline and after it. */
export function isExpired(deadline: Deadline, nowMs: number): boolean {
  return remainingMs(deadline, nowMs) <= 0;
}
