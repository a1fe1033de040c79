import { setTimeout as sleep } from 'node:timers/promises';

import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

const LOOK_MS = 200;
/** The two clocks may differ so much over the look: a process can be held up between reading one and the other. */
const MAX_DRIFT_MS = 50;
/** Nothing was recorded before this: January 2025. */
const EARLIEST_MS = 1_735_689_600_000;
const MAX_AHEAD_MS = 60_000;

/** What clocks say. */
export interface ClockReadings {
  readonly nowMs: number;
  /** How far each went during the look. */
  readonly wallMs: number;
  readonly steadyMs: number;
  /** Time of the latest record; 0 without any. */
  readonly lastRecordMs: number;
}

/** Looks at both clocks for a fifth of a second. */
export async function readClocks(): Promise<Omit<ClockReadings, 'lastRecordMs'>> {
  const wall = Date.now();
  const steady = performance.now();
  await sleep(LOOK_MS);
  const nowMs = Date.now();
  return { nowMs, wallMs: nowMs - wall, steadyMs: performance.now() - steady };
}

/** Whether deadlines can be told by this clock. */
export function checkClock({ lastRecordMs, nowMs, steadyMs, wallMs }: ClockReadings): DoctorLine {
  const now = new Date(nowMs).toISOString();
  const fix = 'Set the clock, and keep it by a time service.';
  if (nowMs < EARLIEST_MS) return failed('clock', `it says ${now}`, fix);
  if (lastRecordMs > nowMs + MAX_AHEAD_MS) {
    return failed('clock', `it says ${now}, and the latest record is of ${new Date(lastRecordMs).toISOString()}`, fix);
  }
  if (Math.abs(wallMs - steadyMs) > MAX_DRIFT_MS) {
    const found = `it went ${Math.round(wallMs)} ms while ${Math.round(steadyMs)} ms passed`;
    return unknown('clock', found, 'Run coxswain doctor again; if it stays, look at what sets the clock.');
  }
  return passed('clock', now);
}
