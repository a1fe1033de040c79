import { invalidArgument } from '../../base/error.ts';
import type { Budget, BudgetUsage } from '../../base/budget.ts';
import type { Deadline } from '../../base/deadline.ts';
import { SEVERITIES, type StoredFeedback } from '../../records/feedback.ts';
import type { FeedbackContext, SeverityTrend } from '../prompt/feedback-context.ts';
import { Filesystem } from '../prompt/prompt-resources.ts';
import { callOf } from '../prompt/seen-call.ts';
import { sessionTrajectory } from '../../detect/detectors/session-trajectory.ts';
import type { TrajectoryView } from '../prompt/trajectory-view.ts';
import type { Prompt } from '../prompt/prompt.ts';
import type { Session } from '../../session/session.ts';
import { type LastSpoken, latestSpoken, rebuildCadence, recentlySpoken } from './feedback-cadence.ts';
import { promptCallCount, promptCalls } from '../prompt/prompt-calls.ts';
import { lastSpokenFor, type Situation } from './situation.ts';
import type { RanSpeaker } from './fired-triggers.ts';

export interface FeedbackContextInput {
  readonly prompt: Prompt;
  readonly session: Session;
  /** Unix milliseconds. */
  readonly nowMs: number;
  readonly deadline?: Deadline | undefined;
  readonly budget?: Budget | undefined;
  readonly usage?: BudgetUsage | undefined;
  /** Default: computed from the session. */
  readonly trajectory?: TrajectoryView | undefined;
}

/** Number of feedback texts and assessments that `severityTrend` compares with the latest one. */
const TREND_WINDOW = 4;
/** Number of items of the session that are searched for them. */
const TREND_DEPTH = 64;

/**
 * Creates a context for all providers. `runFeedbackProviders` derives the context of each provider from it. Cost: O(prompts
 * used + providers and observers).
 *
 * @throws CoxswainError "invalid-argument" if `nowMs` or the deadline is not a finite number
 */
export function createFeedbackContext(input: FeedbackContextInput): FeedbackContext {
  checkTimes(input);
  const { prompt, session } = input;
  const promptName = prompt.name;
  rebuildCadence(session);
  const toolCallCount = promptCallCount(session, promptName);
  const recentToolCalls: FeedbackContext['recentToolCalls'] = (count) => promptCalls(session, promptName, count);
  return {
    session,
    prompt,
    promptName,
    resources: prompt.resources,
    filesystem: prompt.resources.getOptional(Filesystem),
    deadline: input.deadline,
    nowMs: input.nowMs,
    budget: input.budget,
    usage: input.usage,
    trajectory: input.trajectory ?? sessionTrajectory(session),
    lastFeedback: toFeedback(latestSpoken(session, promptName, isFeedback)),
    triggerPattern: undefined,
    lastOwnFeedback: undefined,
    toolCallCount,
    toolCallsSinceLastFeedback: () => toolCallCount - (latestSpoken(session, promptName)?.said.callIndex ?? 0),
    recentToolCalls,
    recentCalls: (count) => recentToolCalls(count).map(callOf),
    errorRate: (window) => {
      const recent = recentToolCalls(window);
      return recent.length === 0
        ? 0
        : recent.filter((call) => !call.success && call.outcome === undefined).length / recent.length;
    },
    severityTrend: () => severityTrend(session, promptName),
  };
}

/** Derives the context of one speaker (a provider or observer). Cost: O(speakers). */
export function contextFor(
  { speaker, triggers }: RanSpeaker,
  context: FeedbackContext,
  situation: Situation,
): FeedbackContext {
  const lastAdvice = lastSpokenFor(speaker, situation);
  const isOwn = (item: LastSpoken): boolean => item.source === speaker.source && item.name === speaker.provider.name;
  return {
    ...context,
    triggerPattern: triggers.find((trigger) => trigger.condition === 'onPattern')?.pattern,
    lastOwnFeedback: toFeedback(latestSpoken(context.session, situation.promptName, isOwn)),
    toolCallsSinceLastFeedback: () => situation.callCount - (lastAdvice?.said.callIndex ?? 0),
  };
}

function isFeedback({ source }: LastSpoken): boolean {
  return source === 'feedback';
}

function toFeedback(spoken: LastSpoken | undefined): StoredFeedback | undefined {
  return spoken?.source === 'feedback' ? spoken.said : undefined;
}

function severityTrend(session: Session, promptName: string): SeverityTrend {
  const ranks = recentlySpoken(session, TREND_DEPTH)
    .filter((item) => item.said.promptName === promptName)
    .slice(-1 - TREND_WINDOW)
    .map((item) => SEVERITIES.indexOf(item.said.severity));
  const newest = ranks.pop();
  if (newest === undefined || ranks.length === 0) return 'steady';
  const mean = ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length;
  if (newest === mean) return 'steady';
  return newest > mean ? 'rising' : 'easing';
}

/** @throws CoxswainError "invalid-argument" as `createFeedbackContext` */
export function checkTimes({ nowMs, deadline }: Pick<FeedbackContextInput, 'nowMs' | 'deadline'>): void {
  if (!Number.isFinite(nowMs)) {
    throw invalidArgument(`nowMs must be a finite number, got ${nowMs}`, { details: { nowMs } });
  }
  // JavaScript callers may pass null or a duration.
  const atMs: unknown = (deadline ?? undefined)?.atMs;
  if ((deadline ?? undefined) === undefined || Number.isFinite(atMs)) return;
  const expected = 'deadline must be { atMs } in Unix milliseconds, as from deadlineAfter(nowMs, { minutes: 20 })';
  throw invalidArgument(`${expected}, got atMs ${String(atMs)}`, { details: { atMs } });
}
