import type { StoredAssessment } from '../../records/assessment.ts';
import type { Session } from '../../session/session.ts';
import type { FeedbackContext } from './feedback-context.ts';
import type { FeedbackDraft } from './feedback-provider.ts';
import type { FeedbackTrigger } from './feedback-trigger.ts';

/** When an observer is asked: the same conditions as for a feedback provider. */
export type ObserverTrigger = FeedbackTrigger;

/** What an observer says. */
export type AssessmentDraft = FeedbackDraft;

/** What an observer may look at: all that a feedback provider sees, and its own history. */
export interface ObserverContext extends FeedbackContext {
  /** The newest assessment of any observer under this prompt. */
  readonly lastAssessment: StoredAssessment | undefined;
  /** Tool calls since then; all of them when there is none. Exact. */
  toolCallsSinceLastAssessment(): number;
}

/** Assesses the agent's trajectory after a tool call. A plain, synchronous object; it fails as a provider fails. */
export interface TrajectoryObserver {
  /** Unique among the observers of a run: 1 to 64 letters, digits, spaces, `.`, `_`, `-`. */
  readonly name: string;
  /** Used when the configuration has no trigger. */
  readonly defaultTrigger?: ObserverTrigger;
  /** Further filtering, asked only after the trigger fired. */
  shouldRun(session: Session, context: ObserverContext): boolean;
  observe(session: Session, context: ObserverContext): AssessmentDraft;
}

/** Binds an observer to a prompt or a run. */
export interface ObserverConfig {
  readonly observer: TrajectoryObserver;
  /** Default: the observer's `defaultTrigger`; one of them is needed. */
  readonly trigger?: ObserverTrigger;
}
