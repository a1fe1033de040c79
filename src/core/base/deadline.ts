import { invalidArgument } from './error.ts';

/** The time by which a run should end. Plain data. */
export interface Deadline {
  /** The deadline in Unix milliseconds. */
  readonly atMs: number;
  /** Unix milliseconds at which the deadline was changed. Absent if the run started with this deadline. */
  readonly setAtMs?: number;
}

/** A duration: the sum of its parts. At least one part must be present, and each must be finite and not negative. */
export interface TimeSpan {
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/**
 * Returns the deadline that is `span` after `nowMs`, for example `deadlineAfter(nowMs, { minutes: 20 })`.
 *
 * @param nowMs  Unix milliseconds
 * @throws CoxswainError "invalid-argument" if `nowMs` is not finite, or if `span` has no part or a negative or infinite one
 */
export function deadlineAfter(nowMs: number, span: TimeSpan): Deadline {
  const parts = [(span.hours ?? 0) * 3_600_000, (span.minutes ?? 0) * 60_000, (span.seconds ?? 0) * 1_000];
  const hasPart = span.hours !== undefined || span.minutes !== undefined || span.seconds !== undefined;
  if (!Number.isFinite(nowMs) || !hasPart || parts.some((part) => !Number.isFinite(part) || part < 0)) {
    throw invalidArgument(
      `a deadline needs hours, minutes or seconds from 0, got ${JSON.stringify(span)} after ${nowMs}`,
      { details: { nowMs, span } },
    );
  }
  return { atMs: nowMs + parts.reduce((sum, part) => sum + part, 0) };
}

/** Returns the milliseconds until the deadline: 0 at the deadline, negative after it. */
export function remainingMs(deadline: Deadline, nowMs: number): number {
  return deadline.atMs - nowMs;
}

/** Returns true at the deadline and after it. */
export function isExpired(deadline: Deadline, nowMs: number): boolean {
  return remainingMs(deadline, nowMs) <= 0;
}
