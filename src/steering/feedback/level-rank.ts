import type { PatternLevel } from '../../records/trajectory-pattern.ts';

const RANK: Readonly<Record<PatternLevel, number>> = { hint: 0, warn: 1, strong: 2 };

/** A level as a number that grows with it. */
export function levelRank(level: PatternLevel): number {
  return RANK[level];
}
