import { paragraphsOf } from '../calls/prose.ts';
import { similarity } from '../calls/similarity.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, gradeCount } from './level.ts';

/** Options of `repeatedTextDetector`. */
export interface RepeatedTextOptions {
  /** Equal paragraphs at which it warns; default 3. */
  readonly warnAt?: number;
}

interface Seen {
  readonly key: string;
  readonly shingles: readonly number[];
  readonly count: number;
  /** Number of the last text that had it. */
  readonly text: number;
  readonly evidence: readonly number[];
}

interface State {
  readonly seen: readonly Seen[];
  readonly texts: number;
  readonly userMessages: number;
}

const EMPTY: State = { seen: [], texts: 0, userMessages: 0 };
const MAX_SEEN = 48;
/** Texts after which a paragraph may come again. */
const MAX_BETWEEN = 4;
const MIN_LIKENESS = 0.75;

/**
 * The agent writes the same paragraph or plan again and again, in its answers or its visible thinking. Paragraphs are compared by sequences of
 * words, without numbers.
 *
 * Warns at:
 * - 3 paragraphs of 20 words or more that are nearly equal (`warnAt`), with at most 4 other texts in between.
 * - No hint.
 *
 * Resets on:
 * - A message of the user.
 *
 * Ignores:
 * - Lists, tables, headings, quotations and code.
 */
export const repeatedTextDetector: DetectorFactory<RepeatedTextOptions> = defineDetector<RepeatedTextOptions, State>(
  'repeated_text',
  { warnAt: countShape(3) },
  ({ warnAt }, snapshot = EMPTY) => {
    let state = snapshot;
    return {
      observe: () => undefined,
      read(text, { callIndex, userMessages }) {
        const texts = state.texts + 1;
        let seen = state.userMessages === userMessages ? state.seen : [];
        let most: Seen | undefined;
        for (const { key, shingles } of paragraphsOf(text)) {
          const previous = seen.find(
            (other) => texts - other.text <= MAX_BETWEEN + 1 && similarity(other.shingles, shingles) >= MIN_LIKENESS,
          );
          const now: Seen = {
            key: previous?.key ?? key,
            shingles,
            count: (previous?.count ?? 0) + 1,
            text: texts,
            evidence: appendEvidence(previous?.evidence ?? [], callIndex),
          };
          seen = [...seen.filter((other) => other !== previous).slice(1 - MAX_SEEN), now];
          if (now.count >= (most?.count ?? warnAt)) most = now;
        }
        state = { seen, texts, userMessages };
        const grade = most && gradeCount(most.count, warnAt);
        if (most === undefined || grade === undefined) return undefined;
        const { key, count: occurrences, evidence } = most;
        return [{ kind: 'repeated_text', key, stuck: true, ...grade, occurrences, evidence: [...new Set(evidence)] }];
      },
      snapshot: () => state,
    };
  },
);
