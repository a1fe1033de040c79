import { UsageFold } from '../../../core/facts/usage-fold.ts';
import { allTokens, hasNoPrice } from '../../../core/facts/usage-text.ts';
import { pressureOf, withWork, type RecentWork } from '../../../core/facts/run-pressure.ts';
import { contextAfter, type ContextSize } from '../../../core/facts/context-tokens.ts';
import { seriousness } from '../../../core/facts/seen-pattern.ts';
import type { TrajectoryPattern } from '../../../core/records/trajectory-pattern.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { RunSummary } from '../../../core/facts/run-summary.ts';
import { HEAD_RECORDS, TAIL_RECORDS } from '../../../stores/sqlite/sqlite-search.ts';
import { inWords } from '../../../core/records/words.ts';
import { countOf, countText, durationText, periodText, shareText, usdText } from '../../../core/base/number-text.ts';
import { printableCut } from '../../../core/base/printable.ts';

/** The status of a run, as `coxswain status --json` prints it. */
export interface RunStatus {
  readonly runId: string;
  readonly task: string | null;
  /** The agent program whose hooks report the run; null if no hooks report it. */
  readonly host: string | null;
  readonly calls: number;
  readonly errors: number;
  readonly turns: number;
  /** The most severe open pattern; null without an open pattern. */
  readonly pattern: Pick<TrajectoryPattern, 'kind' | 'level' | 'occurrences' | 'stuck'> | null;
  /** Deadline in Unix milliseconds; null without a deadline. */
  readonly deadlineAtMs: number | null;
  /** Remaining time in milliseconds. Negative after the deadline. */
  readonly leftMs: number | null;
  /** Cost in US dollars. Null if no answer has tokens, if a price is unknown, or if the run has more records than were read. */
  readonly costUsd: number | null;
  /** All tokens, also those from the cache, as the report counts them. Null as `costUsd`. */
  readonly tokens: number | null;
  /** Tokens that the model read for its last answer: the size of the context. Null if no answer has tokens. */
  readonly contextTokens: number | null;
  /** Share of the model's window that the context fills, from 0 to 1. Null if the window or the context is unknown. */
  readonly contextShare: number | null;
  /** What it spends faster than sessions do, such as `has spent $16.20 in 10 minutes`; null if nothing. Without its subagents. */
  readonly runaway: string | null;
  readonly outcome: string | null;
  readonly lastAtMs: number;
  /** Time since the last record in milliseconds: a call takes so long, the session waits, or its process has ended. */
  readonly silentMs: number;
  /** Number of hook events waiting in spill files, which are not counted above. Absent without such events. */
  readonly waitingEvents?: number;
}

/** @param records  the records from the start and the end of the run are sufficient */
export function runStatus(summary: RunSummary, records: Iterable<TrajectoryRecord>, nowMs: number): RunStatus {
  const open = new Map<string, TrajectoryPattern>();
  let deadlineAtMs: number | null = null;
  let host: string | null = null;
  const usage = new UsageFold();
  let context: ContextSize | undefined;
  let recent: readonly RecentWork[] = [];
  const isWhole = summary.lastSeq <= HEAD_RECORDS + TAIL_RECORDS;
  for (const { payload, recorded_at_unix_ms: atMs } of records) {
    context = contextAfter(context, payload, summary.modelId);
    if (payload.kind === 'run_started') {
      deadlineAtMs = payload.steering?.deadline_at_unix_ms ?? null;
      host = payload.host ?? null;
    } else if (payload.kind === 'deadline_set') deadlineAtMs = payload.deadline_at_unix_ms ?? null;
    else if (payload.kind === 'pattern_flagged') open.set(payload.pattern.identity, payload.pattern);
    else if (payload.kind === 'pattern_cleared') open.delete(payload.pattern.identity);
    const cost = usage.fold(payload, { ...summary, host: host ?? undefined });
    if (cost !== undefined && atMs > 0) recent = withWork(recent, { atMs, costUsd: cost, children: 0 });
  }
  const spent = isWhole ? usage.usage : {};
  const { calls, errors, lastAtMs, outcome = null, runId, task = null, turns } = summary;
  const worstPattern = [...open.values()].toSorted((a, b) => seriousness(b) - seriousness(a))[0];
  const pattern = worstPattern && {
    kind: worstPattern.kind,
    level: worstPattern.level,
    occurrences: worstPattern.occurrences,
    stuck: worstPattern.stuck,
  };
  const leftMs = deadlineAtMs === null || outcome !== null ? null : deadlineAtMs - nowMs;
  return {
    runId,
    task,
    host,
    calls,
    errors,
    turns,
    pattern: outcome === null ? (pattern ?? null) : null,
    deadlineAtMs,
    leftMs,
    costUsd: hasNoPrice(spent) ? null : (spent.costUsd ?? null),
    tokens: allTokens(spent) ?? null,
    contextTokens: context?.tokens ?? null,
    contextShare: context?.share ?? null,
    runaway: (outcome === null ? pressureOf(undefined, recent, lastAtMs) : [])[0]?.text ?? null,
    outcome,
    lastAtMs,
    silentMs: Math.max(0, nowMs - lastAtMs),
  };
}

/** From then on, the silence of a run is named. */
const SILENT_MS = 120_000;

/** `cox 39 calls, 16 errors, stuck for sure: the same call with the same result, 12 minutes left` */
export function statusText(status: RunStatus | undefined): string {
  if (status === undefined) return 'cox: no run';
  const {
    calls,
    contextTokens,
    costUsd,
    errors,
    leftMs,
    outcome,
    pattern,
    runaway,
    silentMs,
    tokens,
    waitingEvents = 0,
  } = status;
  const facts = [
    countOf(calls, 'call'),
    ...(errors > 0 ? [countOf(errors, 'error')] : []),
    ...(pattern === null ? [] : [patternText(pattern)]),
    ...(tokens === null ? [] : [countOf(tokens, 'token')]),
    ...(costUsd === null ? [] : [usdText(costUsd)]),
    ...(contextTokens === null ? [] : [`context ${contextText(status)}`]),
    ...(runaway === null ? [] : [runaway.replace(/^has /, '')]),
    ...(leftMs === null ? [] : [leftText(leftMs)]),
    ...(outcome !== null || silentMs < SILENT_MS ? [] : [`no record for ${periodText(silentMs)}`]),
    ...(outcome === null ? [] : [printableCut(inWords('outcome', outcome), 40)]),
    ...(waitingEvents === 0 ? [] : [`${countOf(waitingEvents, 'event')} waiting`]),
  ];
  return `cox ${facts.join(', ')}`;
}

/** Fills in `{calls}`, `{cost}` and so on. Unknown names are unchanged. Returns an empty text without a run. */
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
