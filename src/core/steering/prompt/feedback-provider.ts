import type { ContextSize } from '../../facts/context-tokens.ts';
import type { LimitUsed } from '../../facts/limit-used.ts';
import type {
  Observation,
  Severity,
  StoredFeedback,
  StoredAssessment,
  PatternReference,
} from '../../records/spoken-advice.ts';
import type { Budget, BudgetUsage } from '../../base/budget.ts';
import type { Deadline } from '../../base/deadline.ts';
import type { TrajectoryPattern, PatternLevel } from '../../records/trajectory-pattern.ts';
import type { Session } from '../../session/session.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';
import type { Filesystem, PromptResources } from './prompt-resources.ts';
import type { SeenCall } from './prompt-calls.ts';
import type { Prompt, TrajectoryView } from './prompt.ts';
import { type CoxswainError, invalidDefinition } from '../../base/error.ts';

/** Without control and bidirectional characters, at most 2,000 characters per text and rendered. */
export interface FeedbackDraft {
  readonly summary: string;
  /** Default `info`. */
  readonly severity?: Severity;
  /** At most 20; default none. */
  readonly observations?: readonly Observation[];
  /** At most 20; default none. */
  readonly suggestions?: readonly string[];
  /** The pattern that the feedback is about, for noise control. */
  readonly pattern?: PatternReference;
}

/** After a tool call, synchronous. An exception or an invalid response is a fault; the next provider still runs. */
export interface FeedbackProvider {
  /** Unique among the providers of a run: 1 to 64 letters, digits, spaces, `.`, `_`, `-`. */
  readonly name: string;
  /** Used if the configuration has no trigger. */
  readonly defaultTrigger?: FeedbackTrigger;
  /** Called only after the trigger fired. */
  shouldRun(context: FeedbackContext): boolean;
  provide(context: FeedbackContext): FeedbackDraft;
}

/** Binds a provider to a prompt or a run. */
export interface FeedbackProviderConfig {
  readonly provider: FeedbackProvider;
  /** Default: the provider's `defaultTrigger`. A trigger is required here or in the provider. */
  readonly trigger?: FeedbackTrigger;
}

export type SeverityTrend = 'rising' | 'easing' | 'steady';

/**
 * The context of a feedback provider. Counts, calls and history are those of the current prompt. A tool call without a
 * prompt counts under every prompt. The context is a plain object, which may be spread into another.
 */
