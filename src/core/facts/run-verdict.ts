import type { JsonObject } from '../base/json.ts';
import { periodText } from '../base/number-text.ts';
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
 * - `failed`: the source says so, or the run ended or was cut off before the agent answered
 * - `unknown`: everything else
 */
export interface RunVerdict {
  readonly verdict: 'worked' | 'failed' | 'unknown';
  readonly evidence: string;
}

/** Words that several sources use for a run that was stopped early. */
const CUT_OFF: ReadonlySet<string> = new Set(['error', 'limit', 'aborted', 'interrupted']);

/**
 * A run without an end counts as cut off after this time without a record. Of 21 recorded sessions, two continued after a longer
 * pause (8.5 and 12 hours), none after one between 4 and 8 hours.
 */
const CUT_OFF_AFTER_MS = 6 * 3_600_000;

/** Facts about a run without an end. */
export interface OpenRun {
  /** Words that state what the run waits for; empty if unknown. */
  readonly waitsFor?: string;
  /** Time since the last record; 0 without a clock, absent if no record has a time. */
  readonly silentMs?: number;
}

/** @param checks  the last result of each check, the latest last */
export function verdictOf(
  ended: RunOutcome | undefined,
  checks: readonly LastCheck[],
  { silentMs, waitsFor = '' }: OpenRun = {},
): RunVerdict {
  if (ended === undefined) {
    if (waitsFor === '' && silentMs !== undefined && silentMs > CUT_OFF_AFTER_MS)
      return { verdict: 'failed', evidence: `cut off: no record for ${periodText(silentMs)}` };
    const evidence = silentMs === undefined ? 'nothing says how it ended' : 'no answer yet: cut off, or still at work';
    return { verdict: 'unknown', evidence: waitsFor || evidence };
  }
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
