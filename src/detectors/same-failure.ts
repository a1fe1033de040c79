import type { Json } from '../base/json.ts';
import { LruMap } from '../base/lru-map.ts';
import type { PatternDetector } from '../trajectory/pattern-detector.ts';
import { gradeCount, withEvidence } from './level.ts';

/** Options of `sameFailureDetector`. */
export interface SameFailureOptions {
  /** Changes of the world after which one check still fails with the same words, at which it warns; default 4. */
  readonly warnAt?: number;
}

interface Entry {
  readonly failureKey: string;
  readonly epoch: number;
  readonly ordinal: number;
  readonly changes: number;
  readonly evidence: readonly number[];
  /** The last failures' keys, newest last; 6 at most. */
  readonly history: readonly string[];
  readonly historyEvidence: readonly number[];
}

/** Six alternating failures are three rounds of mending one thing and breaking another. */
const OSCILLATION = 6;

/** Calls without a time-out after which the next one is a new story. */
const MAX_BETWEEN_TIMEOUTS = 12;

/**
 * Edit, run, the same failure; edit, run, the same failure. Each change makes a repeat legitimate, four of them
 * without any movement of the message do not. Also two failures of one check that alternate through six runs
 * (`thrash`): each fix breaks what the last one mended. A check that passes begins anew. A time limit is one cause,
 * whatever job runs into it, until a job of that tool gets through.
 */
export function sameFailureDetector(options: SameFailureOptions = {}): PatternDetector {
  const { warnAt = 4 } = options;
  return {
    name: 'same_failure_after_edits',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const checks = new LruMap<Entry>(64, (snapshot ?? []) as unknown as [string, Entry][]);
      return {
        observe(step, context) {
          if (step.resultMissing) return undefined;
          const limit = `timeout:${step.tool}`;
          // A line that edits and then runs is another one each time.
          const ownCheck = step.editsAndRuns ? `edited:${step.tool}` : step.argsKey;
          if (step.failure === undefined) {
            checks.delete(ownCheck);
            if (step.kind === 'execute') checks.delete(limit);
            return undefined;
          }
          if (step.failure.category === 'silent') return undefined;
          const isLimit = step.failure.category === 'timeout';
          const check = isLimit ? limit : ownCheck;
          const failureKey = isLimit ? 'timeout' : step.failure.placelessKey;
          const known = checks.get(check);
          const isOld = isLimit && known !== undefined && context.ordinal - known.ordinal > MAX_BETWEEN_TIMEOUTS;
          const before = isOld ? undefined : known;
          if (before !== undefined && before.epoch === context.epoch) return undefined;
          const same = before !== undefined && before.failureKey === failureKey;
          const entry: Entry = {
            failureKey,
            epoch: context.epoch,
            ordinal: context.ordinal,
            changes: same ? before.changes + 1 : 0,
            evidence: withEvidence(same ? before.evidence : [], step.index),
            history: [...(before?.history ?? []).slice(1 - OSCILLATION), failureKey],
            historyEvidence: [...(before?.historyEvidence ?? []).slice(1 - OSCILLATION), step.index],
          };
          checks.set(check, entry);
          const shared = { key: check, stuck: true, tool: step.tool } as const;
          if (oscillates(entry.history)) {
            const occurrences = OSCILLATION / 2;
            return [
              {
                ...shared,
                kind: 'thrash',
                level: 'warn',
                confidence: 0.75,
                occurrences,
                evidence: entry.historyEvidence,
              },
            ];
          }
          const grade = gradeCount(entry.changes, warnAt);
          if (grade === undefined) return undefined;
          return [
            {
              ...shared,
              kind: 'same_failure_after_edits',
              ...grade,
              occurrences: entry.changes + 1,
              evidence: entry.evidence,
            },
          ];
        },
        snapshot: () => checks.entries() as unknown as Json,
      };
    },
  };
}

function oscillates(history: readonly string[]): boolean {
  if (history.length < OSCILLATION || history[0] === history[1]) return false;
  return history.every((key, at) => at < 2 || key === history[at - 2]);
}
