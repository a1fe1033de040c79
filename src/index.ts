/** The public API of `coxswain`. Stores on disk and formats have separate subpaths. */
export { budgetRemaining, type Budget, type BudgetAmounts, type BudgetUsage } from './base/budget.ts';
export { systemClock, type Clock } from './base/clock.ts';
export { deadlineAfter, isExpired, remainingMs, type Deadline, type TimeSpan } from './base/deadline.ts';
export { durationText } from './base/number-text.ts';
export { CoxswainError, type CoxswainErrorCode, type CoxswainErrorOptions } from './base/error.ts';
export type { InputCounts, InputFault } from './base/input-fault.ts';
export type { Json, JsonObject } from './base/json.ts';

export type { AgentEnding, AgentEvent, AgentIdentity, EventTime } from './records/agent-event.ts';
export type { AgentMessage, ContentBlock, MessageContent, Usage } from './records/agent-message.ts';
export { outcomeOf, type CallOutcome } from './records/call-outcome.ts';
export { decodeRecord, parseRecord } from './records/decode-record.ts';
export { encodeRecord } from './records/encode-record.ts';
export type { ModelPrice, ModelPrices } from './records/answer-cost.ts';
export type { Observation, Severity, SpokenAdvice, StoredAssessment, StoredFeedback } from './records/feedback.ts';
export {
  DECISION_POINTS,
  type ClassificationResult,
  type DecisionPoint,
  type GuidanceInjection,
  type PatternReference,
  type StoredGuidance,
} from './records/guidance.ts';
export { TRAJECTORY_SCHEMA_VERSION } from './records/trajectory-record.ts';
export type { RunEnding, RunIdentity, RunStarted, SteeringStart } from './records/trajectory-record.ts';
export type { TrajectoryPayload, TrajectoryRecord, UnrecognisedPayload } from './records/trajectory-record.ts';
export type { StoredContent, StoredContentBlock, StoredMessage, StoredUsage } from './records/stored-message.ts';
export type { PatternLevel, TrajectoryPattern } from './records/trajectory-pattern.ts';

export { createSession, restoreSession } from './session/create-session.ts';
export {
  defineEvent,
  type EventInput,
  type EventOptions,
  type EventType,
  type SessionEvent,
} from './session/define-event.ts';
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
export type { Session, SessionOptions, SnapshotOptions } from './session/session.ts';
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
  type CollectableStore,
  DEFAULT_MAX_STORE_BYTES,
  type CollectedRun,
  type FailedRun,
  type GcOptions,
  type GcReport,
} from './store/collect-garbage.ts';
export { memoryStore } from './store/memory/memory-store.ts';
export { openStore, openStoreReader, type OpenStoreOptions } from './store/registry/open-store.ts';
export { shownAddress } from './store/store-address.ts';
export type { RunSummary } from './store/run-summary.ts';
export type { LiveReader, ReadQuery, RunChange, RunPage, RunQuery, SearchHit } from './store/trajectory-store.ts';
export type { SearchPage, SearchQuery, StoredRun, StoreProblem, TrajectorySink } from './store/trajectory-store.ts';
export type { TrajectoryStore } from './store/trajectory-store.ts';

export type { ErrorCategory, ErrorClass } from './calls/error-class.ts';
export type { StepFailure } from './calls/step-failure.ts';
export type { AnalysisRetention } from './patterns/analysis-retention.ts';
export type { PatternChange } from './patterns/pattern-book.ts';
export type { PatternDetector, PatternFold, Sighting, StepContext } from './patterns/pattern-detector.ts';
export type { CallComparison, RecentCall } from './patterns/recent-call.ts';
export { similarity } from './calls/similarity.ts';
export type { Step } from './patterns/step.ts';
export type { ToolKind } from './calls/tool-kind.ts';
export { declareMcpTools, type McpTool } from './calls/mcp-declarations.ts';
export type { ToolAnnotations, ToolDeclaration, ToolDeclarations } from './calls/tool-semantics.ts';
export type { DetectorFault, TrajectoryAnalysisSnapshot } from './patterns/analysis-snapshot.ts';
export { errorLineOf, type RunCall } from './run-view/run-call.ts';
export type { LastCheck, RunOutcome, RunVerdict } from './run-view/run-verdict.ts';
export { RunView, viewOf, type RunUsage, type RunViewOptions } from './run-view/run-view.ts';
export type { RunPatterns, SeenPattern } from './run-view/seen-pattern.ts';
export { TrajectoryAnalysis, type TrajectoryAnalysisOptions } from './patterns/trajectory-analysis.ts';

