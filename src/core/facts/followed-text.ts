import { countOf } from '../base/number-text.ts';
import type { AdviceOutcome, NextCall } from './advice-outcome.ts';

/** Claims no cause: `next call: the same again; left the pattern 3 calls later`. */
export function followedText(outcome: AdviceOutcome): string {
  const laterPart = laterText(outcome);
  const next = nextText(outcome.nextCall);
  return laterPart === undefined ? next : `${next}; ${laterPart}`;
}

const NEXT: Readonly<Record<NextCall, string>> = {
  repeated: 'the same again',
  'same-failure': 'failed in the same way',
  'other-failure': 'failed in another way',
  refused: 'another one, which was refused',
  succeeded: 'another one, which succeeded',
  open: 'has no result',
  none: 'none',
};

export function nextText(next: NextCall): string {
  return `next call: ${NEXT[next]}`;
}

function laterText({ callsLeft, callsToClear, inTime, pattern }: AdviceOutcome): string | undefined {
  if (pattern !== undefined) {
    if (callsToClear === undefined) return `the pattern was still open ${countOf(callsLeft, 'call')} later`;
    return callsToClear === 0 ? 'left the pattern at once' : `left the pattern ${countOf(callsToClear, 'call')} later`;
  }
  if (inTime === undefined) return undefined;
  return inTime ? 'the run ended before its deadline' : 'the run ended after its deadline';
}
