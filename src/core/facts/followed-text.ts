import { assertNever } from '../base/error.ts';
import type { AdviceOutcome, NextCall } from './advice-outcome.ts';

/** Claims no cause: `next call: the same again; left the pattern 3 calls later`. */
export function followedText(outcome: AdviceOutcome): string {
  const laterPart = laterText(outcome);
  const next = nextText(outcome.nextCall);
  return laterPart === undefined ? next : `${next}; ${laterPart}`;
}

export function nextText(next: NextCall): string {
  return `next call: ${nextCallText(next)}`;
}

function nextCallText(next: NextCall): string {
  switch (next) {
    case 'repeated':
      return 'the same again';
    case 'same-failure':
      return 'failed in the same way';
    case 'other-failure':
      return 'failed in another way';
    case 'refused':
      return 'another one, which was refused';
    case 'succeeded':
      return 'another one, which succeeded';
    case 'open':
      return 'has no result';
    case 'none':
      return 'none';
    default:
      return assertNever(next);
  }
}

function laterText({ callsLeft, callsToClear, inTime, pattern }: AdviceOutcome): string | undefined {
  if (pattern !== undefined) {
    if (callsToClear === undefined) return `the pattern was still open ${callsText(callsLeft)} later`;
    return callsToClear === 0 ? 'left the pattern at once' : `left the pattern ${callsText(callsToClear)} later`;
  }
  if (inTime === undefined) return undefined;
  return inTime ? 'the run ended before its deadline' : 'the run ended after its deadline';
}

function callsText(calls: number): string {
  return calls === 1 ? '1 call' : `${calls} calls`;
}
