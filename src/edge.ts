/**
 * The public API of `coxswain/edge`: sessions, analysis, feedback and guidance in memory, for runtimes without Node's modules.
 * A separate copy in one file: objects of `coxswain` are not instances of its classes.
 */
export type { Clock } from './base/clock.ts';
export { deadlineAfter, isExpired, remainingMs, type Deadline } from './base/deadline.ts';
export { CoxswainError } from './base/error.ts';
export type { TrajectoryPattern } from './records/trajectory-pattern.ts';
export type { TrajectoryPayload, TrajectoryRecord } from './records/trajectory-record.ts';
export { decodeRecord, parseRecord } from './records/decode-record.ts';
export { encodeRecord } from './records/encode-record.ts';

export { createSession, restoreSession } from './session/create-session.ts';
export { defineEvent } from './session/define-event.ts';
export { defineSlice, type Slice } from './session/define-slice.ts';
export { amend, append, clear, extend, none, replace } from './session/slice-operation.ts';
export type { Session, SessionOptions } from './session/session.ts';
export { ToolInvoked, toolInvoked, ToolInvokedEvent, type ToolInvocation } from './session/tool-invoked.ts';

export type { PatternDetector, Sighting } from './patterns/pattern-detector.ts';
export { TrajectoryAnalysis, type TrajectoryAnalysisOptions } from './patterns/trajectory-analysis.ts';
export { defaultDetectors } from './patterns/detectors/default-detectors.ts';
export { RunView, viewOf } from './run-view/run-view.ts';

export { definePrompt } from './steering/prompt/define-prompt.ts';
export { standardSteering } from './steering/standard-steering.ts';

export type { FeedbackProvider, FeedbackProviderConfig } from './steering/prompt/feedback-provider.ts';
export { collectFeedback } from './steering/feedback/collect-feedback.ts';
export { createFeedbackContext } from './steering/feedback/create-feedback-context.ts';
export { deadlineFeedback } from './steering/feedback/deadline-feedback.ts';
export { driftFeedback, errorCascadeFeedback, stallFeedback } from './steering/feedback/pattern-kind-feedback.ts';
export { evaluateFeedback } from './steering/feedback/evaluate-feedback.ts';
export { Feedback, FeedbackEvent } from './steering/feedback/advice-slices.ts';
export { patternFeedback } from './steering/feedback/pattern-feedback.ts';
export { prepareFeedback } from './steering/feedback/prepare-feedback.ts';
export { renderFeedback } from './steering/feedback/render-feedback.ts';

export type { GuidanceContext, GuidanceProvider } from './steering/prompt/guidance-provider.ts';
export { collectGuidance, formatGuidance } from './steering/guidance/collect-guidance.ts';
export { createGuidanceContext } from './steering/create-guidance-context.ts';
export { defineGuidance } from './steering/guidance/define-guidance.ts';
export { doomLoopGuidance } from './steering/guidance/doom-loop.ts';
export { EMPTY_GUIDANCE_STATE, evaluateGuidance } from './steering/guidance/evaluate-guidance.ts';
export { consultationPrompt, diagnosticSignal } from './steering/guidance/failure-guidance.ts';
export { parallelToolReminder } from './steering/guidance/sequential-when-parallel.ts';
