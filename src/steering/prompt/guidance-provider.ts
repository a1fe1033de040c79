import type { Json } from '../../base/json.ts';
import type { ClassificationResult, DecisionPoint } from '../../records/guidance.ts';
import type { Session } from '../../session/session.ts';
import type { TrajectoryView } from './trajectory-view.ts';
import type { SeenCall } from './seen-call.ts';
import type { Prompt, RenderedPrompt } from './prompt.ts';

/** A tool call that the model asked for and that has not run yet. */
export interface PendingToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Json;
}

/** A prompt that may declare guidance. */
interface GuidancePrompt extends Prompt {
  /** Default: none. */
  readonly guidanceProviders?: readonly GuidanceProviderConfig[];
}

/** The situation at a decision point, as classifiers and providers see it. For reading only. */
export interface GuidanceContext {
  readonly session: Session;
  readonly prompt: GuidancePrompt;
  /** The prompt as last rendered; absent before the first time. */
  readonly renderedPrompt?: RenderedPrompt;
  readonly trajectory: TrajectoryView;
  /** Calls about to run; empty at every other point. */
  readonly pendingToolCalls: readonly PendingToolCall[];
  /** Text of the model's last answer; absent before the first. */
  readonly lastResponse?: string;
  /** Model answers so far. Caps per turn count by it, so a host without turns passes its number of calls. */
  readonly turnCount: number;
  /** Tool calls so far. */
  readonly toolCallCount: number;
  /**
   * The newest `count` calls of the current prompt, oldest first.
   *
   * @throws CoxswainError "invalid-argument" when `count` is not a whole number from 0 to 1,000 (what is retained)
   */
  recentCalls(count: number): readonly SeenCall[];
  /** Unix milliseconds. The only time a provider may look at. */
  readonly nowMs: number;
  readonly decisionPoint: DecisionPoint;
}

/** What `provide` gives: a `GuidanceInjection` whose priority and category may be left out. */
export interface GuidanceDraft {
  /** Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** 1 to 500 characters. */
  readonly content: string;
  /** A whole number, lower comes first; default 100. */
  readonly priority?: number;
  /** 1 to 64 characters; default: the provider's category. */
  readonly category?: string;
}

/**
 * Says something short before a decision, when it applies. Users write their own: a plain object. Both methods are
 * synchronous and depend on the context alone. Either may throw or return nonsense: that provider then stays silent,
 * the fault is recorded, and the next one still runs.
 */
export interface GuidanceProvider {
  /** Unique among a prompt's providers; caps count by it. */
  readonly name: string;
  /** Default category of what it says, such as `diagnostic`. */
  readonly category: string;
  /** Where it speaks unless its configuration says otherwise; absent: at every point. */
  readonly decisionPoints?: readonly DecisionPoint[];
  /** Asked at every decision point: microseconds, no calls elsewhere. */
  classify(context: GuidanceContext): ClassificationResult;
  /** Asked only when `classify` found it relevant with enough confidence. Undefined says nothing after all. */
  provide(context: GuidanceContext): GuidanceDraft | undefined;
}

/** A provider together with how often it may speak. */
export interface GuidanceProviderConfig {
  readonly provider: GuidanceProvider;
  /** Most items of this provider a turn, a whole number from 1; default 3. */
  readonly maxPerTurn?: number;
  /** Least confidence, inclusive, 0 to 1; default 0.5. */
  readonly minConfidence?: number;
  /** Default: the provider's own. */
  readonly decisionPoints?: readonly DecisionPoint[];
  /** After it spoke it stays silent for the rest of that turn and this many turns more; default 0, no pause at all. */
  readonly cooldownTurns?: number;
  /** Most items of this provider a run; default: no limit. */
  readonly maxPerRun?: number;
}