export { InMemoryTrajectorySink } from './recorder/in-memory-trajectory-sink.ts';
export type { FailurePolicy, OverflowPolicy, RecordQueueOptions } from './recorder/record-queue-options.ts';
export type { EmitAnswer, FlushAnswer, TimeLimit } from './recorder/recorder-answers.ts';
export type { RecorderHealth } from './recorder/recorder-health.ts';
export type { RedactionRule } from './redaction/own-rules.ts';
export type { RedactionOptions } from './redaction/redactor.ts';
export type { Timers } from './recorder/timers.ts';
export {
  TrajectoryRecorder,
  type EventObserver,
  type TrajectoryRecorderOptions,
} from './recorder/trajectory-recorder.ts';

export * from './patterns/detectors/default-detectors.ts';
export type { DetectorFactory } from './patterns/detectors/define-detector.ts';
export { gradeCount, type Grade } from './patterns/detectors/level.ts';

export type { NoiseOptions } from './steering/advice/decide-advice.ts';

export type { ProviderDefinition } from './steering/prompt/define-provider.ts';
export { definePrompt, type PromptDefinition } from './steering/prompt/define-prompt.ts';
export type { FeedbackContext, SeverityTrend } from './steering/prompt/feedback-context.ts';
export type { FeedbackDraft, FeedbackProvider, FeedbackProviderConfig } from './steering/prompt/feedback-provider.ts';
export type { FeedbackTrigger, PatternTrigger, SessionEventKind } from './steering/prompt/feedback-trigger.ts';
export {
  defineResource,
  Filesystem,
  type PromptResources,
  type Resource,
  type ResourceBinding,
  type ResourceIdentity,
} from './steering/prompt/prompt-resources.ts';
export type {
  GuidanceContext,
  GuidanceDraft,
  GuidanceProvider,
  GuidanceProviderConfig,
  PendingToolCall,
} from './steering/prompt/guidance-provider.ts';
export type { Prompt, PromptGuidance, PromptParam, PromptParams, PromptSection } from './steering/prompt/prompt.ts';
export type { RenderContext, RenderedPrompt, RenderOptions, SectionContext } from './steering/prompt/prompt.ts';
export type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from './steering/prompt/prompt-template.ts';
export type {
  AssessmentDraft,
  ObserverConfig,
  ObserverContext,
  ObserverTrigger,
  TrajectoryObserver,
} from './steering/prompt/trajectory-observer.ts';
export type { TrajectoryView } from './steering/prompt/trajectory-view.ts';

export {
  acknowledge,
  type AcknowledgeOptions,
  type AcknowledgeOutcome,
  type AdviceAnswer,
} from './steering/feedback/acknowledge.ts';
export { acknowledgeToolDefinition, type ToolDefinition } from './steering/feedback/acknowledge-tool.ts';
export {
  Acknowledgement,
  AcknowledgementEvent,
  type AcknowledgementResponse,
  Assessment,
  AssessmentEvent,
  Feedback,
  FeedbackEvent,
} from './steering/feedback/advice-slices.ts';
export {
  collectFeedback,
  type CollectFeedbackInput,
  type RunFeedbackOptions,
  runFeedbackProviders,
} from './steering/feedback/collect-feedback.ts';
export { createFeedbackContext, type FeedbackContextInput } from './steering/feedback/create-feedback-context.ts';
export {
  deadlineFeedback,
  type DeadlineFeedbackOptions,
  deadlineObserver,
  type DeadlineReportOptions,
  type DeadlineSpacing,
} from './steering/feedback/deadline-feedback.ts';
export {
  driftFeedback,
  errorCascadeFeedback,
  type PatternSpeakerOptions,
  stallFeedback,
} from './steering/feedback/pattern-kind-feedback.ts';
export { evaluateFeedback, type FeedbackInput, type FeedbackOptions } from './steering/feedback/evaluate-feedback.ts';
export type { SpeakerSource } from './steering/feedback/feedback-cadence.ts';
export type { FeedbackFault, FeedbackFaultHandler } from './steering/feedback/feedback-fault.ts';
export type { FiredTrigger } from './steering/feedback/fired-triggers.ts';
export { observerAsProvider } from './steering/feedback/speaker.ts';
export { paceFeedback, type PaceFeedbackOptions } from './steering/feedback/pace-feedback.ts';
export { patternFeedback, type PatternFeedbackOptions } from './steering/feedback/pattern-feedback.ts';
export { PendingObserverTrigger, pendingTriggers } from './steering/feedback/trigger-memory.ts';
export { feedbackSlices, prepareFeedback } from './steering/feedback/prepare-feedback.ts';
export { renderAssessment, renderFeedback } from './steering/feedback/render-feedback.ts';
export type { FeedbackEvaluation, ProducedFeedback } from './steering/feedback/run-speakers.ts';
export { staticFeedback, type StaticFeedbackOptions } from './steering/feedback/static-feedback.ts';
export { toolUsageMonitor, type ToolUsageMonitorOptions } from './steering/feedback/tool-usage-monitor.ts';

