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

/** Where the severity of what was said lately is going. */
export type SeverityTrend = 'rising' | 'easing' | 'steady';

/**
 * What a feedback provider may look at. Counts, calls and history are those of the current prompt; a tool call that
 * names no prompt counts under every prompt. A plain object: one of one's own may be spread from another.
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
  /** The time of this evaluation in Unix milliseconds: take "now" from here, never from a clock. */
  readonly nowMs: number;
  readonly budget: Budget | undefined;
  readonly usage: BudgetUsage | undefined;
  readonly trajectory: TrajectoryView | undefined;
  /** The pattern for which `onPattern` fired; undefined when another condition did alone. */
  readonly triggerPattern: TrajectoryPattern | undefined;
  /** The newest feedback of any provider. */
  readonly lastFeedback: StoredFeedback | undefined;
  /** The newest feedback of the provider that is asked. */
  readonly lastOwnFeedback: StoredFeedback | undefined;
  /** Tool calls that came back, exact. */
  readonly toolCallCount: number;
  /**
   * Tool calls since what `everyNCalls` counts from: the newest feedback or assessment of anyone under cadence
   * `shared`, of the provider itself under `per-provider`; all of them when there is none. Exact.
   */
  toolCallsSinceLastFeedback(): number;
  /**
   * The newest `count` tool calls, oldest first.
   *
   * @throws CoxswainError "invalid-argument" when `count` is not a whole number from 0 to 1,000 (what is retained)
   */
  recentToolCalls(count: number): readonly ToolInvoked[];
  /**
   * The same calls as providers of both kinds see them: target, arguments, result, cause of a failure.
   *
   * @throws CoxswainError "invalid-argument" as `recentToolCalls`
   */
  recentCalls(count: number): readonly SeenCall[];
  /**
   * The share of failures among the newest `window` tool calls, 0 to 1; 0 when there is none.
   *
   * @throws CoxswainError "invalid-argument" as `recentToolCalls`
   */
  errorRate(window: number): number;
  /**
   * The newest feedback or assessment against the mean severity of up to four before it: `rising` when it is more
   * severe, `easing` when less, `steady` when neither or when nothing was said before. Looks at the last 64 pieces of the
   * session.
   */
  severityTrend(): SeverityTrend;
}
