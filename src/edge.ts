/**
 * The public API of `coxswain/edge`: sessions, analysis, feedback and guidance in memory, for runtimes without Node's modules.
 * A separate copy in one file: objects of `coxswain` are not instances of its classes.
 */
export type { Clock } from './core/base/clock.ts';
export { deadlineAfter, isExpired, remainingMs, type Deadline } from './core/base/deadline.ts';
export { CoxswainError } from './core/base/error.ts';
export type { TrajectoryPattern } from './core/records/trajectory-pattern.ts';
export type { TrajectoryPayload, TrajectoryRecord } from './core/records/trajectory-record.ts';
export { decodeRecord, parseRecord, encodeRecord } from './core/records/decode-record.ts';

export { createSession, restoreSession } from './core/session/create-session.ts';
export { defineEvent } from './core/session/define-event.ts';
export { defineSlice, type Slice, amend, append, clear, extend, none, replace } from './core/session/define-slice.ts';
export type { Session, SessionOptions } from './core/session/session.ts';
export { ToolInvoked, toolInvoked, ToolInvokedEvent, type ToolInvocation } from './core/session/tool-invoked.ts';

export type { PatternDetector, Sighting } from './core/detect/patterns/pattern-detector.ts';
export { TrajectoryAnalysis, type TrajectoryAnalysisOptions } from './core/detect/patterns/trajectory-analysis.ts';
export { defaultDetectors } from './core/detect/detectors/default-detectors.ts';
export { RunView, viewOf } from './core/facts/run-view.ts';

export { definePrompt } from './core/steering/prompt/define-prompt.ts';
export { standardSteering } from './core/steering/standard-steering.ts';

export type { FeedbackProvider, FeedbackProviderConfig } from './core/steering/prompt/feedback-provider.ts';
export { collectFeedback } from './core/steering/feedback/evaluate-feedback.ts';
export { createFeedbackContext } from './core/steering/feedback/advice-context.ts';
export { deadlineFeedback } from './core/steering/feedback/built-in-feedback.ts';
export {
  driftFeedback,
  errorCascadeFeedback,
  stallFeedback,
  patternFeedback,
} from './core/steering/feedback/pattern-feedback.ts';
export { evaluateFeedback } from './core/steering/feedback/evaluate-feedback.ts';
export { Feedback, FeedbackEvent } from './core/steering/feedback/advice-slices.ts';
export { prepareFeedback } from './core/steering/feedback/speaker.ts';
export { renderFeedback } from './core/steering/feedback/check-draft.ts';

export type { ContextSize } from './core/facts/context-tokens.ts';
export type { GuidanceContext, GuidanceProvider } from './core/steering/prompt/guidance-provider.ts';
export { collectGuidance, formatGuidance } from './core/steering/guidance/evaluate-guidance.ts';
export { createGuidanceContext } from './core/steering/feedback/advice-context.ts';
export { defineGuidance } from './core/steering/guidance/define-guidance.ts';
export { doomLoopGuidance } from './core/steering/guidance/built-in-guidance.ts';
export { EMPTY_GUIDANCE_STATE, evaluateGuidance } from './core/steering/guidance/evaluate-guidance.ts';
export { consultationPrompt, diagnosticSignal } from './core/steering/guidance/built-in-guidance.ts';
export { parallelToolReminder } from './core/steering/guidance/built-in-guidance.ts';