export interface FeedbackContext {
  readonly session: Session;
  readonly prompt: Prompt;
  readonly promptName: string;
  readonly resources: PromptResources;
  readonly filesystem: Filesystem | undefined;
  readonly deadline: Deadline | undefined;
  /** Unix milliseconds. Use this instead of a clock, so that a replay gives the same result. */
  readonly nowMs: number;
  readonly budget: Budget | undefined;
  readonly usage: BudgetUsage | undefined;
  /** Undefined before the first response with tokens, and after a compaction. */
  readonly context: ContextSize | undefined;
  /** The limits of the model's provider of which the host reported that half or more is used, one per window. */
  readonly limits?: readonly LimitUsed[];
  readonly trajectory: TrajectoryView | undefined;
  /** The pattern for which `onPattern` fired. Undefined if only other conditions fired. */
  readonly triggerPattern: TrajectoryPattern | undefined;
  /** The latest feedback of any provider. */
  readonly lastFeedback: StoredFeedback | undefined;
  /** The latest feedback of this provider. */
  readonly lastOwnFeedback: StoredFeedback | undefined;
  /** The exact number of finished tool calls. */
  readonly toolCallCount: number;
  /** Tool calls since the start or the latest feedback or assessment: of anyone (`shared`), or of this provider. Exact. */
  toolCallsSinceLastFeedback(): number;
  /** The newest `count`, oldest first. Throws CoxswainError "invalid-argument" if it is not a whole number from 0 to 1,000. */
  recentToolCalls(count: number): readonly ToolInvoked[];
  /** The same calls with target, arguments, result and cause of a failure. Throws CoxswainError as `recentToolCalls`. */
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

export type ObserverTrigger = FeedbackTrigger;

export type AssessmentDraft = FeedbackDraft;

/** The context of a feedback provider, plus the history of assessments. */
export interface ObserverContext extends FeedbackContext {
  /** The latest assessment of any observer under this prompt. */
  readonly lastAssessment: StoredAssessment | undefined;
  /** Returns the exact number of tool calls since that assessment, or since the start. */
  toolCallsSinceLastAssessment(): number;
}

/** Assesses the agent's calls after a tool call. Synchronous. Faults are handled like those of a feedback provider. */
export interface TrajectoryObserver {
  /** Unique among the observers of a run: 1 to 64 letters, digits, spaces, `.`, `_`, `-`. */
  readonly name: string;
  /** Used if the configuration has no trigger. */
  readonly defaultTrigger?: ObserverTrigger;
  /** Called only after the trigger fired. */
  shouldRun(session: Session, context: ObserverContext): boolean;
  observe(session: Session, context: ObserverContext): AssessmentDraft;
}

/** Binds an observer to a prompt or a run. */
export interface ObserverConfig {
  readonly observer: TrajectoryObserver;
  /** Default: the observer's `defaultTrigger`. A trigger is required here or in the observer. */
  readonly trigger?: ObserverTrigger;
}

/** The ASCII part of `isName`. Compiling Unicode classes takes 1 ms, which matters in a short-lived process. */
const ASCII_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

interface ConfiguredSpeaker {
  readonly name: string;
  readonly trigger: FeedbackTrigger | undefined;
}

/**
 * @throws CoxswainError "invalid-definition" if a name is not 1 to 64 letters, digits, spaces, `.`, `_` and `-` or is
 * not unique, or a trigger is missing or out of range
 */
export function checkSpeakers(kind: 'feedback provider' | 'observer', speakers: readonly ConfiguredSpeaker[]): void {
  const names = new Set<string>();
  for (const { name, trigger } of speakers) {
    const owner = `${kind} ${JSON.stringify(name)}`;
    if (!isName(name))
      throw invalidDefinition(`${owner}: a name is 1 to 64 letters, digits, spaces, ".", "_" or "-"`, { name });
    if (names.has(name)) throw invalidDefinition(`${owner} is configured twice; give each its own name`, { name });
    if (trigger === undefined)
      throw invalidDefinition(`${owner} has no trigger; say when it runs, as in { everyNCalls: 10 }`, { name });
    names.add(name);
    checkTrigger(owner, trigger);
  }
}

function isName(name: string): boolean {
  return ASCII_NAME.test(name) || /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(name);
}

/** Selects patterns that meet all conditions. `{}` selects every pattern of level `warn` and above. */
export interface PatternTrigger {
  readonly kind?: string;
  /** Minimum level; default `warn`. */
  readonly level?: PatternLevel;
  readonly stuck?: boolean;
}

/** Determines when a provider or observer runs. It runs if any condition is met. A trigger without conditions never fires. */
export interface FeedbackTrigger {
  /** Fires after this many tool calls since the last feedback; a whole number up to 1,000; 0: never. */
  readonly everyNCalls?: number;
  /** Fires after this many seconds since the last feedback, and immediately the first time; 0: never. */
  readonly everyNSeconds?: number;
  /** Fires if an event of this type was dispatched and no provider has run for it yet. */
  readonly onSessionEvent?: SessionEventKind;
  /** Once per pattern and level, and again if its count doubled, it came back, or the conversation was compacted. */
  readonly onPattern?: PatternTrigger;
  /** Fires once per run, as soon as `Filesystem.exists` returns true for this path. */
  readonly onFileCreated?: string;
}

/** An event type that `defineEvent` created. */
export interface SessionEventKind {
  readonly eventName: string;
}

/** @throws CoxswainError "invalid-definition" for the first condition outside its range; the message names `owner` */
function checkTrigger(owner: string, trigger: FeedbackTrigger): void {
  const { everyNCalls, everyNSeconds, onFileCreated, onSessionEvent } = trigger;
  const limit = ToolInvoked.retain;
  if (everyNCalls !== undefined && !(Number.isInteger(everyNCalls) && everyNCalls >= 0 && everyNCalls <= limit)) {
    throw invalidTrigger(owner, 'everyNCalls', everyNCalls, `a whole number from 0 to ${limit} (calls retained)`);
  }
  if (everyNSeconds !== undefined && !(Number.isFinite(everyNSeconds) && everyNSeconds >= 0)) {
    throw invalidTrigger(owner, 'everyNSeconds', everyNSeconds, 'a number from 0');
  }
  // JavaScript callers may pass the name of the event or a class.
  const eventName: unknown = onSessionEvent?.eventName;
  if (onSessionEvent !== undefined && typeof eventName !== 'string') {
    throw invalidTrigger(owner, 'onSessionEvent', typeof onSessionEvent, 'an event type that defineEvent created');
  }
  if (onFileCreated === '') throw invalidTrigger(owner, 'onFileCreated', '', 'a path');
}

function invalidTrigger(owner: string, condition: string, value: number | string, expected: string): CoxswainError {
  const message = `trigger of ${owner}: ${condition} must be ${expected}, got ${JSON.stringify(value)}`;
  return invalidDefinition(message, { owner, condition, value });
}
