import type { StoredAssessment } from '../../records/feedback.ts';
import type { Session } from '../../session/session.ts';
import type { FeedbackContext } from './feedback-context.ts';
import type { FeedbackDraft } from './feedback-provider.ts';
import type { FeedbackTrigger } from './feedback-trigger.ts';

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
