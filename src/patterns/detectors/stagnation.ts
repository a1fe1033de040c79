import type { Json } from '../../base/json.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import type { Step } from '../step.ts';
import { wordToken } from '../../calls/tokens.ts';
import { gradeCount, withEvidence } from './level.ts';
import { whole } from '../../base/shape.ts';
import { defineDetector, MAX_REMEMBERED, type DetectorDefinition } from './define-detector.ts';

/** Options of `stagnationDetector`. */
export interface StagnationOptions {
  /** Different questions with one answer at which it warns; default 6. */
  readonly warnAt?: number;
  /** The same for an answer that says little (under 10 characters), unless it is the nothing of a search; default 10. */
  readonly shortWarnAt?: number;
}

interface State {
  readonly tool: string;
  readonly resultKey: string;
  readonly asked: readonly string[];
  readonly turn: number;
  readonly evidence: readonly number[];
  /** Words that all questions share, and all words so far, as tokens. */
  readonly common: readonly number[];
  readonly met: readonly number[];
  /** Every question named something new in an otherwise equal sentence. */
  readonly lists: boolean;
  /** Every question held all the words of the first one: the same question with more to it. */
  readonly adds: boolean;
  /** Nothing but numbers or a name differs: addresses, dates, pages or domains that are gone through. */
  readonly walks: boolean;
  readonly frameKey: number;
  /** Files that the questions named, as tokens; null when one named none, or one a second time. */
  readonly files: readonly number[] | null;
  /** Something was done on the screen since the last answer. */
  readonly acted: boolean;
  /** Messages of the user so far: who is told something may ask again. */
  readonly userMessages: number;
}

const EMPTY: State = {
  tool: '',
  resultKey: '',
  asked: [],
  turn: -1,
  evidence: [],
  common: [],
  met: [],
  lists: true,
  adds: true,
  walks: true,
  frameKey: 0,
  files: null,
  acted: false,
  userMessages: 0,
};
const SHORT_CHARS = 10;
/** Where the questions go through a list and each finds none, zero or no: longer than the lists of the labelled cases. */
const LIST_WARN_AT = 20;
/** Longest answer that states a fact about the number that was asked for; a page that stays the same is longer. */
const STATEMENT_CHARS = 80;
const SCREEN = 'screen';
const MAX_ASKED = 32;
const MAX_MET = 160;
/** A sentence in which one thing is changed has some words around it, and that thing has few. */
const MIN_COMMON = 3;
const MAX_OWN = 6;

/**
 * Other words, same answer: one tool asked different things in a row and always answering the same, or orders that come
 * to nothing, or a screen that shows the same whatever is clicked. An answer that merely acknowledges (`ok`, `deleted`)
 * says nothing and never counts; a very short one counts later. Going through a list (the same question about one
 * column, date or key after the other) and finding nothing, or going through files that hold the same, is work, and counts
 * much later.
 *
 * Warns at:
 * - 6 equal answers (`warnAt`) to different questions to one tool, also by code that prints what was printed before.
 * - 6 orders that come to nothing ("Nothing happens."), actions after which a screen shows the same, or writes to one thing
 *   that change nothing.
 * - 10 for an answer under 10 characters (`shortWarnAt`). Exceptions: each question is the first one with more to it, or a look
 *   finds nothing at all (no text, an empty list, an object with no more in it).
 * - 20 where the questions go through a list (each names something new in an otherwise equal sentence) and each finds none,
 *   zero or no, another file with the same content, or a fact of at most 80 characters about the next number, address, day,
 *   name or page.
 *
 * Begins anew at:
 * - An answer that differs.
 * - Another tool, except for one question between.
 * - A failure, a change, a program that runs, or a message of the user.
 *
 * Does not count:
 * - Answers such as `ok` and `deleted`, which also end it, except for actions on a screen.
 */
