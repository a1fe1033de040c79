import { present } from '../../core/base/present.ts';
import type { JsonObject } from '../../core/base/json.ts';
import type { StretchCounts } from '../../core/base/stretch-counts.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { RunOutcome, RunVerdict } from '../../core/facts/run-verdict.ts';
import type { RunUsage } from '../../core/facts/run-view.ts';
import type { RunPatterns } from '../../core/facts/seen-pattern.ts';
import type { CallPreview } from './call-previews.ts';

/** A part of a run that could not be read or was repaired. */
export interface RunDiagnostic {
  readonly severity: 'error' | 'note';
  readonly message: string;
  /** Line number in the source, from 1. */
  readonly line?: number;
}

export interface RunReport {
  readonly id: string;
  readonly source: string;
  readonly format: string;
  readonly task?: string;
  readonly calls: number;
  readonly turns: number;
  /** Number of failed calls, without refused and cancelled ones. */
  readonly errors: number;
  /** Number of calls that a person or a policy refused. Absent if none. */
  readonly refused?: number;
  /** Number of records that gap records replace. Absent if none. */
  readonly lostRecords?: number;
  readonly durationMs?: number;
  readonly usage: RunUsage;
  readonly modelId?: string;
  /** Calls and cost after the first stuck pattern was flagged. Absent if the run did not get stuck. */
  readonly afterFlag?: { readonly calls: number; readonly costUsd?: number };
  readonly outcome?: RunOutcome;
  readonly verdict: RunVerdict;
  readonly patternBasis: RunPatterns['basis'];
  /** True if coxswain steered the run, so that patterns may be recorded. */
  readonly steered: boolean;
  /** Cost while a pattern was open, by pattern identity. Patterns with unknown cost are absent. */
  readonly patternCosts: ReadonlyMap<string, number>;
  /** Patterns ordered by their first call. Hints are only included on request. */
  readonly patterns: readonly TrajectoryPattern[];
  readonly diagnostics: readonly RunDiagnostic[];
  readonly strip: StripText;
  /** Previews of evidence calls by call index, as far as they were kept. */
  readonly previews: ReadonlyMap<number, CallPreview>;
}

export function reportJson(report: RunReport): JsonObject {
  const { id, source, format, calls, turns, errors, durationMs, lostRecords, outcome, refused } = report;
  return {
    id,
    source,
    format,
    calls,
    turns,
    errors,
    ...present({ refused, lostRecords, durationMs }),
    ...report.usage,
    ...(outcome === undefined ? {} : { outcome: { ...outcome } }),
    verdict: { ...report.verdict },
    patternBasis: report.patternBasis,
    patterns: report.patterns.map((pattern) => ({
      ...patternJson(pattern),
      ...present({ costUsd: report.patternCosts.get(pattern.identity) }),
    })),
    diagnostics: report.diagnostics.map((diagnostic) => ({ ...diagnostic })),
  };
}

function patternJson(pattern: TrajectoryPattern): JsonObject {
  const { kind, stuck, level, confidence, flaggedAt, firstSeen, occurrences, clearedAt, tool, evidence } = pattern;
  return {
    kind,
    stuck,
    level,
    confidence,
    flaggedAt,
    firstSeen,
    occurrences,
    ...present({ clearedAt, tool }),
    evidence,
  };
}

/** A one-line overview of a run, and the mapping from call indices to columns. */
export interface StripText {
  /** One character per column: `·` for no failed call, `▪` for some failed calls, `×` if all calls failed. */
  readonly cells: string;
  readonly callsPerColumn: number;
}

/** Returns the strip of a run. A column represents 1, 2, 4, 8 … calls. */
export function stripOf(failures: StretchCounts): StripText {
  const { length, perStretch: callsPerColumn } = failures;
  const cells = failures.counts().map((count, column) => {
    const calls = Math.min(callsPerColumn, length - column * callsPerColumn);
    return count === 0 ? '·' : count < calls ? '▪' : '×';
  });
  return { cells: cells.join(''), callsPerColumn };
}

/** Returns the evidence calls to show for a pattern: the first call, the call that flagged the pattern, and the last call. */
export function shownEvidence({ evidence, flaggedAt }: TrajectoryPattern): readonly number[] {
  const shown = new Set([...evidence.slice(0, 1), ...evidence.slice(-1)]);
  if (flaggedAt !== null) shown.add(flaggedAt);
  return [...shown].sort((a, b) => a - b);
}
