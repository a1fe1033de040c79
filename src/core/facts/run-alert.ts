import { checkCommandsOf, commandLineOf } from './check-command.ts';
import { countOf, countText, periodText, usdText } from '../base/number-text.ts';
import type { ContextSize } from './context-tokens.ts';
import type { RunCall } from './run-call.ts';
import { WAITS_FOR_ANSWER, WAITS_FOR_DECISION } from './run-verdict.ts';
import type { RunView } from './run-view.ts';

/** After how long a clock speaks about a run, in milliseconds. */
interface AlertTimes {
  /** A run that waits for a person. Default: two minutes; in recorded sessions, people at the keyboard answered 8 of 11 questions before. */
  readonly waitingMs: number;
  /** A run with an open call, or without the answer of its model. Default: ten minutes. */
  readonly silentMs: number;
  /**
   * The open call is known to take long: a check, a build or another agent. Of 97 recorded sessions, three ran their
   * tests for 15 to 19 minutes.
   */
  readonly longMs: number;
}

const ALERT_TIMES: AlertTimes = { waitingMs: 120_000, silentMs: 600_000, longMs: 1_800_000 };

export interface AlertNow {
  readonly nowMs: number;
  /** The latest sign of life that is no record of the run: its file grew, a child run worked, the machine woke up. */
  readonly activeAtMs?: number;
  readonly hostWaitsFor?: string | undefined;
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
  view: Pick<RunView, 'lastAct' | 'lastAtMs' | 'outcome' | 'runningCall'>,
  { activeAtMs = 0, hostWaitsFor, nowMs }: AlertNow,
  times: AlertTimes = ALERT_TIMES,
): RunAlert | undefined {
  const { lastAct, lastAtMs: sinceMs, outcome, runningCall } = view;
  if (outcome !== undefined || sinceMs === 0) return undefined;
  const silentMs = nowMs - Math.max(sinceMs, activeAtMs);
  const { call = '', isAnswer = false, isIdle = false, isRunning = false, waitsFor = '' } = lastAct;
  const waits = waitsFor === '' ? (hostWaitsFor ?? '') : waitsFor;
  if (waits !== '') {
    if (nowMs - sinceMs < times.waitingMs) return undefined;
    // A question is itself the call.
    const isAsking = waits.startsWith(WAITS_FOR_ANSWER) || waits === WAITS_FOR_DECISION;
    const about = isRunning && !isAsking ? `: ${call}` : '';
    return { kind: 'waiting', text: `waits for ${waits.replace(/^wait(?:s|ing) for /, '')}${about}`, sinceMs };
  }
  if (isAnswer || isIdle) return undefined;
  const isLong = runningCall !== undefined && takesLong(runningCall);
  if (silentMs < (isLong ? times.longMs : times.silentMs)) return undefined;
  const silence = `has had no record for ${periodText(silentMs)}`;
  if (!isRunning) return { kind: 'silent', text: `${silence}: its model has not answered`, sinceMs };
  const cause = isLong ? 'is still running' : 'has no result; it hangs or waits for a permission';
  return { kind: 'silent', text: `${silence}: "${call}" ${cause}`, sinceMs };
}

/** What a session and its subagents did lately. */
export interface RecentWork {
  readonly atMs: number;
  readonly costUsd: number;
  /** 1 for the start of a subagent. */
  readonly children: number;
}

/** The bounds of `pressureOf`. */
const PRESSURE = {
  /** Of 97 recorded sessions, 2 filled three quarters of the window: Claude Code compacts at about 78 %. */
  contextShare: 0.75,
  spanMs: 600_000,
  /** The most in the 97 recorded sessions was $6.14 in ten minutes. */
  costUsd: 15,
  /** The recorded sessions started none in a file of their own. */
  children: 20,
} as const;

const MINUTE_MS = 60_000;

/** Returns the work of the last ten minutes, at most one entry a minute. */
export function withWork(before: readonly RecentWork[], work: RecentWork): readonly RecentWork[] {
  const last = before.at(-1);
  if (last === undefined || Math.floor(last.atMs / MINUTE_MS) !== Math.floor(work.atMs / MINUTE_MS))
    return [...recentOf(before, work.atMs), work];
  const { atMs, children, costUsd } = last;
  return [...before.slice(0, -1), { atMs, costUsd: costUsd + work.costUsd, children: children + work.children }];
}

function recentOf(work: readonly RecentWork[], nowMs: number): readonly RecentWork[] {
  return work.filter(({ atMs }) => nowMs - atMs < PRESSURE.spanMs);
}

export interface RunPressure {
  readonly kind: 'context' | 'runaway';
  /** Continues "The run …". */
  readonly text: string;
}

/** Says that the context of a run is nearly full, or that it spends or starts subagents faster than sessions do. */
export function pressureOf(
  context: ContextSize | undefined,
  work: readonly RecentWork[],
  nowMs: number,
): readonly RunPressure[] {
  const found: RunPressure[] = [];
  const { share = 0, tokens = 0, window = 0 } = context ?? {};
  if (share >= PRESSURE.contextShare) {
    const sizes = `${countText(tokens)} of ${countText(window)} tokens`;
    found.push({ kind: 'context', text: `has filled ${Math.round(share * 100)} % of its model's context: ${sizes}` });
  }
  const recent = recentOf(work, nowMs);
  const costUsd = recent.reduce((sum, one) => sum + one.costUsd, 0);
  const children = recent.reduce((sum, one) => sum + one.children, 0);
  const facts = [
    ...(costUsd >= PRESSURE.costUsd ? [`spent ${usdText(costUsd)}`] : []),
    ...(children >= PRESSURE.children ? [`started ${countOf(children, 'subagent')}`] : []),
  ];
  if (facts.length > 0)
    found.push({ kind: 'runaway', text: `has ${facts.join(' and ')} in ${periodText(PRESSURE.spanMs)}` });
  return found;
}

function takesLong({ args, tool }: RunCall): boolean {
  if (AGENT_TOOL.test(tool) || checkCommandsOf(args).length > 0) return true;
  return WAITS.test(commandLineOf(args) ?? '');
}
