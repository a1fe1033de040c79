import { errorWords, withoutPastReset } from './error-words.ts';
import { present, type JsonObject } from '../base/json.ts';
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

/** Where a check or a change stands in the work of a session and its subagents. */
export interface WorkPlace {
  /** 1-based number of the call. */
  readonly number: number;
  /** Unix milliseconds at which the call began; of a text, the first call of its task. Absent if unknown. */
  readonly atMs?: number;
  /** The id of the subagent that made the call. Absent if the run itself made it. */
  readonly agent?: string;
}

/** Calls of one run are in the order of their numbers, those of two in that of their times. */
export function isLater(one: WorkPlace, other: WorkPlace): boolean {
  return one.agent === other.agent ? one.number > other.number : (one.atMs ?? 0) > (other.atMs ?? 0);
}

/** The last result of a check. A check is a call that ran tests, types, lint or a build, or a command that the task names. */
export interface LastCheck extends WorkPlace {
  readonly command: string;
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
  /** What its machine lacked, if its output plainly says that it failed for that. */
  readonly lacks?: keyof typeof LACKS;
  /** The line of its output that says that it failed: for people, never for a model. */
  readonly error?: string;
  /** True if it only read the syntax of files. If it passed, nothing shows that the work is right. */
  readonly isSyntax?: true;
  /** The number of files that it says it changed itself, as a linter does. */
  readonly fixed?: number;
}

const LACKS = {
  database: 'it could not reach its database',
  docker: 'it could not reach Docker',
  network: 'it could not reach the network',
  server: 'a server that it needs did not answer',
  browser: 'its browser is not installed',
  variable: 'an environment variable is not set',
  permission: 'an operation was not permitted',
} as const;

/** The results of a check that say neither that it passed nor that it failed. The first that holds counts. */
const UNKNOWN = [
  ['isRefused', 'refused or stopped'],
  ['couldNotRun', 'could not run: it was not found'],
  ['neverBegan', 'could not run: it never began'],
  ['isHidden', 'not seen to its end'],
  ['ranNothing', 'ran nothing'],
] as const;
export type UnknownResult = (typeof UNKNOWN)[number][0];

export function checkResult(check: Omit<LastCheck, 'command' | 'number'>): string {
  const { failed, fixed = 0, lacks } = check;
  const unknown = UNKNOWN.find(([name]) => check[name] === true);
  if (unknown !== undefined) return unknown[1];
  if (failed) return lacks === undefined ? 'failed' : `failed: ${LACKS[lacks]}`;
  return fixed === 0 ? 'passed' : `passed and fixed ${countOf(fixed, 'file')}`;
}

/** Returns true for a check that ran nothing, or was not seen to its end. */
export function isUnknown(check: LastCheck): boolean {
  return UNKNOWN.some(([name]) => check[name] === true);
}

/** Returns the last check that ran something and whose end is known. */
export function lastSeenCheck(checks: readonly LastCheck[]): LastCheck | undefined {
  return checks.findLast((check) => !isUnknown(check));
}

export interface LastChange extends WorkPlace {
  readonly file: string;
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
  /** What the evidence says besides the verdict, such as the question, the error or the failed check. Absent if nothing. */
  readonly why?: string;
  /**
   * What it waits for: `question`, `plan` or `permission`; `plan` also of a run that ended with a plan, and `check` of one that answered
   * although a check failed, `calls` if all of its calls did. Why it failed or was cut off: an `EndReason`, its outcome, or a word of
   * `WORDS.cause`.
   */
  readonly cause?: string;
  /** Whether a run that finished has its answer on record: `hidden` if only its end says that it answered. */
  readonly answer?: 'shown' | 'hidden' | 'none';
  /** True if a person or a policy refused its work. */
  readonly isRefused?: true;
}

/** What a waiting run wants: these words begin its evidence. Without them, it wants a permission. */
export const WAITS_FOR_ANSWER = 'waits for your answer';
export const WAITS_FOR_DECISION = 'waits for your decision on its plan';

/** What is missing of an answer. */
const MISSING = { shown: '', hidden: 'its words are not on record', none: 'finished without a last message' } as const;
const ANSWERS = {
  shown: 'it answered',
  hidden: `it answered, but ${MISSING.hidden}`,
  none: `it ${MISSING.none}`,
} as const;

export function hasFailed(verdict: RunVerdict['verdict'] | undefined): boolean {
  return verdict === 'failed' || verdict === 'cut_off';
}

