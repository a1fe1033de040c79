import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { Sighting } from '../patterns/pattern-detector.ts';

export interface Grade {
  readonly level: PatternLevel;
  readonly confidence: number;
}

/** `hint` one below the threshold, `warn` at it, `strong` at twice it, else undefined. Confidence: 0.5, 0.75, at most 0.99. */
export function gradeCount(count: number, warnAt: number): Grade | undefined {
  if (count < warnAt - 1) return undefined;
  if (count < warnAt) return { level: 'hint', confidence: 0.5 };
  const level = count >= 2 * warnAt ? 'strong' : 'warn';
  const confidence = Math.min(0.99, 1 - 0.25 * (warnAt / count));
  return { level, confidence: Math.round(confidence * 100) / 100 };
}

export function moreConfident<View extends { readonly confidence: number }>(
  left: View | undefined,
  right: View | undefined,
): View | undefined {
  return left === undefined || (right !== undefined && right.confidence > left.confidence) ? right : left;
}

type Counted = Pick<Sighting, 'kind' | 'key' | 'tool' | 'evidence'> & Partial<Pick<Sighting, 'stuck' | 'occurrences'>>;

/** Reports a pattern, stuck unless it says otherwise, that was seen `count` times; one below `warnAt` as a hint. */
export function reportCount(pattern: Counted, count: number, warnAt: number): readonly Sighting[] | undefined {
  const grade = gradeCount(count, warnAt);
  return grade && [{ stuck: true, occurrences: count, ...grade, ...pattern }];
}

/** The same without hints. */
export function reportFlag(pattern: Counted, count: number, warnAt: number): readonly Sighting[] | undefined {
  return count < warnAt ? undefined : reportCount(pattern, count, warnAt);
}

/** Says that a pattern has ended: see `Sighting.over`. */
export function endSighting(kind: string, key: string): Sighting {
  return { kind, key, stuck: true, level: 'hint', confidence: 0, occurrences: 0, evidence: [], over: true };
}

/** Empty lists of states. */
export const NO_CALLS: readonly number[] = [];
export const NO_KEYS: readonly string[] = [];

/** Appends a call to the evidence; keeps the last 32. */
export function appendEvidence(evidence: readonly number[], index: number): readonly number[] {
  return [...evidence.slice(-31), index];
}