export type { ProducedGuidance, SkippedGuidance } from './steering/guidance/ask-provider.ts';
export type { InjectionProblem } from './steering/guidance/check-injection.ts';
export { classifyCount, type Classifier } from './steering/guidance/classifier.ts';
export { collectGuidance, type CollectGuidanceOptions, formatGuidance } from './steering/guidance/collect-guidance.ts';
export { allOf, anyOf, not, threshold } from './steering/guidance/combine-classifiers.ts';
export { askModel, verdictGuidance } from './steering/guidance/model-classifier.ts';
export type { AskModelOptions, ContextDigest, DigestCall } from './steering/guidance/model-classifier.ts';
export type { DigestInstruction, DigestPattern, ModelAnswer } from './steering/guidance/model-classifier.ts';
export type { ModelClassifier, ModelVerdict, TaskTimers } from './steering/guidance/model-classifier.ts';
export {
  consultationPrompt,
  diagnosticSignal,
  type ConsultationPromptOptions,
  type DiagnosticSignalOptions,
} from './steering/guidance/failure-guidance.ts';
export { defineGuidance, type GuidanceDefinition } from './steering/guidance/define-guidance.ts';
export { doomLoop, doomLoopGuidance, type DoomLoopOptions } from './steering/guidance/doom-loop.ts';
export {
  errorStreak,
  highToolCount,
  largeOutput,
  progressStall,
  recentFailures,
  singleToolRepeated,
  type ThresholdClassifier,
} from './steering/guidance/threshold-classifiers.ts';
export { createGuidanceContext, type GuidanceContextOptions } from './steering/create-guidance-context.ts';
export {
  EMPTY_GUIDANCE_STATE,
  evaluateGuidance,
  type EvaluateGuidanceOptions,
  type GuidanceEvaluation,
  type GuidanceState,
  type GuidanceUse,
} from './steering/guidance/evaluate-guidance.ts';
export { callOf, type SeenCall } from './steering/prompt/seen-call.ts';
export { guidanceBank, type BankInstruction, type GuidanceBank } from './steering/guidance/guidance-bank.ts';
export {
  GuidanceDelivered,
  GuidanceDeliveredEvent,
  GuidanceFaults,
  GuidanceStates,
  SkippedGuidances,
} from './steering/guidance/guidance-slices.ts';
export type { GuidanceFault } from './steering/guidance/guidance-fault.ts';
export {
  parallelToolReminder,
  type ParallelToolReminderOptions,
  sequentialWhenParallel,
} from './steering/guidance/sequential-when-parallel.ts';
export { sensitiveContentPending } from './steering/guidance/sensitive-content-pending.ts';

export type { HoldoutArm, HoldoutOptions } from './steering/holdout.ts';
export type { StopPolicy, StopRequest } from './steering/stop-policy.ts';
export { deliverAdvice, type AdviceHandle, type DeliverOptions } from './run/advice-handle.ts';
export {
  checkCompletion,
  type CompletionAnswer,
  type CompletionCheck,
  type CompletionOptions,
} from './run/completion-check.ts';
export { eventChannel, type ChannelItem, type EventChannel } from './run/event-channel.ts';
export type { EventSink, ListenerHealth } from './run/listeners.ts';
export { type RecordSink, sinkOf } from './recorder/sink-of.ts';
export { createCoxswain, type Coxswain, type CoxswainOptions, type Health, type RunOptions } from './run/coxswain.ts';
export { type DerivedPayload, isDerived } from './records/derived-payload.ts';
export { Replay, type ReplayOptions } from './replay/replay.ts';
export { SteeringReplay, type SteeringReplayOptions } from './replay/steering-replay.ts';
export type { ChildOptions, OpenRunOptions } from './run/run-options.ts';
export type { AdviseContext } from './run/evaluation-payload.ts';
export type { RunSnapshot } from './run/run.ts';
export type { EndListener } from './run/last-words.ts';
export type { Run } from './run/run.ts';
export { standardSteering } from './steering/standard-steering.ts';
export type { ModelGuidanceConfig, SteeringOptions } from './steering/steering-options.ts';
