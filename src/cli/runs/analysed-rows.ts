import { csvField } from '../../core/base/csv-field.ts';
import { dirname } from 'node:path';

import { callNumber } from '../../core/base/call-number.ts';
import { isFlagged } from '../../core/facts/seen-pattern.ts';
import type { RunReport } from './run-report.ts';

/** A run as one flat row for CSV. Null means unknown. */
export interface AnalysedRow {
  readonly id: string;
  readonly source: string;
  readonly folder: string;
  readonly format: string;
  readonly model: string | null;
  readonly task: string | null;
  readonly calls: number;
  readonly turns: number;
  readonly errors: number;
  readonly duration_ms: number | null;
  readonly tokens: number | null;
  readonly cost_usd: number | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly success: boolean | null;
  readonly reward: number | null;
  readonly verdict: string;
  readonly stuck: boolean;
  /** Number (from 1) of the first call at which a stuck pattern was flagged. */
  readonly first_stuck_call: number | null;
  readonly first_stuck_pattern: string | null;
  readonly first_stuck_tool: string | null;
  readonly calls_after_flag: number | null;
  readonly cost_after_flag_usd: number | null;
}

export function analysedRow(report: RunReport): AnalysedRow {
  const { afterFlag, calls, durationMs, errors, format, id, modelId, outcome, source, task, turns, usage } = report;
  const stuck = report.patterns.filter((pattern) => pattern.stuck && isFlagged(pattern));
  const [first] = stuck.toSorted((a, b) => (a.flaggedAt ?? 0) - (b.flaggedAt ?? 0));
  return {
    id,
    source,
    folder: dirname(source),
    format,
    model: modelId ?? null,
    task: task ?? null,
    calls,
    turns,
    errors,
    duration_ms: durationMs ?? null,
    tokens: usage.tokens ?? null,
    cost_usd: usage.costUsd ?? null,
    outcome: outcome?.outcome ?? null,
    reason: outcome?.reason ?? null,
    success: outcome?.success ?? null,
    reward: outcome?.reward ?? null,
    verdict: report.verdict.verdict,
    stuck: first !== undefined,
    first_stuck_call: first?.flaggedAt === undefined || first.flaggedAt === null ? null : callNumber(first.flaggedAt),
    first_stuck_pattern: first?.kind ?? null,
    first_stuck_tool: first?.tool ?? null,
    calls_after_flag: afterFlag?.calls ?? null,
    cost_after_flag_usd: afterFlag?.costUsd ?? null,
  };
}

/** Formats rows as CSV (RFC 4180 with LF line ends), with a header row. An empty field means unknown. */
export function csvText(rows: readonly AnalysedRow[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  // A row has exactly the fields of its type.
  const names = Object.keys(first) as (keyof AnalysedRow)[];
  const lines = rows.map((row) => names.map((name) => cellOf(row[name])).join(','));
  return `${[names.join(','), ...lines].join('\n')}\n`;
}

function cellOf(value: AnalysedRow[keyof AnalysedRow]): string {
  const text = value === null ? '' : String(value);
  // Adds a quote, because a spreadsheet would interpret such a text as a formula.
  return csvField(typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
}
