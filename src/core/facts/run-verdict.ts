import type { JsonObject } from '../base/json.ts';
import { countOf, countText, periodText } from '../base/number-text.ts';
import { printableCut } from '../base/printable.ts';
import { inWords, WORDS } from '../records/words.ts';

/** How a run ended, according to its source. Plain JSON. */
export interface RunOutcome {
  readonly outcome: string;
  /** An `EndReason`, or another word from the host. */
  readonly reason?: string;
  readonly success?: boolean;
  readonly reward?: number;
  readonly labels?: JsonObject;
}

/** The last result of a check. A check is a call that ran tests, types, lint or a build, or a command that the task names. */
export interface LastCheck {
  readonly command: string;
  /** 1-based number of the call. */
  readonly number: number;
  readonly failed: boolean;
  /** True if its result says that it ran no test. Such a check has not passed. */
  readonly ranNothing?: true;
  /** True if a pipe such as `| head` hides its end, and what is left does not say that it passed. */
  readonly isHidden?: true;
  /** True if it was refused or interrupted, and never ran to its end. */
  readonly isRefused?: true;
  /** True if its program or module is not installed. */
  readonly couldNotRun?: true;
  /** True if the shell or the package manager did not begin the check, as without such a script or a lockfile. */
  readonly neverBegan?: true;
  /** The number of files that it says it changed itself, as a linter does. */
  readonly fixed?: number;
}

export function checkResult({
  couldNotRun,
  failed,
  fixed = 0,
  isHidden,
  isRefused,
  neverBegan,
  ranNothing,
}: Omit<LastCheck, 'command' | 'number'>): string {
  if (isRefused === true) return 'refused or stopped';
  if (couldNotRun === true) return 'could not run: it was not found';
  if (neverBegan === true) return 'could not run: it never began';
  if (isHidden === true) return 'not seen to its end';
  if (ranNothing === true) return 'ran nothing';
  if (failed) return 'failed';
  return fixed === 0 ? 'passed' : `passed and fixed ${countOf(fixed, 'file')}`;
}

/** Returns true for a check that ran nothing, or was not seen to its end. */
export function isUnknown({ couldNotRun, isHidden, isRefused, neverBegan, ranNothing }: LastCheck): boolean {
  return (ranNothing ?? isHidden ?? isRefused ?? couldNotRun ?? neverBegan) === true;
}

/** Returns the last check that ran something and whose end is known. */
export function lastSeenCheck(checks: readonly LastCheck[]): LastCheck | undefined {
  return checks.findLast((check) => !isUnknown(check));
}

export interface LastChange {
  readonly file: string;
  readonly number: number;
  /** For a text, which no check reads: the first call of the task that changed it. A check since then stands for the task. */
  readonly taskFrom?: number;
  /** For a removed file, the call that had changed it last. A check before that read neither. */
  readonly from?: number;
}

/**
 * How a run ended according to its records, and the evidence in one sentence.
 *
 * - `worked`: the source says so, or the agent answered, its last checks passed, and it changed nothing afterwards
 * - `answered`: the agent finished, but nothing shows that it worked
 * - `waiting`: it waits for a person: a permission, a question, a plan
 * - `stopped`: a person interrupted it
 * - `cut_off`: it was in the middle of work, and its process ended or wrote nothing for six hours
 * - `failed`: the source says so, or an error or a limit ended it
 * - `open`: it may still be at work
 * - `unknown`: the records do not say
 */
export interface RunVerdict {
  readonly verdict: 'worked' | 'answered' | 'waiting' | 'stopped' | 'cut_off' | 'failed' | 'open' | 'unknown';
  readonly evidence: string;
}

/** What a waiting run wants: these words begin its evidence. Without them, it wants a permission. */
export const WAITS_FOR_ANSWER = 'waits for your answer';
export const WAITS_FOR_DECISION = 'waits for your decision on its plan';
const PRESENTED_PLAN = 'it presented a plan, which was not approved in this session';

const ANSWERED = 'it answered';
const UNSEEN_ANSWER = 'it answered, but its words are not on record';
const NO_LAST_MESSAGE = 'it finished without a last message';

/** Returns true for a run that ended after a call. What it said before is no last message. */
export function saysNoLastMessage({ evidence }: RunVerdict): boolean {
  return evidence.startsWith(NO_LAST_MESSAGE);
}

/** Returns true for a run whose last message is its answer. */
export function saysAnswer({ evidence }: RunVerdict): boolean {
  return evidence.startsWith(ANSWERED) && !evidence.startsWith(UNSEEN_ANSWER);
}

/** Returns true for the evidence of a run that ended after its plan. The heading of the plan may follow. */
export function isPresentedPlan(evidence: string): boolean {
  return evidence.startsWith(PRESENTED_PLAN);
}

/** Returns true for the evidence of a run whose work a person or a policy refused. */
export function endsRefused(evidence: string): boolean {
  return !isPresentedPlan(evidence) && / (?:was|were) refused(?: or stopped)?$/.test(evidence);
}

