import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, NO_CALLS, reportFlag } from './level.ts';

interface Action {
  readonly actionKey: string;
  readonly resultKey: string;
  readonly turn: number;
  readonly index: number;
  /** It showed this screen for the first time, so it had an effect. */
  readonly effective: boolean;
}

interface State {
  readonly recent: readonly Action[];
  /** Keys of the last screens, at most 32. */
  readonly screens: readonly string[];
  readonly userMessages: number;
}

const EMPTY: State = { recent: [], screens: [], userMessages: 0 };
const WINDOW = 8;
const MAX_SCREENS = 32;
/** A shorter result of an action may not show the screen. */
const SCREEN_CHARS = 60;
const MIN_DIFFERENT = 3;

/**
 * Actions on a screen have no effect: the result shows the same screen again. References to page elements, which are new in each rendering, are
 * ignored in the actions and in the screen.
 *
 * Warns at:
 * - 3 equal actions (`warnAt`) with an equal screen among the last 8, none of which showed a new screen.
 * - 4 actions in a row, three of them different, that leave a screen as it was.
 * - No hint.
 *
 * Resets on:
 * - A screen that was not shown before, or a new result of another call.
 * - A message of the user.
 *
 * Ignores:
 * - Results under 60 characters, which may not show the screen; failures; actions of one turn with the same name and arguments.
 */
export const noEffectDetector: DetectorFactory<'warnAt'> = defineDetector(
  'no_effect',
  { warnAt: countShape(3) },
  ({ warnAt }, snapshot: State = EMPTY) => {
    let state = snapshot;
    return {
      observe(step, { novel, userMessages }) {
        if (step.transparent || step.resultMissing) return undefined;
        if (userMessages !== state.userMessages) state = { ...EMPTY, userMessages };
        const { actionKey, resultKey, turn, index, tool } = step;
        if (actionKey === undefined) {
          if (novel && step.kind !== 'poll') state = { ...state, recent: [] };
          return undefined;
        }
        if (step.acknowledged || step.failure !== undefined || step.resultChars < SCREEN_CHARS) return undefined;
        const isKnown = state.screens.includes(resultKey);
        const screens = isKnown ? state.screens : [...state.screens.slice(1 - MAX_SCREENS), resultKey];
        const earlier = isKnown ? state.recent : [];
        const isTwin = earlier.some((action) => action.turn === turn && action.actionKey === actionKey);
        const recent = isTwin
          ? earlier
          : [...earlier.slice(1 - WINDOW), { actionKey, resultKey, turn, index, effective: !isKnown }];
        state = { recent, screens, userMessages };
        if (isTwin) return undefined;
        const equal = recent.filter((action) => action.actionKey === actionKey && action.resultKey === resultKey);
        const row = recent.slice(
          recent.findLastIndex((action) => action.effective || action.resultKey !== resultKey) + 1,
        );
        const isVaried = new Set(row.map((action) => action.actionKey)).size >= MIN_DIFFERENT;
        const [seen, threshold] = equal.length < warnAt && isVaried ? [row, warnAt + 1] : [equal, warnAt];
        const evidence = seen.reduce((calls, action) => appendEvidence(calls, action.index), NO_CALLS);
        return reportFlag({ kind: 'no_effect', key: resultKey, tool, evidence }, seen.length, threshold);
      },
      snapshot: () => state,
    };
  },
);
