import { isAscii } from '../../base/is-ascii.ts';
import type { Json } from '../../base/json.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import { wordToken } from '../../calls/tokens.ts';
import { withEvidence } from './level.ts';
import { share, whole } from '../../base/shape.ts';
import { defineDetector, type DetectorDefinition } from './define-detector.ts';

/** Options of `driftDetector`. */
export interface DriftOptions {
  /** Calls looked back; default 20. */
  readonly windowSize?: number;
  /** Share of calls that still touch the task's words, at or under which it warns; default 0. */
  readonly maxRelated?: number;
}

interface State {
  /** The task's words as tokens, ascending. */
  readonly words: readonly number[];
  /** 1 for a call that touches the task, 0 for another; newest last. */
  readonly window: readonly number[];
  readonly related: number;
  readonly evidence: readonly number[];
}

const MIN_WORD_CHARS = 4;
const MAX_WORDS = 256;
/** So many calls must have touched the task before: else its words say nothing about its files. */
const MIN_RELATED_BEFORE = 5;

/** Words of any task text that say nothing about this one. */
const COMMON = new Set(
  'that this with from have will would should could when what where which there their them then than into your make made does must also only some such each other need want please using used file files code test tests task write read create change update project following issue repository problem function'.split(
    ' ',
  ),
);

/**
 * The work has left the subject: the calls' words once shared some with the task's text (names, paths, subjects),
 * and for twenty calls none does. Not being stuck, so it never says so. Silent without a task text.
 *
 * Warns at:
 * - 20 calls (`windowSize`) of which a share of 0 (`maxRelated`) touches the task's words, after at least five calls that did.
 * - Always at `warn`, confidence 0.6.
 */
export function driftDetector(options: DriftOptions = {}): PatternDetector {
  const { windowSize = 20, maxRelated = 0 } = options;
  return {
    name: 'drift',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      let state = (snapshot ?? undefined) as unknown as State | undefined;
      let words = new Set(state?.words);
      return {
        observe(step, context) {
          if (context.task === undefined || step.transparent || step.tokens.length === 0) return undefined;
          if (state === undefined) {
            words = taskWords(context.task);
            state = { words: [...words], window: [], related: 0, evidence: [] };
          }
          const related = step.tokens.some((token) => words.has(token)) ? 1 : 0;
          const window = [...state.window.slice(1 - windowSize), related];
          state = {
            words: state.words,
            window,
            related: state.related + related,
            evidence: related === 1 ? [] : withEvidence(state.evidence, step.index),
          };
          const touching = window.reduce((sum, value) => sum + value, 0);
          const far = window.length >= windowSize && touching <= maxRelated * windowSize;
          if (!far || state.related < MIN_RELATED_BEFORE) return undefined;
          return [
            {
              kind: 'drift',
              key: 'task',
              stuck: false,
              level: 'warn',
              confidence: 0.6,
              occurrences: state.evidence.length,
              evidence: state.evidence,
            },
          ];
        },
        snapshot: () => (state ?? null) as unknown as Json,
      };
    },
  };
}

function taskWords(task: string): Set<number> {
  const words = new Set<number>();
  // The classes of Unicode take a short-lived process a millisecond to compile.
  for (const word of task.match(isAscii(task) ? /\w+/g : /[\p{L}\p{N}_]+/gu) ?? []) {
    if (word.length < MIN_WORD_CHARS || COMMON.has(word.toLowerCase())) continue;
    words.add(wordToken(word));
    if (words.size === MAX_WORDS) break;
  }
  return words;
}

export const drift: DetectorDefinition<DriftOptions> = defineDetector<DriftOptions>(
  { windowSize: whole(2, 200, 20), maxRelated: share(0) },
  driftDetector,
);
