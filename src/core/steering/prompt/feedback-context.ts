import type { Budget, BudgetUsage } from '../../base/budget.ts';
import type { Deadline } from '../../base/deadline.ts';
import type { StoredFeedback } from '../../records/feedback.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { Session } from '../../session/session.ts';
import type { ToolInvoked } from '../../session/tool-invoked.ts';
import type { Filesystem, PromptResources } from './prompt-resources.ts';
import type { SeenCall } from './seen-call.ts';
import type { TrajectoryView } from './trajectory-view.ts';
import type { Prompt } from './prompt.ts';

/** The trend of the severity of recent feedback. */
export type SeverityTrend = 'rising' | 'easing' | 'steady';

/**
 * The context of a feedback provider. Counts, calls and history are those of the current prompt. A tool call without a
 * prompt counts under every prompt. The context is a plain object, which may be spread into another.
 */
export interface FeedbackContext {
  readonly session: Session;
  readonly prompt: Prompt;
  /** `prompt.name`. */
  readonly promptName: string;
  /** `prompt.resources`. */
  readonly resources: PromptResources;
  readonly filesystem: Filesystem | undefined;
  readonly deadline: Deadline | undefined;
  /** Unix milliseconds. Use this instead of a clock, so that a replay gives the same result. */
  readonly nowMs: number;
  readonly budget: Budget | undefined;
  readonly usage: BudgetUsage | undefined;
  readonly trajectory: TrajectoryView | undefined;
  /** The pattern for which `onPattern` fired. Undefined if only other conditions fired. */
  readonly triggerPattern: TrajectoryPattern | undefined;
  /** The latest feedback of any provider. */
  readonly lastFeedback: StoredFeedback | undefined;
  /** The latest feedback of this provider. */
  readonly lastOwnFeedback: StoredFeedback | undefined;
  /** The exact number of finished tool calls. */
  readonly toolCallCount: number;
  /**
   * Returns the number of tool calls since the latest feedback or assessment. With cadence `shared`, that of any provider
   * or observer counts. With `per-provider`, only that of this provider counts. If there was no feedback, calls are counted
   * from the start. Exact.
   */
  toolCallsSinceLastFeedback(): number;
  /**
   * The newest `count` tool calls, oldest first.
   *
   * @throws CoxswainError "invalid-argument" if `count` is not a whole number from 0 to 1,000 (the number retained)
   */
  recentToolCalls(count: number): readonly ToolInvoked[];
  /**
   * The same calls with target, arguments, result and cause of a failure.
   *
   * @throws CoxswainError "invalid-argument" as `recentToolCalls`
   */
  recentCalls(count: number): readonly SeenCall[];
  /**
   * Returns the share of failures among the newest `window` tool calls, 0 to 1. Refused and cancelled calls are not failures.
   * Returns 0 if there are no calls.
   *
   * @throws CoxswainError "invalid-argument" as `recentToolCalls`
   */
  errorRate(window: number): number;
  /**
   * Compares the latest feedback or assessment with the mean severity of up to four earlier ones. Only the last 64 of the
   * session are searched. Returns `rising` if the latest is more severe, `easing` if it is less severe, else `steady`.
   */
  severityTrend(): SeverityTrend;
}