export function isAboutPlan(evidence: string): boolean {
  return evidence === WAITS_FOR_DECISION || isPresentedPlan(evidence);
}

export function hasFailed(verdict: RunVerdict['verdict'] | undefined): boolean {
  return verdict === 'failed' || verdict === 'cut_off';
}

/** Of 21 recorded sessions, two continued after a longer pause (8.5 and 12 hours), none after one of 4 to 8 hours. */
const CUT_OFF_AFTER_MS = 6 * 3_600_000;

export interface LastAct {
  readonly waitsFor?: string;
  /** Time since the last record; 0 without a clock, absent if no record has a time. */
  readonly silentMs?: number;
  readonly isAnswer?: boolean;
  /** True if the user then left the program, which may count as a stop. */
  readonly hasLeft?: boolean;
  /** True if the user has only given commands to the program, such as `/model`. */
  readonly isIdle?: boolean;
  readonly call?: string;
  readonly isRunning?: boolean;
  /** True if the running call is known to take long. */
  readonly isLong?: boolean;
  readonly othersRunning?: number;
  /** Number of all calls, of the failed and of the refused ones. */
  readonly calls?: number;
  readonly errors?: number;
  readonly refused?: number;
  /** True if the call was refused, so that it did not run. */
  readonly isRefused?: boolean;
  /** Number of requests to the model that failed since its last answer, the time of the first one, and what the last one said. */
  readonly failedRequests?: number;
  readonly failingSinceMs?: number;
  readonly requestError?: string;
  /** The number of the last call, if it failed. */
  readonly failedCall?: number;
  /** True if the last call presented a plan that was not approved. */
  readonly isPlan?: boolean;
  /** The heading of the last plan. */
  readonly plan?: string;
  readonly changes?: readonly LastChange[];
}

/** `after 8 failed requests (529 Overloaded)`; empty if the model answered last. */
export function failedRequestsText({ failedRequests = 0, requestError = '' }: LastAct): string {
  if (failedRequests === 0) return '';
  return `after ${countOf(failedRequests, 'failed request')}${requestError === '' ? '' : ` (${requestError})`}`;
}

function duringText(last: LastAct): string {
  const { call = '', isRefused = false, isRunning = false, othersRunning = 0 } = last;
  const requests = failedRequestsText(last);
  if (requests !== '' && !isRunning) return `, ${requests}`;
  if (call === '') return '';
  const running = othersRunning === 0 ? 'was' : `and ${countOf(othersRunning, 'other call')} were`;
  return isRunning ? ` while "${call}" ${running} running` : `, after "${call}"${isRefused ? ' was refused' : ''}`;
}

/** What it waits for; of a permission also the command, if it is known. A question is itself the call. */
export function waitingText({ call = '', isRunning = false, waitsFor = '' }: LastAct): string {
  const asks = waitsFor.startsWith(WAITS_FOR_ANSWER) || waitsFor === WAITS_FOR_DECISION;
  return isRunning && !asks ? `${waitsFor}: ${call}` : waitsFor;
}

export function cutOffText(last: LastAct): string {
  return `cut off${duringText(last) || ' before it answered'}`;
}