export function stagnationDetector(options: StagnationOptions = {}): PatternDetector {
  const { warnAt = 6, shortWarnAt = 10 } = options;
  return {
    name: 'stagnation',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const kept = snapshot as unknown as { readonly state: State; readonly aside: State } | undefined;
      let state = kept?.state ?? EMPTY;
      /** What was asked before one other question came between. */
      let aside = kept?.aside ?? EMPTY;
      return {
        observe(step, context) {
          if (step.transparent || step.resultMissing) return undefined;
          if (step.kind === 'ui' && step.acknowledged) {
            if (!state.acted && state.tool !== '') state = { ...state, acted: true };
            return undefined;
          }
          // A line of code that prints what was printed before is one more way to ask.
          const asksByCode =
            step.kind === 'execute' && step.failure === undefined && step.resultKey === state.resultKey;
          if (!informs(step) && !asksByCode) {
            if (state.tool !== '') [state, aside] = [EMPTY, EMPTY];
            return undefined;
          }
          const tool = subjectOf(step);
          if (state.tool !== tool) {
            const isOne = state.asked.length === 1;
            if (isOne && aside.tool === tool && aside.resultKey === step.resultKey) [state, aside] = [aside, EMPTY];
            else aside = isOne ? EMPTY : state;
          }
          const spoke = state.userMessages !== context.userMessages;
          const same = !spoke && state.tool === tool && state.resultKey === step.resultKey;
          if (same && state.turn === step.turn) return undefined;
          if (same && !state.acted && state.asked.includes(step.argsKey)) return undefined;
          state = same ? furtherAsked(state, step) : firstAsked(tool, step, context.userMessages);
          const grade = gradeCount(state.asked.length, neededOf(step));
          if (grade === undefined) return undefined;
          return [
            {
              kind: 'stagnation',
              key: `${step.tool}:${step.resultKey}`,
              stuck: true,
              ...grade,
              occurrences: state.asked.length,
              tool: step.tool,
              evidence: state.evidence,
            },
          ];
        },
        snapshot: () => ({ state, aside }) as unknown as Json,
      };
      function neededOf(step: Step): number {
        // Who looks for one word after the other in one place and is shown nothing goes through no list.
        const isSilent = step.empty && step.kind === 'read';
        const finds = step.negative && !isSilent && !step.ineffective && step.kind !== 'write';
        const goesOn = step.pages || (state.walks && !state.adds);
        const states = goesOn && step.kind !== 'write' && step.resultChars <= STATEMENT_CHARS;
        const lists = state.lists && !state.adds && (finds || state.files !== null);
        if (lists || states) return Math.max(LIST_WARN_AT, shortWarnAt);
        return step.resultChars < SHORT_CHARS && !isSilent && !state.adds ? shortWarnAt : warnAt;
      }
    },
  };
}

function firstAsked(tool: string, step: Step, userMessages: number): State {
  return {
    tool,
    resultKey: step.resultKey,
    asked: [step.argsKey],
    turn: step.turn,
    evidence: [step.index],
    common: step.tokens,
    met: step.tokens,
    lists: true,
    adds: true,
    walks: !isPage(step),
    frameKey: step.frameKey,
    files: furtherFiles([], step),
    acted: false,
    userMessages,
  };
}

function furtherAsked(state: State, step: Step): State {
  const common = state.common.filter((token) => step.tokens.includes(token));
  const own = step.tokens.filter((token) => !common.includes(token));
  const isShort = step.resultChars < SHORT_CHARS;
  const lists =
    state.lists &&
    common.length >= (isShort ? MIN_COMMON - 1 : MIN_COMMON) &&
    own.length > 0 &&
    own.length <= (isShort || common.length > MIN_COMMON ? MAX_OWN : 1) &&
    own.some((token) => !state.met.includes(token)) &&
    own.every((token) => !state.met.includes(token));
  return {
    tool: state.tool,
    resultKey: state.resultKey,
    asked: [...state.asked.slice(-(MAX_ASKED - 1)), step.argsKey],
    turn: step.turn,
    evidence: withEvidence(state.evidence, step.index),
    common,
    met: lists ? [...new Set([...state.met, ...own])].slice(-MAX_MET) : [],
    lists,
    adds: state.adds && common.length === state.common.length,
    walks: state.walks && (state.frameKey === step.frameKey || step.names) && !state.asked.includes(step.argsKey),
    frameKey: state.frameKey,
    files: state.files === null ? null : furtherFiles(state.files, step),
    acted: false,
    userMessages: state.userMessages,
  };
}

function isPage({ target }: Step): boolean {
  return target !== undefined && /^https?:/i.test(target);
}

/** Pages may all be the same refusal; files that hold the same are a finding. */
function furtherFiles(files: readonly number[], step: Step): readonly number[] | null {
  // Beside a text that is handed over, what else is told is no file.
  if (step.target === undefined || step.leavesKey !== undefined || step.ineffective || isPage(step)) return null;
  const file = wordToken(step.target);
  return files.includes(file) ? null : [...files, file].slice(-MAX_ASKED);
}

/** Whom or what is asked: the one screen, however it is touched; a write that changes nothing only with others on the same thing. */
function subjectOf(step: Step): string {
  if (step.ineffective) return step.tool;
  if (step.kind === 'ui') return SCREEN;
  return step.kind === 'write' ? `${step.tool}\n${step.target ?? ''}` : step.tool;
}

/** A question whose answer could have told something: no failure, no change, no new version of a program being run. */
function informs(step: Step): boolean {
  if (step.failure !== undefined) return false;
  if (step.ineffective) return true;
  if (step.kind === 'write') return step.unchanged && step.target !== undefined;
  if (step.kind !== 'read' && step.kind !== 'unknown' && step.kind !== 'ui') return false;
  return !step.acknowledged || (step.kind === 'read' && step.resultChars === 0);
}

export const stagnation: DetectorDefinition<StagnationOptions> = defineDetector<StagnationOptions>(
  {
    warnAt: whole(2, MAX_REMEMBERED, 6),
    shortWarnAt: whole(2, MAX_REMEMBERED, 10),
  },
  stagnationDetector,
);
