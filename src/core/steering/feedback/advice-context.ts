import type { LimitUsed } from '../../facts/limit-used.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import { invalidArgument } from '../../base/error.ts';
import { SEVERITIES, type StoredFeedback, type DecisionPoint } from '../../records/spoken-advice.ts';
import type { FeedbackContext, SeverityTrend } from '../prompt/feedback-provider.ts';
import type { TrajectoryView } from '../prompt/prompt.ts';
import { Filesystem } from '../prompt/prompt-resources.ts';
import { callOf, promptCallCount, promptCalls } from '../prompt/prompt-calls.ts';
import { sessionTrajectory } from './session-trajectory.ts';
import type { FeedbackCadence as CadenceMode } from '../prompt/prompt-template.ts';
import type { Session } from '../../session/session.ts';
import {
  findLast,
  type LastSpoken,
  latestSpoken,
  rebuildCadence,
  recentlySpoken,
  CadenceSlice,
  PendingObserverTrigger,
  pendingTriggers,
} from './advice-slices.ts';
import { present } from '../../base/json.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';
import { definePrompt } from '../prompt/define-prompt.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import type { Speaker } from './speaker.ts';

const TimeAsked: EventType<null> = defineEvent('feedback/time-asked');

/** Dispatches an event to read it. Throws CoxswainError "invalid-argument" inside a dispatch, where it would have to wait. */
export function sessionNowMs(session: Session): number {
  let atMs: number | undefined;
  const unsubscribe = session.subscribe(TimeAsked, (event) => {
    atMs = event.atMs;
  });
  session.dispatch(TimeAsked());
  unsubscribe();
  if (atMs !== undefined) return atMs;
  throw invalidArgument('feedback inside a dispatch has no clock to read: pass nowMs');
}

export interface GuidanceContextOptions extends Partial<
  Pick<GuidanceContext, 'pendingToolCalls' | 'lastResponse' | 'renderedPrompt' | 'trajectory' | 'turnCount'>
> {
  /** Default: a prompt named `session/default`, without providers. */
  readonly prompt?: GuidanceContext['prompt'];
  /** Default `pre_tool_selection`. */
  readonly decisionPoint?: DecisionPoint;
  /** Unix milliseconds; default: the session's time. */
  readonly nowMs?: number;
}

const NO_PROMPT = definePrompt({ ns: 'session', key: 'default' });

/**
 * Creates the context for `collectGuidance` and `evaluateGuidance` from a session without a run. Dispatch the calls first,
 * because the trajectory is computed from them.
 *
 * @throws CoxswainError "invalid-argument" inside a dispatch without `nowMs` Cost: as `sessionTrajectory`.
 */
export function createGuidanceContext(session: Session, options: GuidanceContextOptions = {}): GuidanceContext {
  const { prompt = NO_PROMPT, trajectory = sessionTrajectory(session), lastResponse, renderedPrompt } = options;
  return {
    session,
    prompt,
    trajectory,
    pendingToolCalls: options.pendingToolCalls ?? [],
    turnCount: options.turnCount ?? trajectory.turns,
    toolCallCount: session.slice(ToolInvoked).total(),
    recentCalls: (count) => promptCalls(session, prompt.name, count).map(callOf),
    nowMs: options.nowMs ?? sessionNowMs(session),
    decisionPoint: options.decisionPoint ?? 'pre_tool_selection',
    ...present({ lastResponse, renderedPrompt }),
  };
}

export interface FeedbackContextInput
  extends
    Pick<FeedbackContext, 'prompt' | 'session' | 'nowMs'>,
    Partial<Pick<FeedbackContext, 'deadline' | 'budget' | 'usage' | 'context'>> {
  readonly limits?: readonly LimitUsed[] | undefined;
  /** Default: computed from the session. */
  readonly trajectory?: TrajectoryView | undefined;
}

const TREND_WINDOW = 4;
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
    context: input.context,
    limits: input.limits ?? [],
    trajectory: input.trajectory ?? sessionTrajectory(session),
    lastFeedback: toFeedback(latestSpoken(session, promptName, ({ source }) => source === 'feedback')),
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

export function contextFor(
  speaker: Speaker,
  triggers: readonly { readonly condition: string; readonly pattern?: TrajectoryPattern }[],
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

/** Created once per evaluation, so that feedback of one provider does not prevent that of another. */
export interface Situation extends Pick<FeedbackContext, 'session' | 'promptName' | 'nowMs' | 'trajectory'> {
  readonly cadence: CadenceMode;
  readonly callCount: number;
  readonly latestAdvice: readonly LastSpoken[];
  readonly pendingEventNames: readonly string[];
  readonly fileExists: (path: string) => boolean;
}

/** @param filesCreated  paths known to exist; the filesystem is read only if this is undefined */
export function createSituation(
  source: Pick<FeedbackContext, 'session' | 'promptName' | 'nowMs' | 'trajectory' | 'filesystem'>,
  cadence: CadenceMode,
  filesCreated: readonly string[] | undefined,
): Situation {
  const { session, promptName, nowMs, trajectory, filesystem } = source;
  return {
    session,
    promptName,
    nowMs,
    cadence,
    trajectory,
    callCount: promptCallCount(session, promptName),
    latestAdvice: session.slice(CadenceSlice).all(),
    pendingEventNames: pendingTriggers(session.slice(PendingObserverTrigger)),
    fileExists: (path) =>
      filesCreated === undefined ? (filesystem?.exists(path) ?? false) : filesCreated.includes(path),
  };
}

/** The last feedback of any speaker, or its own, under this prompt. */
export function lastSpokenFor(
  speaker: Pick<Speaker, 'source' | 'provider'>,
  situation: Pick<Situation, 'cadence' | 'latestAdvice' | 'promptName'>,
): LastSpoken | undefined {
  const { cadence, promptName } = situation;
  return findLast(
    situation.latestAdvice,
    (item) =>
      item.said.promptName === promptName &&
      (cadence === 'shared' || (item.source === speaker.source && item.name === speaker.provider.name)),
  );
}
