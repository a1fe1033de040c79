/** What users import from `coxswain`. Stores on disk and formats have subpaths of their own. */
export { budgetRemaining, type Budget, type BudgetAmounts, type BudgetUsage } from './base/budget.ts';
export { systemClock, type Clock } from './base/clock.ts';
export { deadlineAfter, isExpired, remainingMs, type Deadline, type TimeSpan } from './base/deadline.ts';
export { durationText } from './base/duration-text.ts';
export { CoxswainError, type CoxswainErrorCode } from './base/error.ts';
export type { InputCounts, InputFault } from './base/input-fault.ts';
export type { Json, JsonObject } from './base/json.ts';

export type { AgentEvent, AgentIdentity } from './events/agent-event.ts';
export type { AgentMessage, ContentBlock, MessageContent, Usage } from './events/agent-message.ts';
export { decodeRecord, parseRecord } from './events/decode-record.ts';
export { encodeRecord } from './events/encode-record.ts';
export type { Observation, Severity, SpokenAdvice } from './events/feedback.ts';
export {
  DECISION_POINTS,
  type ClassificationResult,
  type DecisionPoint,
  type GuidanceInjection,
  type PatternReference,
} from './events/guidance.ts';
export type { RunIdentity } from './events/run-identity.ts';
export type { StoredContent, StoredContentBlock, StoredMessage, StoredUsage } from './events/stored-message.ts';
export type { PatternLevel, TrajectoryPattern } from './events/trajectory-pattern.ts';
export {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from './events/trajectory-record.ts';

export { createSession, restoreSession } from './session/create-session.ts';
export { defineEvent, type EventInput, type EventType, type SessionEvent } from './session/define-event.ts';
export {
  defineSlice,
  type Reducer,
  type Slice,
  type SliceOptions,
  type SliceReducer,
  type SliceView,
} from './session/define-slice.ts';
export type { FaultHandler, SessionFault } from './session/fault-log.ts';
export { appendAll, replaceLatest, upsertBy } from './session/reducers.ts';
export type { Session, SessionOptions } from './session/session.ts';
export type { SessionSnapshot, SliceSnapshot } from './session/session-snapshot.ts';
export {
  amend,
  append,
  clear,
  extend,
  none,
  replace,
  type ReducerResult,
  type SliceOperation,
} from './session/slice-operation.ts';
export { ToolCallCount } from './session/tool-call-count.ts';
export {
  ToolInvoked,
  toolInvoked,
  ToolInvokedEvent,
  type ToolCallOutcome,
  type ToolInvocation,
} from './session/tool-invoked.ts';

export {
  collectGarbage,
  DEFAULT_MAX_STORE_BYTES,
  type CollectedRun,
  type FailedRun,
  type GcOptions,
  type GcReport,
} from './store/collect-garbage.ts';
export { memoryStore } from './store/memory-store.ts';
export type { RunSummary } from './store/run-summary.ts';
export type { ReadQuery, RunPage, RunQuery, TrajectorySink, TrajectoryStore } from './store/trajectory-store.ts';

export type { ErrorCategory, ErrorClass } from './trajectory/error-class.ts';
export type { Frequency } from './trajectory/frequency-table.ts';
export type { PatternChange } from './trajectory/pattern-book.ts';
export type { PatternDetector, PatternFold, Sighting, StepContext } from './trajectory/pattern-detector.ts';
export type { RecentCall } from './trajectory/recent-call.ts';
export { similarity } from './trajectory/similarity.ts';
export type { Step } from './trajectory/step.ts';
export type { ToolKind } from './trajectory/tool-kind.ts';
export { declareMcpTools, type McpTool } from './trajectory/mcp-declarations.ts';
export type { ToolAnnotations, ToolDeclaration, ToolDeclarations } from './trajectory/tool-semantics.ts';
export type { DetectorFault, TrajectoryAnalysisSnapshot } from './trajectory/analysis-snapshot.ts';
export type { RunCall } from './run-view/run-call.ts';
export {
  errorLineOf,
  RunView,
  viewOf,
  type RunOutcome,
  type RunUsage,
  type RunViewOptions,
} from './run-view/run-view.ts';
export type { RunPatterns, SeenPattern } from './run-view/seen-pattern.ts';
export { TrajectoryAnalysis, type TrajectoryAnalysisOptions } from './trajectory/trajectory-analysis.ts';

export { InMemoryTrajectorySink } from './recorder/in-memory-trajectory-sink.ts';
export type { FailurePolicy, OverflowPolicy, RecordQueueOptions } from './recorder/record-queue-options.ts';
export type { EmitAnswer, FlushAnswer, TimeLimit } from './recorder/recorder-answers.ts';
export type { RecorderHealth } from './recorder/recorder-health.ts';
export type { RedactionOptions } from './recorder/redactor.ts';
export { recoverSpills, type SpillRecovery } from './recorder/recover-spills.ts';
export type { SpillHealth } from './recorder/spill-file.ts';
export type { Timers } from './recorder/timers.ts';
export {
  TrajectoryRecorder,
  type EventObserver,
  type TrajectoryRecorderOptions,
} from './recorder/trajectory-recorder.ts';

export { contextDegradationDetector } from './detectors/context-degradation.ts';
export { cycleDetector } from './detectors/cycle.ts';
export { defaultDetectors } from './detectors/default-detectors.ts';
export { driftDetector } from './detectors/drift.ts';
export { errorCascadeDetector } from './detectors/error-cascade.ts';
export { identicalCallDetector } from './detectors/identical-call.ts';
export { gradeCount, type Grade } from './detectors/level.ts';
export { pollingDetector } from './detectors/polling.ts';
export { repeatedErrorDetector } from './detectors/repeated-error.ts';
export { sameFailureDetector } from './detectors/same-failure.ts';
export { sequentialCallsDetector } from './detectors/sequential-calls.ts';
export { similarCallsDetector } from './detectors/similar-calls.ts';
export { stagnationDetector } from './detectors/stagnation.ts';
export { stallDetector } from './detectors/stall.ts';
export { thrashDetector } from './detectors/thrash.ts';
export { toolAvoidanceDetector, type Recommendation } from './detectors/tool-avoidance.ts';

export type { NoiseOptions } from './advice/decide-advice.ts';
export { slotText } from './advice/slot-text.ts';

export { definePrompt, type PromptDefinition } from './prompt/define-prompt.ts';
export type { FeedbackContext, SeverityTrend } from './prompt/feedback-context.ts';
export type { FeedbackDraft, FeedbackProvider, FeedbackProviderConfig } from './prompt/feedback-provider.ts';
export type { FeedbackTrigger, PatternTrigger, SessionEventKind } from './prompt/feedback-trigger.ts';
export { Filesystem } from './prompt/filesystem.ts';
export type {
  GuidanceContext,
  GuidanceDraft,
  GuidanceProvider,
  GuidanceProviderConfig,
  PendingToolCall,
} from './prompt/guidance-provider.ts';
export {
  defineResource,
  type PromptResources,
  type Resource,
  type ResourceBinding,
} from './prompt/prompt-resources.ts';
export type {
  PromptGuidance,
  PromptParam,
  PromptParams,
  PromptSection,
  RenderContext,
  SectionContext,
} from './prompt/prompt-section.ts';
export type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from './prompt/prompt-template.ts';
export type { Prompt, RenderedPrompt, RenderOptions } from './prompt/prompt.ts';
export type {
  AssessmentDraft,
  ObserverConfig,
  ObserverContext,
  ObserverTrigger,
  TrajectoryObserver,
} from './prompt/trajectory-observer.ts';
export type { TrajectoryView } from './prompt/trajectory-view.ts';

export {
  acknowledge,
  type AcknowledgeOptions,
  type AcknowledgeOutcome,
  type AdviceAnswer,
} from './feedback/acknowledge.ts';
export { acknowledgeToolDefinition, type ToolDefinition } from './feedback/acknowledge-tool.ts';
export { Acknowledgement, AcknowledgementEvent, type AcknowledgementResponse } from './feedback/acknowledgement.ts';
export { Assessment, AssessmentEvent } from './feedback/assessment.ts';
export { collectFeedback, type CollectFeedbackInput } from './feedback/collect-feedback.ts';
export { createFeedbackContext, type FeedbackContextInput } from './feedback/create-feedback-context.ts';
export { deadlineFeedback, type DeadlineFeedbackOptions, type DeadlineSpacing } from './feedback/deadline-feedback.ts';
export { deadlineObserver } from './feedback/deadline-observer.ts';
export type { DeadlineReportOptions } from './feedback/deadline-report.ts';
export { driftFeedback } from './feedback/drift-feedback.ts';
export { errorCascadeFeedback } from './feedback/error-cascade-feedback.ts';
export { evaluateFeedback, type FeedbackInput, type FeedbackOptions } from './feedback/evaluate-feedback.ts';
export type { FeedbackFault, FeedbackFaultHandler } from './feedback/feedback-fault.ts';
export { Feedback, FeedbackEvent } from './feedback/feedback.ts';
export type { FiredTrigger } from './feedback/fired-triggers.ts';
export { observerAsProvider } from './feedback/observer-as-provider.ts';
export { paceFeedback, type PaceFeedbackOptions } from './feedback/pace-feedback.ts';
export { patternFeedback, type PatternFeedbackOptions } from './feedback/pattern-feedback.ts';
export type { PatternSpeakerOptions } from './feedback/pattern-speaker.ts';
export { PendingObserverTrigger, pendingTriggers } from './feedback/pending-observer-trigger.ts';
export { feedbackSlices, prepareFeedback } from './feedback/prepare-feedback.ts';
export { renderAssessment, renderFeedback } from './feedback/render-feedback.ts';
export { runFeedbackProviders, type RunFeedbackOptions } from './feedback/run-feedback-providers.ts';
export type { FeedbackEvaluation, ProducedFeedback } from './feedback/run-speakers.ts';
export { stallFeedback } from './feedback/stall-feedback.ts';
export { staticFeedback, type StaticFeedbackOptions } from './feedback/static-feedback.ts';
export { toolUsageMonitor, type ToolUsageMonitorOptions } from './feedback/tool-usage-monitor.ts';

export type { ProducedGuidance, SkippedGuidance } from './guidance/ask-provider.ts';
export { classifyCount, type Classifier } from './guidance/classifier.ts';
export { collectGuidance, type CollectGuidanceOptions } from './guidance/collect-guidance.ts';
export { allOf, anyOf, not, threshold } from './guidance/combine-classifiers.ts';
export { consultationPrompt, type ConsultationPromptOptions } from './guidance/consultation-prompt.ts';
export type { ContextDigest } from './guidance/context-digest.ts';
export { defineGuidance, type GuidanceDefinition } from './guidance/define-guidance.ts';
export { diagnosticSignal, type DiagnosticSignalOptions } from './guidance/diagnostic-signal.ts';
export { doomLoopGuidance } from './guidance/doom-loop-guidance.ts';
export { doomLoop, type DoomLoopOptions } from './guidance/doom-loop.ts';
export { errorStreak } from './guidance/error-streak.ts';
export { formatGuidance } from './guidance/format-guidance.ts';
export { guidanceBank, type BankInstruction, type GuidanceBank } from './guidance/guidance-bank.ts';
export { GuidanceDelivered, GuidanceDeliveredEvent } from './guidance/guidance-delivered.ts';
export type { GuidanceFault } from './guidance/guidance-fault.ts';
export { GuidanceFaults, GuidanceStates, SkippedGuidances } from './guidance/guidance-slices.ts';
export { highToolCount } from './guidance/high-tool-count.ts';
export { largeOutput } from './guidance/large-output.ts';
export {
  askModel,
  verdictGuidance,
  type AskModelOptions,
  type ModelAnswer,
  type ModelClassifier,
  type ModelVerdict,
} from './guidance/model-classifier.ts';
export { parallelToolReminder, type ParallelToolReminderOptions } from './guidance/parallel-tool-reminder.ts';
export { progressStall } from './guidance/progress-stall.ts';
export { recentFailures } from './guidance/recent-failures.ts';
export { sensitiveContentPending } from './guidance/sensitive-content-pending.ts';
export { sequentialWhenParallel } from './guidance/sequential-when-parallel.ts';
export { singleToolRepeated } from './guidance/single-tool-repeated.ts';

export type { HoldoutArm, HoldoutOptions } from './holdout.ts';
export { deliverAdvice, type AdviceHandle, type DeliverOptions } from './advice-handle.ts';
export { createCoxswain, type Coxswain, type CoxswainOptions, type Health, type RunOptions } from './coxswain.ts';
export type { DerivedPayload } from './events/derived-draft.ts';
export { isDerived } from './events/is-derived.ts';
export { Replay, type ReplayOptions } from './replay.ts';
export { SteeringReplay, type SteeringReplayOptions } from './steering-replay.ts';
export type { ChildOptions } from './run-options.ts';
export type { AdviseContext } from './evaluation-payload.ts';
export type { Run, RunSnapshot } from './run.ts';
export { standardSteering, type StandardSteeringOptions } from './standard-steering.ts';
export type { ModelGuidanceConfig, SteeringOptions } from './steering-options.ts';
