import { checkCommandsOf, commandLineOf } from './check-command.ts';
import { periodText } from '../base/number-text.ts';
import type { RunCall } from './run-call.ts';
import { failedRequestsText, waitingText, type RunVerdict } from './run-verdict.ts';
import type { RunView } from './run-view.ts';

/** After how long a clock speaks about a run, in milliseconds. */
export const ALERT_TIMES = {
  /** A run that waits for a person; in recorded sessions, people at the keyboard answered 8 of 11 questions before. */
  waitingMs: 120_000,
  /** A run with an open call, or without the answer of its model. */
  silentMs: 600_000,
  /** For an open check, build or agent. Of 97 recorded sessions, three ran their tests for 15 to 19 minutes. */
  longMs: 1_800_000,
} as const;

export interface AlertNow {
  readonly nowMs: number;
  /** The latest sign of life that is no record of the run: its file grew, a child run worked, the machine woke up. */
  readonly activeAtMs?: number;
  readonly hostWaitsFor?: string | undefined;
  /** True if its process is known to run. */
  readonly isAlive?: boolean;
}

export interface RunAlert {
  readonly kind: 'waiting' | 'silent';
  /** Continues "The run …": `waits for your answer`, `has had no record for 12 min: …`. May contain a command of the agent. */
  readonly text: string;
  readonly sinceMs: number;
}

const AGENT_TOOL = /agent|^task$/i;
const WAITS = /(?:^|[;&|]\s*)(?:sleep|wait|watch|tail\s+-[a-zA-Z]*[fF])\b/;

/**
 * It waits for a person, or nothing was recorded for long while a call or an answer is open. Undefined for a run that
 * ended or answered, and for one without times.
 */
export function alertOf(
  view: Pick<RunView, 'lastAct' | 'lastAtMs' | 'outcome'> & Partial<Pick<RunView, 'runningCall'>>,
  { activeAtMs = 0, hostWaitsFor, isAlive = false, nowMs }: AlertNow,
): RunAlert | undefined {
  const { lastAct, lastAtMs: sinceMs, outcome, runningCall } = view;
  if (outcome !== undefined || sinceMs === 0) return undefined;
  const silentMs = nowMs - Math.max(sinceMs, activeAtMs);
  const { call = '', failingSinceMs = 0, isAnswer = false, isIdle = false, isRunning = false, waitsFor = '' } = lastAct;
  const waits = waitsFor === '' ? (hostWaitsFor ?? '') : waitsFor;
  if (waits !== '') {
    if (nowMs - sinceMs < ALERT_TIMES.waitingMs) return undefined;
    const about = waitingText({ ...lastAct, waitsFor: waits }).replace(/^wait(?:s|ing) for /, '');
    return { kind: 'waiting', text: `waits for ${about}`, sinceMs };
  }
  if (isAnswer || isIdle) return undefined;
  // A request that is made again is no sign of life.
  if (failingSinceMs > 0 && !isRunning) {
    if (nowMs - failingSinceMs < ALERT_TIMES.silentMs) return undefined;
    const text = `has had no answer for ${periodText(nowMs - failingSinceMs)}, ${failedRequestsText(lastAct)}`;
    return { kind: 'silent', text, sinceMs: failingSinceMs };
  }
  const isLong = lastAct.isLong ?? (runningCall !== undefined && takesLong(runningCall));
  if (silentMs < (isLong ? ALERT_TIMES.longMs : ALERT_TIMES.silentMs)) return undefined;
  const silence = `has had no record for ${periodText(silentMs)}`;
  if (!isRunning) return { kind: 'silent', text: `${silence}: its model has not answered`, sinceMs };
  const runs = isLong ? 'it runs, hangs' : 'it hangs';
  const may = isAlive
    ? `${runs} or waits for a permission`
    : `${runs}, waits for a permission, or its program has ended`;
  return { kind: 'silent', text: `${silence}: "${call}" has no result; ${may}`, sinceMs };
}

/** Returns true for a check, a build, another agent, or a command that waits. */
export function takesLong({ args, tool }: RunCall): boolean {
  if (AGENT_TOOL.test(tool) || checkCommandsOf(args).length > 0) return true;
  return WAITS.test(commandLineOf(args) ?? '');
}

/**
 * Why a session needs its person, in the terminal as in the viewer: it waits, it failed or was cut off, it answered
 * although a check or every call failed, it is stuck or silent now, it ended after a refused call, or it asks something. Undefined if it does not.
 */
export function needOf(
  { cause, isRefused, verdict }: Pick<RunVerdict, 'verdict' | 'cause' | 'isRefused'>,
  now: {
    readonly alert: RunAlert['kind'] | undefined;
    readonly asks: boolean;
    readonly isStuck: boolean;
  },
): 'waiting' | 'failed' | 'failing' | 'stuck' | 'refused' | 'asks' | undefined {
  switch (verdict) {
    case 'waiting':
      return 'waiting';
    case 'failed':
    case 'cut_off':
      return 'failed';
    case 'answered':
      if (cause === 'check') return 'failing';
      if (cause === 'calls') return 'failed';
      return isRefused === true ? 'refused' : now.asks ? 'asks' : undefined;
    case 'stopped':
      return isRefused === true ? 'refused' : undefined;
    case 'worked':
      return now.asks ? 'asks' : undefined;
    case 'open':
    case 'unknown':
      if (now.alert === 'waiting') return 'waiting';
      return now.alert === 'silent' || now.isStuck ? 'stuck' : undefined;
    default:
      return undefined;
  }
}
