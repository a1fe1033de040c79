import type { JsonObject } from '../base/json.ts';
import { inWords } from '../records/words.ts';

/** How a run ended, according to its source. Plain JSON. */
export interface RunOutcome {
  readonly outcome: string;
  /** An `EndReason`, or the host's own word. */
  readonly reason?: string;
  readonly success?: boolean;
  readonly reward?: number;
  readonly labels?: JsonObject;
}

/** The last result of a check: a call that ran tests, types, lint or a build. */
export interface LastCheck {
  readonly command: string;
  /** 1-based number of the call. */
  readonly number: number;
  readonly failed: boolean;
}

/**
 * Whether a run reached its goal according to its records, and the evidence in one sentence.
 *
 * - `worked`: its source says so, or it answered and its last checks passed
 * - `failed`: its source says so, or it died before it answered
 * - `unknown`: everything else
 */
export interface RunVerdict {
  readonly verdict: 'worked' | 'failed' | 'unknown';
  readonly evidence: string;
}

/** Words of several sources for a run that was cut off. */
const CUT_OFF: ReadonlySet<string> = new Set(['error', 'limit', 'aborted', 'interrupted']);

/**
 * @param checks  the last result of each check, the latest last
 * @param waitsFor  in words, for a run without an end
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

/** Returns true if the agent was stopped before it answered. */
export function isCutOff({ outcome, reason }: RunOutcome): boolean {
  return reason === undefined ? CUT_OFF.has(outcome) : reason !== 'answered';
}

function checkText({ command, number }: LastCheck): string {
  return `check (call ${number}, ${command.slice(0, 80)})`;
}
