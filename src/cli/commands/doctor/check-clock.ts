import { setTimeout as sleep } from 'node:timers/promises';

import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

const MEASURE_MS = 200;
/** Maximum difference between the clocks. The process may be suspended between the two readings. */
const MAX_DRIFT_MS = 50;
/** January 2025, before any coxswain record. */
const EARLIEST_MS = 1_735_689_600_000;
const MAX_AHEAD_MS = 60_000;

export interface ClockReadings {
  readonly nowMs: number;
  /** Elapsed time of each clock during the measurement, in milliseconds. */
  readonly wallMs: number;
  readonly steadyMs: number;
  /** Time of the last record in Unix milliseconds; 0 without records. */
  readonly lastRecordMs: number;
}

/** Measures both clocks for 200 ms. */
export async function readClocks(): Promise<Omit<ClockReadings, 'lastRecordMs'>> {
  const wall = Date.now();
  const steadyStartMs = performance.now();
  await sleep(MEASURE_MS);
  const nowMs = Date.now();
  return { nowMs, wallMs: nowMs - wall, steadyMs: performance.now() - steadyStartMs };
}

/** Checks that the clock is accurate enough for deadlines. */
export function checkClock({ lastRecordMs, nowMs, steadyMs, wallMs }: ClockReadings): DoctorLine {
  const now = new Date(nowMs).toISOString();
  const fix = 'Set the clock, and keep it synchronized with a time service.';
  if (nowMs < EARLIEST_MS) return failed('clock', `it is ${now}`, fix);
  if (lastRecordMs > nowMs + MAX_AHEAD_MS) {
    const last = new Date(lastRecordMs).toISOString();
    return failed('clock', `it is ${now}, but the last record is from ${last}`, fix);
  }
  if (Math.abs(wallMs - steadyMs) > MAX_DRIFT_MS) {
    const found = `it advanced ${Math.round(wallMs)} ms in ${Math.round(steadyMs)} ms`;
    return unknown('clock', found, 'Run coxswain doctor again; if this stays, check what sets the clock.');
  }
  return passed('clock', now);
}