export function verdictOf(end: RunOutcome | undefined, checks: readonly LastCheck[], last: LastAct = {}): RunVerdict {
  const { call = '', isAnswer = false, isPlan = false, isRunning = false, silentMs, waitsFor = '' } = last;
  // A process that ends after its answer was not cut off, and a user who leaves it stops nothing.
  const ended = isAnswer && (end?.reason === 'killed' || last.hasLeft === true) ? undefined : end;
  const { labels, outcome, reason, success } = ended ?? { outcome: '' };
  if (success !== undefined) {
    const why = typeof labels?.['error'] === 'string' ? labels['error'] : reason;
    // A known reason, such as `answered`, is no cause of a failure.
    const cause = success || why === undefined || Object.hasOwn(WORDS.reason, why) ? '' : `: ${why}`;
    return {
      verdict: success ? 'worked' : 'failed',
      evidence: `its source says that it ${success ? 'worked' : 'failed'}${cause}`,
    };
  }
  if (waitsFor !== '' && (ended === undefined || reason === 'killed'))
    return { verdict: 'waiting', evidence: waitingText(last) };
  const during = duringText(last);
  if (ended === undefined && !isAnswer) {
    if (silentMs === undefined) return { verdict: 'unknown', evidence: 'nothing says how it ended' };
    const silence = silentMs > 0 ? `no record for ${periodText(silentMs)}` : '';
    if (silentMs > CUT_OFF_AFTER_MS) return { verdict: 'cut_off', evidence: `${cutOffText(last)}; ${silence}` };
    // Only a process that is known to live has a call that surely runs.
    const running = silentMs > 0 ? 'has no result yet' : 'is running';
    const work = isRunning
      ? `"${call}" ${running}`
      : ['no answer yet', failedRequestsText(last)].filter(Boolean).join(' ');
    return { verdict: 'open', evidence: [work, silence].filter(Boolean).join(', ') };
  }
  if (isStop(ended)) {
    if (isPlan)
      return { verdict: 'answered', evidence: `${PRESENTED_PLAN}${last.plan === undefined ? '' : `: ${last.plan}`}` };
    return { verdict: 'stopped', evidence: `stopped${reason === 'interrupted' ? ' by you' : ''}${during}` };
  }
  if (reason === 'killed') return { verdict: 'cut_off', evidence: `${inWords('reason', reason)}${during}` };
  if (ended !== undefined && isCutOff(ended)) {
    const error = labels?.['error'];
    const detail = typeof error === 'string' && error !== '' ? `: ${error}` : '';
    const word = reason === undefined ? inWords('outcome', outcome) : inWords('reason', reason);
    return { verdict: 'failed', evidence: `${word}${detail}` };
  }
  const hasAnswered = isAnswer || reason === 'answered';
  const answer = isAnswer ? ANSWERED : hasAnswered ? UNSEEN_ANSWER : NO_LAST_MESSAGE;
  const failed = checks.filter((check) => check.failed);
  const failedCheck = failed.at(-1);
  if (failedCheck !== undefined) {
    const others = failed.length === 1 ? '' : `, and so did ${countText(failed.length - 1)} more`;
    const evidence = `${answer}; a ${checkText(failedCheck)} failed and did not pass later${others}`;
    return { verdict: 'answered', evidence };
  }
  const lastCheck = lastSeenCheck(checks);
  const [empty] = checks;
  if (lastCheck === undefined) {
    const why =
      empty === undefined ? 'no check that coxswain recognises' : `its ${checkText(empty)} ${stateText(empty)}`;
    return { verdict: 'answered', evidence: `${answer}; ${why}${lostText(last)}` };
  }
  const changes = last.changes?.filter((one) => isChangeAfter(one, lastCheck)) ?? [];
  const change = changes.toSorted((a, b) => a.number - b.number).at(-1);
  const passed = `its last ${checkText(lastCheck)} passed${change === undefined ? '' : beforeText(change)}`;
  if (!hasAnswered || change !== undefined) return { verdict: 'answered', evidence: `${answer}; ${passed}` };
  if (last.failedCall !== undefined && last.failedCall > lastCheck.number) {
    const failure = `its last call (call ${last.failedCall}, ${printableCut(call, 80)}) failed`;
    return { verdict: 'answered', evidence: `${answer}; ${failure} after its last check had passed` };
  }
  const unknown = checks.findLast((check) => isUnknown(check) && check.number > lastCheck.number);
  const later = unknown === undefined ? '' : `; a later ${checkText(unknown)} ${stateText(unknown)}`;
  return { verdict: 'worked', evidence: `${answer}, and ${passed}${later}` };
}

/** A check that names a text, such as that of a formatter, stands for this text only until it changes. */
function isChangeAfter({ file, from = 0, number, taskFrom = number }: LastChange, check: LastCheck): boolean {
  if (from > check.number) return false;
  const isNamed = check.command.includes(file.slice(file.lastIndexOf('/') + 1));
  return (isNamed ? number : taskFrom) > check.number;
}

function beforeText({ file, number }: LastChange): string {
  const parts = file.split('/');
  const path = parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : file;
  return ` before its last change (call ${number}, ${path.slice(-80)})`;
}

const CUT_OFF: ReadonlySet<string> = new Set(['error', 'limit', 'aborted', 'interrupted']);

export function isCutOff({ outcome, reason }: Pick<RunOutcome, 'outcome' | 'reason'>): boolean {
  return reason === undefined ? CUT_OFF.has(outcome) : reason !== 'answered';
}

function isStop(ended: RunOutcome | undefined): boolean {
  if (ended?.reason !== undefined) return ended.reason === 'interrupted';
  return ended?.outcome === 'aborted' || ended?.outcome === 'interrupted';
}

/** Says if most of the work or the last call was refused, as in a headless run without permissions, or most failed. */
function lostText({ call = '', calls = 0, errors = 0, isRefused = false, refused = 0 }: LastAct): string {
  if (calls === 1) return refused > 0 ? '; its only call was refused' : errors > 0 ? '; its only call failed' : '';
  const of = `of its ${countOf(calls, 'call')}`;
  if (isRefused && refused < 2) return `; its last call (${printableCut(call, 80)}) was refused`;
  if (refused > 0 && 2 * refused >= calls)
    return `; ${countText(refused)} ${of} ${refused === 1 ? 'was' : 'were'} refused`;
  return errors > 0 && 2 * (errors + refused) >= calls ? `; ${countText(errors)} ${of} failed` : '';
}

/** The result of a check of unknown result, as the end of a sentence. */
function stateText(check: LastCheck): string {
  return `${check.isHidden === true || check.isRefused === true ? 'was ' : ''}${checkResult(check)}`;
}

function checkText({ command, number }: LastCheck): string {
  return `check (call ${number}, ${printableCut(command, 80)})`;
}
