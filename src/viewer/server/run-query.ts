import { isJsonObject, present, textsIn, type JsonObject } from '../../core/base/json.ts';
import { invalidArgument } from '../../core/base/error.ts';
import { ALERT_TIMES, alertOf, needOf } from '../../core/facts/run-alert.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { verdictOf } from '../../core/facts/run-verdict.ts';
import type { RunExtras, RunGroup } from './api-shapes.ts';

export type RunSort = (typeof SORTS)[number];

const SORTS = ['group', 'started', 'calls', 'errors', 'cost', 'wasted', 'lasted'] as const;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_TEXT_CHARS = 1_100;

export interface RunFilter {
  readonly source?: string;
  readonly q?: string;
  readonly project?: string;
  /** A group, `open`, `ended`, `success`, `failed`, `damaged`, or `unlabelled`: a flagged pattern has no label. */
  readonly status?: string;
  readonly model?: string;
  readonly agent?: string;
  readonly task?: string;
  /** A kind or name of a pattern, `stuck`, or `any`. */
  readonly pattern?: string;
  /** The run to compare with, as `SOURCE/RUN`, which is left out. */
  readonly compare?: string;
}

export interface RunsQuery {
  readonly filter: RunFilter;
  readonly sort: RunSort;
  /** Number of rows from 1 to 1,000. Default: 100. */
  readonly limit: number;
  readonly after?: string;
}

export function readRunsQuery(query: Readonly<Record<string, string>>): RunsQuery {
  const { after, limit = String(DEFAULT_LIMIT), sort = 'group' } = query;
  const knownSort = SORTS.find((name) => name === sort);
  if (knownSort === undefined) throw invalidArgument(`sort=${sort}: give ${SORTS.join(', ')}`);
  return {
    filter: textFilters(query),
    sort: knownSort,
    limit: parseWholeNumber('limit', limit, { from: 1, to: MAX_LIMIT }),
    ...(after === undefined || after === '' ? {} : { after }),
  };
}

export function parseWholeNumber(
  name: string,
  text: string,
  { from = 0, to = Number.MAX_SAFE_INTEGER }: { readonly from?: number; readonly to?: number } = {},
): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= from && number <= to) return number;
  throw invalidArgument(`${name}=${text.slice(0, 80)}: give a whole number from ${from}${to < 1e9 ? ` to ${to}` : ''}`);
}

export const TEXT_FILTERS = [
  'source',
  'q',
  'project',
  'model',
  'agent',
  'task',
  'pattern',
  'status',
  'compare',
] as const;

function textFilters(query: Readonly<Record<string, string>>): RunFilter {
  const filters: Partial<Record<(typeof TEXT_FILTERS)[number], string>> = {};
  for (const name of TEXT_FILTERS) {
    const text = query[name];
    if (text === undefined || text.trim() === '') continue;
    if (text.length > MAX_TEXT_CHARS)
      throw invalidArgument(`${name} has ${text.length} characters; at most ${MAX_TEXT_CHARS} are read`);
    filters[name] = text;
  }
  return filters;
}

/** Splits `SOURCE/RUN`; both parts are URI-encoded. Throws CoxswainError `invalid-argument` for invalid escapes. */
export function readRunKey(key: string): readonly [source: string, runId: string] {
  const slash = key.indexOf('/');
  try {
    return [decodeURIComponent(key.slice(0, slash)), decodeURIComponent(key.slice(slash + 1))];
  } catch {
    throw invalidArgument(`ids are SOURCE/RUN, each URI-encoded, got ${key.slice(0, 80)}`);
  }
}

/** A run without an outcome is live if its last record is at most this old. */
const LIVE_MS = 120_000;

export function isLive({ lastAtMs, outcome }: RunSummary, nowMs: number): boolean {
  return outcome === undefined && nowMs - lastAtMs < LIVE_MS;
}

/** Returns the extras of a run at this time: an open run without a process, or that has been silent for long, was cut off. */
export function extrasAt(
  run: RunSummary,
  extras: RunExtras | undefined,
  nowMs: number,
  isKilled = false,
): RunExtras | undefined {
  if (extras?.lastAct === undefined) return extras;
  const silentMs = run.lastAtMs === 0 ? undefined : nowMs - run.lastAtMs;
  const end = isKilled ? { outcome: 'aborted', reason: 'killed' } : undefined;
  return { ...extras, ...verdictOf(end, [], { ...extras.lastAct, ...present({ silentMs }) }) };
}

/** The group of a run in the list. A run whose source states its success needs no one, nor does a subagent: its session does. */
export function groupOf(run: RunSummary, extras: RunExtras | undefined, nowMs: number): RunGroup {
  if (run.success !== undefined) return 'done';
  const { lastAtMs } = run;
  if (extras === undefined) {
    if (run.outcome !== undefined) return 'done';
    return nowMs - lastAtMs < ALERT_TIMES.silentMs ? 'running' : 'needs';
  }
  const { asks = false, lastAct, stuckNow = false } = extras;
  const alert = lastAct && alertOf({ lastAct, lastAtMs, outcome: undefined }, { nowMs })?.kind;
  const need = needOf(extras, { alert, asks, isStuck: stuckNow });
  if (need !== undefined && run.parentRunId === undefined) return 'needs';
  return extras.verdict === 'open' ? 'running' : 'done';
}

/** Splits a search text into lower-case words. `"words in quotes"` count as one. A text matches if it contains each of the words. */
export function findWords(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(/"([^"]*)"?|[^\s"]+/g)]
    .map(([word, quoted]) => (quoted ?? word).trim())
    .filter((word) => word !== '');
}

/** Returns true if the texts of a payload, or the names of a call's arguments, contain each of the words. */
export function hasWords(payload: JsonObject, words: readonly string[]): boolean {
  const { args } = payload;
  const names = payload['kind'] === 'tool_started' && isJsonObject(args) ? Object.keys(args) : [];
  const text = [...textsIn({ ...payload, kind: null }), ...names].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
