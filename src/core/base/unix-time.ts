import type { InputFault } from './input-fault.ts';

type TimeUnit = 'seconds' | 'milliseconds' | 'microseconds' | 'nanoseconds';

/** Below 10^11 seconds (to the year 5138), below 10^14 milliseconds (from 1973), below 10^17 microseconds, else nanoseconds. */
export function unixMsOf(value: number): { readonly ms: number; readonly unit: TimeUnit } {
  if (value < 1e11) return { ms: value * 1_000, unit: 'seconds' };
  if (value < 1e14) return { ms: value, unit: 'milliseconds' };
  return value < 1e17 ? { ms: value / 1e3, unit: 'microseconds' } : { ms: value / 1e6, unit: 'nanoseconds' };
}

interface ReadTime {
  /** Unix milliseconds. */
  readonly ms: number;
  readonly fault?: InputFault;
  readonly detail?: string;
}

/** Maximum expected difference between the clocks of two processes. */
const AHEAD_MS = 60_000;
const DECADE_MS = 10 * 366 * 86_400_000;

export function isNear(atMs: unknown, nowMs: number): atMs is number {
  return typeof atMs === 'number' && isWithinReach(atMs, nowMs);
}

function isWithinReach(atMs: number, nowMs: number): boolean {
  return atMs >= 0 && atMs <= nowMs + AHEAD_MS && atMs >= nowMs - DECADE_MS;
}

/** An implausible time is converted if its unit can be inferred, else replaced by the clock's (`nowMs`, Unix milliseconds). */
export function readEventTime(atMs: unknown, nowMs: number): ReadTime {
  if (atMs === undefined || atMs === null) return { ms: nowMs };
  if (typeof atMs !== 'number' || !(atMs >= 0) || atMs === Infinity) {
    return { ms: nowMs, fault: 'badTimes', detail: `atMs must be a number from 0, got ${shownValue(atMs)}` };
  }
  if (isWithinReach(atMs, nowMs)) return { ms: atMs };
  const { ms, unit } = unixMsOf(atMs);
  if (unit !== 'milliseconds' && isWithinReach(ms, nowMs)) {
    return { ms, fault: 'wrongUnits', detail: `atMs ${atMs} is in ${unit}, not milliseconds` };
  }
  const side = atMs > nowMs ? 'ahead of' : 'behind';
  return { ms: nowMs, fault: 'farTimes', detail: `atMs ${atMs} is far ${side} the clock, ${nowMs}` };
}

/**
 * Any time is allowed.
 *
 * @param atMs  a number from 0
 * @param nowMs  the clock, Unix milliseconds
 */
export function readDeadlineTime(atMs: number, nowMs: number): ReadTime {
  if (Math.abs(atMs - nowMs) <= DECADE_MS) return { ms: atMs };
  const { ms, unit } = unixMsOf(atMs);
  if (unit === 'milliseconds' || Math.abs(ms - nowMs) > DECADE_MS) return { ms: atMs };
  return { ms, fault: 'wrongUnits', detail: `the deadline ${atMs} is in ${unit}, not milliseconds` };
}

function shownValue(value: unknown): string {
  return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
}

export function withoutDate(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value;
}
