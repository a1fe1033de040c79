import { wordSet } from '../../base/word-set.ts';
import { share, whole } from '../../base/shape.ts';
import { wordToken } from '../calls/tokens.ts';
import { defineDetector, type DetectorFactory } from './define-detector.ts';
import { appendEvidence } from './level.ts';

interface State {
  readonly words: readonly number[];
  readonly window: readonly number[];
  readonly related: number;
  readonly evidence: readonly number[];
}

const MIN_WORD_CHARS = 4;
const MAX_WORDS = 256;
/** Related calls needed before: without them the task's words say nothing about its files. */
const MIN_RELATED_BEFORE = 5;

/** Words of any task text. */
const COMMON_WORDS = wordSet(
  `that this with from have will would should could when what where which there then than into your make must also only each other
   need please using file files code test tests task write read create change update project issue repository problem function`,
);

/**
 * The calls no longer relate to the task: earlier calls contained words of the task's text (names, paths, subjects), and the last
 * twenty contain none. Never flagged without a task text, or once the user has written again: the task is then no longer the
 * first text.
 *
 * Hints at:
 * - 20 calls (`windowSize`) of which a share of 0 (`maxRelated`) contains words of the task, after at least five calls that did.
 * - Always at `hint`, confidence 0.5: words are not meaning, and each hit in recorded sessions was work on the task.
 */
export const driftDetector: DetectorFactory<'windowSize' | 'maxRelated'> = defineDetector(
  'drift',
  { windowSize: whole(2, 200, 20), maxRelated: share(0) },
  ({ windowSize, maxRelated }, snapshot: State | null = null) => {
    let state = snapshot;
    let words = new Set(state?.words);
    return {
      observe(step, { task, userMessages }) {
        if (task === undefined || userMessages > 1 || step.tokens.length === 0) return undefined;
        // The agent's own task list says nothing about the subject of its work.
        if (step.transparent || step.kind === 'poll') return undefined;
        if (state === null) words = taskWords(task);
        const isRelated = step.tokens.some((token) => words.has(token));
        state = {
          words: state?.words ?? [...words],
          window: [...(state?.window ?? []).slice(1 - windowSize), isRelated ? 1 : 0],
          related: (state?.related ?? 0) + (isRelated ? 1 : 0),
          evidence: isRelated ? [] : appendEvidence(state?.evidence ?? [], step.index),
        };
        const { window, related, evidence } = state;
        const relatedCount = window.filter((value) => value === 1).length;
        const hasDrifted = window.length >= windowSize && relatedCount <= maxRelated * windowSize;
        if (!hasDrifted || related < MIN_RELATED_BEFORE) return undefined;
        const occurrences = evidence.length;
        return [{ kind: 'drift', key: 'task', stuck: false, level: 'hint', confidence: 0.5, occurrences, evidence }];
      },
      snapshot: () => state,
    };
  },
);

function taskWords(task: string): Set<number> {
  const words = new Set<number>();
  for (const word of task.match(/[\w\x80-\uffff]+/g) ?? []) {
    if (word.length < MIN_WORD_CHARS || COMMON_WORDS.has(word.toLowerCase())) continue;
    words.add(wordToken(word));
    if (words.size === MAX_WORDS) break;
  }
  return words;
}
