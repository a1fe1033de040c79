import { countOf, durationText } from '../../terminal/number-text.ts';
import { printableCut } from '../../terminal/printable.ts';
import type { RunStatus } from './run-status.ts';

/** The status in a line: `cox 39 calls, 16 errors, identical_call (strong), 12 minutes left`. */
export function statusText(status: RunStatus | undefined): string {
  if (status === undefined) return 'cox: no run';
  const { calls, errors, leftMs, outcome, pattern, waitingEvents = 0 } = status;
  const facts = [
    countOf(calls, 'call'),
    ...(errors > 0 ? [countOf(errors, 'error')] : []),
    ...(pattern === null ? [] : [`${printableCut(pattern.kind, 40)} (${pattern.level})`]),
    ...(leftMs === null ? [] : [leftText(leftMs)]),
    ...(outcome === null ? [] : [printableCut(outcome, 40)]),
    ...(waitingEvents === 0 ? [] : [`${countOf(waitingEvents, 'event')} waiting`]),
  ];
  return `cox ${facts.join(', ')}`;
}

/**
 * The status as a template says: `{calls}`, `{errors}`, `{turns}`, `{pattern}`, `{level}`, `{left}`, `{outcome}`, `{run}` and
 * `{task}` stand for what they name, and for nothing where there is none; all else stays. Empty without a run.
 */
export function formattedStatus(template: string, status: RunStatus | undefined): string {
  if (status === undefined) return '';
  const { calls, errors, leftMs, outcome, pattern, runId, task, turns } = status;
  const values: Readonly<Record<string, string>> = {
    run: runId,
    task: task ?? '',
    calls: String(calls),
    errors: String(errors),
    turns: String(turns),
    pattern: pattern?.kind ?? '',
    level: pattern?.level ?? '',
    left: leftMs === null ? '' : leftText(leftMs),
    outcome: outcome ?? '',
  };
  return template.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? printableCut(values[name] ?? '', 200) : whole,
  );
}

function leftText(leftMs: number): string {
  return leftMs >= 0 ? `${durationText(leftMs)} left` : `${durationText(-leftMs)} over time`;
}
