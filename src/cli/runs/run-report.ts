import { present } from '../../base/present.ts';
import type { JsonObject } from '../../base/json.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { RunOutcome, RunVerdict } from '../../run-view/run-verdict.ts';
import type { RunUsage } from '../../run-view/run-view.ts';
import type { RunPatterns } from '../../run-view/seen-pattern.ts';
import type { CallPreview } from './call-previews.ts';
import type { StripText } from './run-strip.ts';

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
