import type { PatternLevel, TrajectoryPattern } from '../../../core/records/trajectory-pattern.ts';
import type { PatternEvent } from '../../runs/live-event.ts';

interface Seen {
  readonly level: PatternLevel;
  readonly cleared: boolean;
}

/** Finds the pattern changes between two states of a live run. Ignores hints. */
export class PatternChanges {
  readonly #seen = new Map<string, Seen>();

  /** @param patterns  from `run.analysis.patterns()` */
  take(patterns: readonly TrajectoryPattern[]): readonly PatternEvent[] {
    return patterns.flatMap((pattern) => {
      const { identity, flaggedAt, level, clearedAt } = pattern;
      if (flaggedAt === null) return [];
      // A pattern that returns after it was cleared is flagged at a different call.
      const key = `${flaggedAt} ${identity}`;
      const seenBefore = this.#seen.get(key);
      const isCleared = clearedAt !== undefined;
      if (seenBefore?.level === level && seenBefore.cleared === isCleared) return [];
      this.#seen.set(key, { level, cleared: isCleared });
      const change = isCleared ? 'cleared' : seenBefore === undefined ? 'flagged' : 'raised';
      return [{ type: 'pattern', change, pattern }];
    });
  }
}
