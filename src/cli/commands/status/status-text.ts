import { inWords } from '../../../core/records/words.ts';
import { countOf, countText, durationText, shareText, usdText } from '../../../core/base/number-text.ts';
import { printableCut } from '../../../core/base/printable.ts';
import type { RunStatus } from './run-status.ts';

/**
 * Formats the status in one line: `cox 39 calls, 16 errors, stuck for sure: the same call with the same result, 12 minutes left`.
 */
export function statusText(status: RunStatus | undefined): string {
  if (status === undefined) return 'cox: no run';
  const { calls, contextTokens, costUsd, errors, leftMs, outcome, pattern, tokens, waitingEvents = 0 } = status;
  const facts = [
    countOf(calls, 'call'),
    ...(errors > 0 ? [countOf(errors, 'error')] : []),
    ...(pattern === null ? [] : [patternText(pattern)]),
    ...(tokens === null ? [] : [countOf(tokens, 'token')]),
    ...(costUsd === null ? [] : [usdText(costUsd)]),
    ...(contextTokens === null ? [] : [`context ${contextText(status)}`]),
    ...(leftMs === null ? [] : [leftText(leftMs)]),
    ...(outcome === null ? [] : [printableCut(inWords('outcome', outcome), 40)]),
    ...(waitingEvents === 0 ? [] : [`${countOf(waitingEvents, 'event')} waiting`]),
  ];
  return `cox ${facts.join(', ')}`;
}

/**
 * Fills in a template. Replaces `{calls}`, `{errors}`, `{turns}`, `{tokens}`, `{cost}`, `{context}`, `{pattern}`, `{level}`, `{left}`,
 * `{outcome}`, `{run}`, `{host}` and `{task}`. Unknown names are unchanged. Returns an empty text without a run.
 */
export function formattedStatus(template: string, status: RunStatus | undefined): string {
  if (status === undefined) return '';
  const { calls, contextTokens, costUsd, errors, host, leftMs, outcome, pattern, runId, task, tokens, turns } = status;
  const values: Readonly<Record<string, string>> = {
    run: runId,
    host: host ?? '',
    task: task ?? '',
    calls: String(calls),
    errors: String(errors),
    turns: String(turns),
    tokens: tokens === null ? '' : countText(tokens),
    cost: costUsd === null ? '' : usdText(costUsd),
    context: contextTokens === null ? '' : contextText(status),
    pattern: pattern === null ? '' : inWords('pattern', pattern.kind),
    level: pattern === null ? '' : inWords('level', pattern.level),
    left: leftMs === null ? '' : leftText(leftMs),
    outcome: outcome === null ? '' : inWords('outcome', outcome),
  };
  return template.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? printableCut(values[name] ?? '', 200) : whole,
  );
}

function contextText({ contextShare: share, contextTokens: tokens }: RunStatus): string {
  return `${countText(tokens ?? 0)}${share === null ? '' : ` (${shareText(share)} of the window)`}`;
}

function patternText({ kind, level, stuck }: NonNullable<RunStatus['pattern']>): string {
  return `${stuck ? 'stuck ' : ''}${inWords('level', level)}: ${printableCut(inWords('pattern', kind), 60)}`;
}

function leftText(leftMs: number): string {
  return leftMs >= 0 ? `${durationText(leftMs)} left` : `${durationText(-leftMs)} over time`;
}
