import type { JsonObject } from '../base/json.ts';
import { inWords } from '../records/words.ts';

/** How a run ended, as its source says. Plain JSON. */
export interface RunOutcome {
  readonly outcome: string;
  /** Why, where the source says: an `EndReason`, or the host's own word. */
  readonly reason?: string;
  readonly success?: boolean;
  readonly reward?: number;
  readonly labels?: JsonObject;
}

/** The last result of a check: a call that ran tests, types, lint or a build. */
export interface LastCheck {
  readonly command: string;
  /** Of the call, from 1. */
  readonly number: number;
  readonly failed: boolean;
}

/**
 * Whether a run did what it was for, as far as its records say, and the evidence in one sentence.
 *
 * - `worked`: its source says so, or it answered and its last checks passed
 * - `failed`: its source says so, or it died before it answered
 * - `unknown`: everything else
 */
export interface RunVerdict {
  readonly verdict: 'worked' | 'failed' | 'unknown';
  readonly evidence: string;
}

/** Outcomes that say that the run was cut off, in the words of several sources. */
const CUT_OFF: ReadonlySet<string> = new Set(['error', 'limit', 'aborted', 'interrupted']);

/**
 * @param checks  the last result of each, the latest last
 * @param waitsFor  what a run without an end waits for, in words
 */
export function verdictOf(ended: RunOutcome | undefined, checks: readonly LastCheck[], waitsFor = ''): RunVerdict {
  if (ended === undefined)
    return { verdict: 'unknown', evidence: waitsFor || 'no answer yet: cut off, or still at work' };
  const { labels, outcome, reason, success } = ended;
  if (success !== undefined) {
    return {
      verdict: success ? 'worked' : 'failed',
      evidence: `its source says that it ${success ? 'worked' : 'failed'}`,
    };
  }
  if (isCutOff(ended)) {
    const error = labels?.['error'];
    const detail = typeof error === 'string' && error !== '' ? `: ${error}` : '';
    return {
      verdict: 'failed',
      evidence: `${reason === undefined ? inWords('outcome', outcome) : inWords('reason', reason)}${detail}`,
    };
  }
  const failing = checks.findLast(({ failed }) => failed);
  if (failing !== undefined) return { verdict: 'unknown', evidence: `its last ${checkText(failing)} failed` };
  const last = checks.at(-1);
  if (last === undefined || reason !== 'answered') {
    return {
      verdict: 'unknown',
      evidence: reason === 'answered' ? 'it answered; nothing was checked' : 'nothing says how it went',
    };
  }
  return { verdict: 'worked', evidence: `it answered, and its last ${checkText(last)} passed` };
}

/** The agent was stopped before it had an answer. */
export function isCutOff({ outcome, reason }: RunOutcome): boolean {
  return reason === undefined ? CUT_OFF.has(outcome) : reason !== 'answered';
}

function checkText({ command, number }: LastCheck): string {
  return `check (call ${number}, ${command.slice(0, 80)})`;
}
