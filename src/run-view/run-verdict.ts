import type { JsonObject } from '../base/json.ts';
import { inWords } from '../records/words.ts';

/** How a run ended, according to its source. Plain JSON. */
export interface RunOutcome {
  readonly outcome: string;
  /** An `EndReason`, or another word from the host. */
  readonly reason?: string;
  readonly success?: boolean;
  readonly reward?: number;
  readonly labels?: JsonObject;
}

/** The last result of a check. A check is a call that ran tests, types, lint or a build. */
export interface LastCheck {
  readonly command: string;
  /** 1-based number of the call. */
  readonly number: number;
  readonly failed: boolean;
}

/**
 * Whether a run reached its goal according to its records, and the evidence in one sentence.
 *
 * - `worked`: the source says so, or the agent answered and its last checks passed
 * - `failed`: the source says so, or the run ended before the agent answered
 * - `unknown`: everything else
 */
export interface RunVerdict {
  readonly verdict: 'worked' | 'failed' | 'unknown';
  readonly evidence: string;
}

/** Words that several sources use for a run that was stopped early. */
const CUT_OFF: ReadonlySet<string> = new Set(['error', 'limit', 'aborted', 'interrupted']);

/**
 * @param checks  the last result of each check, the latest last
 * @param waitsFor  words that state what a run without an end waits for
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
  const failedCheck = checks.findLast(({ failed }) => failed);
  if (failedCheck !== undefined)
    return { verdict: 'unknown', evidence: `a ${checkText(failedCheck)} failed and did not pass later` };
  const last = checks.at(-1);
  if (last === undefined || reason !== 'answered') {
    return {
      verdict: 'unknown',
      evidence: reason === 'answered' ? 'it answered; nothing was checked' : 'nothing says how it went',
    };
  }
  return { verdict: 'worked', evidence: `it answered, and its last ${checkText(last)} passed` };
}

/** Returns true if the agent was stopped before it answered. */
export function isCutOff({ outcome, reason }: RunOutcome): boolean {
  return reason === undefined ? CUT_OFF.has(outcome) : reason !== 'answered';
}

function checkText({ command, number }: LastCheck): string {
  return `check (call ${number}, ${command.slice(0, 80)})`;
}
