import { present } from '../../base/present.ts';
import type { JsonObject } from '../../base/json.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { RunOutcome, RunVerdict } from '../../run-view/run-verdict.ts';
import type { RunUsage } from '../../run-view/run-view.ts';
import type { RunPatterns } from '../../run-view/seen-pattern.ts';
import type { CallPreview } from './call-previews.ts';
import type { StripText } from './run-strip.ts';

/** Something of a run that could not be read, or was repaired. */
export interface RunDiagnostic {
  readonly severity: 'error' | 'note';
  readonly message: string;
  /** 1-based, in the source. */
  readonly line?: number;
}

/** What the analysis of one run found. */
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
  /** What came after the first flag of a stuck pattern; absent for a run that did not get stuck. */
  readonly afterFlag?: { readonly calls: number; readonly costUsd?: number };
  readonly outcome?: RunOutcome;
  /** Whether it did what it was for, as far as its records say. */
  readonly verdict: RunVerdict;
  readonly patternBasis: RunPatterns['basis'];
  /** By coxswain, so that there may be patterns on record. */
  readonly steered: boolean;
  /** Cost of each pattern while it was open, by its identity, as far as it is known. */
  readonly patternCosts: ReadonlyMap<string, number>;
  /** By their first call; hints only where they were asked for. */
  readonly patterns: readonly TrajectoryPattern[];
  readonly diagnostics: readonly RunDiagnostic[];
  readonly strip: StripText;
  /** Evidence calls of the patterns, by call index, as far as they were kept. */
  readonly previews: ReadonlyMap<number, CallPreview>;
}

/** A report as `--json` prints it. */
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
