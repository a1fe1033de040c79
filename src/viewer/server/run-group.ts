import { present } from '../../core/base/json.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { hasFailed, verdictOf } from '../../core/facts/run-verdict.ts';
import type { RunExtras, RunGroup } from './api-shapes.ts';

/** A run without an outcome is live if its last record is at most this old. */
const LIVE_MS = 120_000;

export function isLive({ lastAtMs, outcome }: RunSummary, nowMs: number): boolean {
  return outcome === undefined && nowMs - lastAtMs < LIVE_MS;
}

/** Returns the extras of a run at this time: an open run that has been silent for long was cut off. */
export function extrasAt(run: RunSummary, extras: RunExtras | undefined, nowMs: number): RunExtras | undefined {
  if (extras?.lastAct === undefined) return extras;
  const silentMs = run.lastAtMs === 0 ? undefined : nowMs - run.lastAtMs;
  return { ...extras, ...verdictOf(undefined, [], { ...extras.lastAct, ...present({ silentMs }) }) };
}

/** The group of a run in the list. A run whose source states its success needs no one. */
export function groupOf(run: RunSummary, extras: RunExtras | undefined, nowMs: number): RunGroup {
  if (run.success !== undefined || extras?.verdict === 'worked') return 'done';
  if (run.outcome === undefined) return isLive(run, nowMs) && extras?.waitsFor === undefined ? 'running' : 'needs';
  if (extras === undefined) return 'done';
  const isBad = hasFailed(extras.verdict) || extras.verdict === 'waiting';
  return isBad || extras.stuck || extras.check?.failed === true ? 'needs' : 'done';
}
