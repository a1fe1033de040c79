import { present } from '../base/present.ts';
import { LruMap } from '../base/lru-map.ts';
import type { PatternCleared, PatternFlagged } from '../records/trajectory-record.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import type { SeenPattern } from './seen-pattern.ts';

const MAX_PATTERNS = 500;

/** Combines the records of each pattern of a run. Keeps the 500 patterns with the most recent records. */
export class RecordedPatterns {
  readonly #seenPatterns = new LruMap<SeenPattern>(MAX_PATTERNS);
  #leftOut = 0;

  get leftOut(): number {
    return this.#leftOut;
  }

  take({ kind, pattern }: PatternFlagged | PatternCleared, seq: number): void {
    // A pattern that occurs again has a different first call.
    const key = `${pattern.identity}\n${pattern.firstSeen}`;
    const seenBefore = this.#seenPatterns.get(key);
    if (seenBefore === undefined && this.#seenPatterns.size === MAX_PATTERNS) this.#leftOut += 1;
    const flaggedSeq = seenBefore?.flaggedSeq ?? (kind === 'pattern_flagged' ? seq : undefined);
    this.#seenPatterns.set(key, {
      pattern,
      ...present({ flaggedSeq }),
      ...(kind === 'pattern_cleared' ? { clearedSeq: seq } : {}),
    });
  }

  /** Returns the patterns in the order of their first call. */
  all(): readonly SeenPattern[] {
    const patterns = this.#seenPatterns.entries().map(([, pattern]) => pattern);
    return patterns.toSorted((a, b) => a.pattern.firstSeen - b.pattern.firstSeen);
  }

  find(identity: string): TrajectoryPattern | undefined {
    return this.#seenPatterns.entries().findLast(([, seen]) => seen.pattern.identity === identity)?.[1].pattern;
  }
}