/** Of 21 recorded sessions, two continued after a longer pause (8.5 and 12 hours), none after one of 4 to 8 hours. */
const CUT_OFF_AFTER_MS = 6 * 3_600_000;

export interface LastAct {
  readonly waitsFor?: string;
  /** Time since the last record; 0 without a clock, absent if no record has a time. */
  readonly silentMs?: number;
  /** True if its process is known to live: it is at work, however long it is silent. */
  readonly isAlive?: boolean;
  readonly isAnswer?: boolean;
  /** The next step that its last message only announces, so that it is no answer. */
  readonly announced?: string;
  /** Its last question, if nobody answered it. */
  readonly unanswered?: string;
  /** True if the user then left the program, which may count as a stop. */
  readonly hasLeft?: boolean;
  /** True if the user asked for nothing, or has only given commands to the program, such as `/model`. */
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
  /** The line of its result that says that it failed. */
  readonly callError?: string;
  /** True if the call was refused, so that it did not run. */
  readonly isRefused?: boolean;
  /** Who refused it, if its result says so. */
  readonly refusedBy?: 'you' | 'a rule';
  /** Number of requests to the model that failed since its last answer, the time of the last record before them, and what the last one said. */
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

/** An error that is only the name of its status. */
const STATUS_NAME = /^(?:bad request|unauthorized|forbidden|too many requests|internal server error)\W*$/i;

/** What is missing where a failure names its cause only as a kind. */
const UNNAMED: Readonly<Record<string, string>> = {
  limit: ' not named on record',
  invalid_request: ', no reason on record',
};

/** `after 8 failed requests (529 Overloaded)`; empty if the model answered last. */
export function failedRequestsText({ failedRequests = 0, requestError = '' }: LastAct): string {
  if (failedRequests === 0) return '';
  return `after ${countOf(failedRequests, 'failed request')}${requestError === '' ? '' : ` (${requestError})`}`;
}

/** `"npm test" unfinished`, whether it ran or waited for a permission, or `after "npm test"`, which may have failed; empty without a call. */
function duringText(last: LastAct): string {
  const { announced, call = '', failedCall, isRefused = false, isRunning = false } = last;
  const requests = failedRequestsText(last);
  if (requests !== '' && !isRunning) return requests;
  if (announced !== undefined) return `after it announced: ${announced}`;
  if (call === '') return '';
  return isRunning
    ? `"${call}"${othersText(last)} unfinished`
    : `after ${failedCall === undefined ? '' : 'the failed '}"${call}"${isRefused ? ' was refused' : ''}`;
}

function othersText({ othersRunning = 0 }: LastAct): string {
  return othersRunning === 0 ? '' : ` and ${countOf(othersRunning, 'other call')}`;
}

function unquoted(during: string, call: string): string {
  return during.replace(`"${call}"`, call);
}

/** `you refused: npm test`, `a rule refused: Write /etc/hosts`, `refused: ls`. */
function refusalText({ call = '', refusedBy }: LastAct): string {
  return `${refusedBy === undefined ? '' : `${refusedBy} `}refused: ${printableCut(call, 80)}`;
}

function endText(word: string, during: string): string {
  if (during === '') return word;
  return `${word}${during.startsWith('"') ? ' with' : during.startsWith('after ') ? ',' : ''} ${during}`;
}

function waitCause({ waitsFor = '' }: LastAct): 'permission' | 'plan' | 'question' {
  if (waitsFor.startsWith(WAITS_FOR_ANSWER)) return 'question';
  return waitsFor === WAITS_FOR_DECISION ? 'plan' : 'permission';
}

/** What it waits for; of a permission also the command, if it is known. A question is itself the call. */
export function waitingText(last: LastAct): string {
  const { call = '', isRunning = false, waitsFor = '' } = last;
  return isRunning && waitCause(last) === 'permission' ? `${waitsFor}: ${call}` : waitsFor;
}

/** What the verb of a waiting run says already. */
const WAITS = [`${WAITS_FOR_ANSWER}: `, 'waits ', 'waiting for permission ', 'waiting '];

function waitingVerdict(last: LastAct): RunVerdict {
  const evidence = waitingText(last);
  const known = WAITS.find((words) => evidence.startsWith(words)) ?? '';
  return { verdict: 'waiting', evidence, why: evidence.slice(known.length), cause: waitCause(last) };
}

export function cutOffText(last: LastAct): string {
  return endText('cut off', cutOffWhy(last));
}

/** These words are in the evidence of a run whose process ended before its user decided. */
export const WAITED = 'while it waited for';

function cutOffWhy(last: LastAct): string {
  const { waitsFor = '' } = last;
  if (waitsFor !== '') return waitingText(last).replace(/^wait(?:s|ing) for/, WAITED);
  return duringText(last) || 'before it answered';
}

function isAfterRefusal(last: LastAct): boolean {
  const { announced, call = '', failedRequests = 0, isRefused = false, isRunning = false, waitsFor = '' } = last;
  return isRefused && call !== '' && !isRunning && failedRequests === 0 && waitsFor === '' && announced === undefined;
}

/** The same for a line that begins with `cut off`. */
function cutOffInWords(last: LastAct): string {
  const { call = '', isRunning = false, waitsFor = '' } = last;
  if (isAfterRefusal(last)) return `after ${refusalText(last).replace(/^refused/, 'a refused call')}`;
  return isRunning && waitsFor === '' ? `while ${call}${othersText(last)} ran` : unquoted(cutOffWhy(last), call);
}

export function verdictOf(end: RunOutcome | undefined, checks: readonly LastCheck[], last: LastAct = {}): RunVerdict {
  const { call = '', failedRequests = 0, isAlive = false, isAnswer = false, isPlan = false, isRunning = false } = last;
  const { announced, isIdle = false, silentMs, waitsFor = '' } = last;
  // A process that ends after its answer was not cut off, and a user who leaves it stops nothing.
  const ended = isAnswer && (end?.reason === 'killed' || last.hasLeft === true) ? undefined : end;
  const { labels, outcome, reason, success } = ended ?? { outcome: '' };
  if (success !== undefined) {
    const error = typeof labels?.['error'] === 'string' ? labels['error'] : reason;
    // A known reason, such as `answered`, is no cause of a failure.
    const detail = success || error === undefined || Object.hasOwn(WORDS.reason, error) ? '' : `: ${error}`;
    const evidence = `its source says that it ${success ? 'worked' : 'failed'}${detail}`;
    return { verdict: success ? 'worked' : 'failed', evidence, why: evidence, ...(success ? {} : { cause: 'source' }) };
  }
  if (waitsFor !== '' && ended === undefined) return waitingVerdict(last);
  const isOver = ended === undefined ? (silentMs ?? 0) > CUT_OFF_AFTER_MS && !isAlive : !isCutOff(ended);
  if (isIdle && isOver) {
    const evidence = 'nothing was asked';
    return { verdict: 'stopped', evidence, why: evidence };
  }
  const during = duringText(last);
  if (ended === undefined && !isAnswer) {
    if (silentMs === undefined) return { verdict: 'unknown', evidence: 'nothing says how it ended' };
    const silence = silentMs > 0 ? silenceText(silentMs) : '';
    if (silentMs > CUT_OFF_AFTER_MS && !isAlive) {
      // A plan that is carried out in a new session is refused in this one.
      if (isPlan && !isRunning) return planVerdict(last);
      const cause = isRunning
        ? 'running'
        : failedRequests > 0
          ? 'requests'
          : announced !== undefined
            ? 'announced'
            : isAfterRefusal(last)
              ? 'call_refused'
              : 'silent';
      return {
        verdict: 'cut_off',
        evidence: `${cutOffText(last)}; ${silence}`,
        why: cutOffInWords(last),
        cause,
      };
    }
    const work = isRunning
      ? `"${call}" has no result yet`
      : ['no answer yet', failedRequestsText(last)].filter(Boolean).join(' ');
    const evidence = [work, silence].filter(Boolean).join(', ');
    return { verdict: 'open', evidence, why: evidence };
  }
  if (reason === 'interrupted' || (reason === undefined && /^(?:aborted|interrupted)$/.test(outcome))) {
    if (isPlan) return planVerdict(last);
    const evidence = endText(`stopped${reason === 'interrupted' ? ' by you' : ''}`, during);
    const isRefused = last.isRefused === true && during !== '' && !isRunning && failedRequests === 0;
    const why = isRefused ? refusalText(last) : unquoted(during, call);
    return { verdict: 'stopped', evidence, ...present({ why: why || undefined, isRefused: isRefused || undefined }) };
  }
  if (reason === 'killed') {
    if ((isPlan && !isRunning) || waitsFor === WAITS_FOR_DECISION) return planVerdict(last);
    const evidence = endText(inWords('reason', reason), cutOffWhy(last));
    return { verdict: 'cut_off', evidence, why: cutOffInWords(last), cause: reason };
  }
  if (ended !== undefined && isCutOff(ended)) {
    const error = labels?.['error'];
    const words = typeof error === 'string' ? withoutPastReset(errorWords(error), silentMs) : '';
    const detail = words === '' || STATUS_NAME.test(words) ? (UNNAMED[reason ?? outcome] ?? '') : `: ${words}`;
    const why = `${reason === undefined ? inWords('outcome', outcome) : inWords('reason', reason)}${detail}`;
    return { verdict: 'failed', evidence: why, why, cause: reason ?? outcome };
  }
  if (announced !== undefined)
    return { verdict: 'cut_off', evidence: cutOffText(last), why: cutOffWhy(last), cause: 'announced' };
  const hasAnswered = isAnswer || reason === 'answered';
  return finishedVerdict(isAnswer ? 'shown' : hasAnswered ? 'hidden' : 'none', checks, last);
}

function planVerdict({ plan }: LastAct): RunVerdict {
  const heading = plan === undefined ? '' : `: ${plan}`;
  const evidence = `it presented a plan, which was not approved in this session${heading}`;
  return { verdict: 'answered', evidence, why: `not approved${heading}`, cause: 'plan' };
}

const SILENCE = 'no record for ';

function silenceText(silentMs: number): string {
  return `${SILENCE}${periodText(silentMs)}`;
}

/**
 * What `verdictOf` says later of the same records: only the time of a silence that cut the run off is another. Undefined if the verdict may
 * be another.
 */
export function laterVerdict(verdict: RunVerdict, silentMs: number): RunVerdict | undefined {
  if (verdict.verdict === 'open') return undefined;
  if (verdict.cause === 'rate_limit') {
    const evidence = withoutPastReset(verdict.evidence, silentMs);
    return evidence === verdict.evidence ? verdict : { ...verdict, evidence, why: evidence };
  }
  if (verdict.verdict !== 'cut_off' || !verdict.evidence.includes(SILENCE)) return verdict;
  if (silentMs <= CUT_OFF_AFTER_MS) return undefined;
  const { evidence } = verdict;
  return { ...verdict, evidence: `${evidence.slice(0, evidence.lastIndexOf(SILENCE))}${silenceText(silentMs)}` };
}

/** Returns true for a run without an end of its own, which may go on. */
export function mayGoOn({ verdict }: RunVerdict): boolean {
  return verdict === 'cut_off' || verdict === 'open' || verdict === 'waiting';
}

/** @param checks  in the order of their times */
export function finishedVerdict(
  answer: NonNullable<RunVerdict['answer']>,
  checks: readonly LastCheck[],
  last: LastAct,
): RunVerdict {
  const { call = '', failedCall = 0 } = last;
  /** @param why  in place of the text, if the text says too much for a line */
  const answered = (text: string, why = text, isRefused = false): RunVerdict => ({
    verdict: 'answered',
    evidence: `${ANSWERS[answer]}; ${text}`,
    ...present({ why: why || undefined, answer, isRefused: isRefused || undefined }),
  });
  const failed = checks.filter((check) => check.failed);
  const failedCheck = failed.at(-1);
  if (failedCheck !== undefined) {
    const { agent, command, error, lacks } = failedCheck;
    const more = failed.length === 1 ? '' : `, and so did ${countText(failed.length - 1)} more`;
    const lack = lacks === undefined ? '' : LACKS[lacks];
    const failure = answered(
      `a ${checkText(failedCheck)} failed and did not pass later${lack === '' ? '' : ` (${lack})`}${more}`,
      [lack || error, `${printableCut(command, 80)} failed${agent === undefined ? '' : ' in a subagent'}${more}`]
        .filter(Boolean)
        .join('; '),
    );
    return { ...failure, cause: 'check' };
  }
  const others = checks.filter(({ isSyntax }) => isSyntax !== true);
  const lastCheck = lastSeenCheck(others);
  const [empty] = others;
  if (lastCheck === undefined) {
    const { isRefused = false, isWhole = false, text: lost, why: lostWhy = lost } = lostOf(last);
    const syntax = lastSeenCheck(checks);
    const only =
      syntax === undefined
        ? ''
        : `only a check of the syntax passed (${placeText(syntax)}, ${printableCut(syntax.command, 80)})`;
    const checked = empty === undefined ? only : `its ${checkText(empty)} ${stateText(empty)}`;
    const end = answered(
      [checked || 'no check that coxswain recognises', lost].filter(Boolean).join('; '),
      [
        MISSING[answer],
        empty === undefined ? only : `its check ${stateText(empty)}: ${printableCut(empty.command, 80)}`,
        lostWhy,
      ]
        .filter(Boolean)
        .join('; '),
      lost === '' ? empty?.isRefused === true : isRefused,
    );
    return isWhole ? { ...end, cause: 'calls' } : end;
  }
  const changes = last.changes?.filter((one) => isChangeAfter(one, lastCheck)) ?? [];
  const change = changes.toSorted((a, b) => (isLater(a, b) ? 1 : -1)).at(-1);
  const passed = `its last ${checkText(lastCheck)} passed${change === undefined ? '' : beforeText(change)}`;
  if (answer === 'none' || change !== undefined) return answered(passed);
  if (failedCall > (lastCheck.agent === undefined ? lastCheck.number : 0))
    return answered(
      `its last call (call ${failedCall}, ${printableCut(call, 80)}) failed after its last check had passed`,
    );
  const unknown = others.findLast((check) => isUnknown(check) && isLater(check, lastCheck));
  const later = unknown === undefined ? '' : `; a later ${checkText(unknown)} ${stateText(unknown)}`;
  return { verdict: 'worked', evidence: `${ANSWERS[answer]}, and ${passed}${later}`, why: `${passed}${later}`, answer };
}

/** A check that names a text, such as that of a formatter, stands for this text only until it changes. */
function isChangeAfter(change: LastChange, check: LastCheck): boolean {
  const { file, from = 0, number, taskFrom = number } = change;
  if (change.agent !== check.agent) return isLater(change, check);
  if (from > check.number) return false;
  const isNamed = check.command.includes(file.slice(file.lastIndexOf('/') + 1));
  return (isNamed ? number : taskFrom) > check.number;
}

function beforeText(change: LastChange): string {
  const { file } = change;
  const parts = file.split('/');
  const path = parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : file;
  return ` before its last change (${placeText(change)}, ${path.slice(-80)})`;
}

const CUT_OFF: ReadonlySet<string> = new Set(['error', 'limit', 'aborted', 'interrupted']);

export function isCutOff({ outcome, reason }: Pick<RunOutcome, 'outcome' | 'reason'>): boolean {
  return reason === undefined ? CUT_OFF.has(outcome) : reason !== 'answered';
}

/** Says if most of the work or the last call was refused, as in a headless run without permissions, or most failed. */
function lostOf(last: LastAct): {
  readonly text: string;
  readonly why?: string;
  readonly isRefused?: boolean;
  /** True if every call failed or was refused. */
  readonly isWhole?: boolean;
} {
  const { call = '', calls = 0, errors = 0, isRefused = false, refused = 0, unanswered } = last;
  if (unanswered !== undefined) return { text: 'its question got no answer' };
  // Without a last call, the agent has answered another message since then.
  const isOpen = call !== '';
  const of = `of its ${countOf(calls, 'call')}`;
  if (isOpen && isRefused && refused < 2) {
    const which = calls === 1 ? 'only' : 'last';
    return {
      text: `its ${which} call (${printableCut(call, 80)}) was refused`,
      why: refusalText(last),
      isRefused: true,
    };
  }
  if (calls === 1 && refused > 0) return { text: 'its only call was refused', isRefused: isOpen };
  if (refused > 0 && 2 * refused >= calls)
    return {
      text: `${countText(refused)} ${of} ${refused === 1 ? 'was' : 'were'} refused`,
      isRefused: isOpen && (isRefused || 2 * refused > calls),
    };
  if (errors === 0 || 2 * (errors + refused) < calls) return { text: '' };
  const text = calls === 1 ? 'its only call failed' : `${countText(errors)} ${of} failed`;
  if (!isOpen || errors + refused < calls) return { text };
  const { callError } = last;
  const error = callError === undefined ? '' : `: ${callError}`;
  return { text, why: `${WORDS.cause.calls}: ${printableCut(call, 30)}${error}`, isWhole: true };
}

/** The result of a check of unknown result, as the end of a sentence. */
function stateText(check: LastCheck): string {
  return `${check.isHidden === true || check.isRefused === true ? 'was ' : ''}${checkResult(check)}`;
}

function checkText(check: LastCheck): string {
  return `check (${placeText(check)}, ${printableCut(check.command, 80)})`;
}

function placeText({ agent, number }: WorkPlace): string {
  return `call ${number}${agent === undefined ? '' : ' of a subagent'}`;
}
