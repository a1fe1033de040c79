import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { Sighting } from '../pattern-detector.ts';

/** Where a count stands against its threshold. */
export interface Grade {
  readonly level: PatternLevel;
  readonly confidence: number;
}

/**
 * Grades a count: `hint` one below the threshold, `warn` at it, `strong` at twice it; undefined further below.
 * Confidence rises from 0.5 over 0.75 to at most 0.99.
 */
export function gradeCount(count: number, warnAt: number): Grade | undefined {
  if (count < warnAt - 1) return undefined;
  if (count < warnAt) return { level: 'hint', confidence: 0.5 };
  const level = count >= 2 * warnAt ? 'strong' : 'warn';
  const confidence = Math.min(0.99, 1 - 0.25 * (warnAt / count));
  return { level, confidence: Math.round(confidence * 100) / 100 };
}

/** What is surer of two views of one thing; the first where they are equally sure. */
export function surer<View extends { readonly confidence: number }>(
  one: View | undefined,
  other: View | undefined,
): View | undefined {
  return one === undefined || (other !== undefined && other.confidence > one.confidence) ? other : one;
}

/** Says that a pattern is over: see `Sighting.over`. */
export function overSighting(kind: string, key: string): Sighting {
  return { kind, key, stuck: true, level: 'hint', confidence: 0, occurrences: 0, evidence: [], over: true };
}

/** Adds a call to a list of evidence, keeping the last 32. */
export function withEvidence(evidence: readonly number[], index: number): readonly number[] {
  return evidence.length < 32 ? [...evidence, index] : [...evidence.slice(-31), index];
}
