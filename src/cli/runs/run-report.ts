import { present } from '../../base/present.ts';
import type { JsonObject } from '../../base/json.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { RunOutcome, RunVerdict } from '../../run-view/run-verdict.ts';
import type { RunUsage } from '../../run-view/run-view.ts';
import type { RunPatterns } from '../../run-view/seen-pattern.ts';
import type { CallPreview } from './call-previews.ts';
import type { StripText } from './run-strip.ts';

/** A part of a run that could not be read, or was repaired. */
export interface RunDiagnostic {
  readonly severity: 'error' | 'note';
  readonly message: string;
  /** Of the source, from 1. */
  readonly line?: number;
}

/** The analysis of one run. */
export interface RunReport {
  readonly id: string;
  readonly source: string;
  readonly format: string;
  readonly task?: string;
  readonly calls: number;
  readonly turns: number;
  readonly errors: number;
  readonly durationMs?: number;
  readonly usage: RunUsage;
  readonly modelId?: string;
  /** Calls and cost after the first flag of a stuck pattern; absent if the run did not get stuck. */
  readonly afterFlag?: { readonly calls: number; readonly costUsd?: number };
  readonly outcome?: RunOutcome;
  readonly verdict: RunVerdict;
  readonly patternBasis: RunPatterns['basis'];
  /** Steered by coxswain, so patterns may be recorded. */
  readonly steered: boolean;
  /** Cost while a pattern was open, by its identity, if known. */
  readonly patternCosts: ReadonlyMap<string, number>;
  /** By first call; hints only on request. */
  readonly patterns: readonly TrajectoryPattern[];
  readonly diagnostics: readonly RunDiagnostic[];
  readonly strip: StripText;
  /** Evidence calls of the patterns, by call index, if kept. */
  readonly previews: ReadonlyMap<number, CallPreview>;
}

/** A report for `--json`. */
export function reportJson(report: RunReport): JsonObject {
  const { id, source, format, calls, turns, errors, durationMs, outcome } = report;
  return {
    id,
    source,
    format,
    calls,
    turns,
    errors,
    ...present({ durationMs }),
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
