/** The public API of `coxswain`. Stores on disk and formats have separate subpaths. */
export type { ContextSize } from './core/facts/context-tokens.ts';
export type { LimitUsed } from './core/facts/limit-used.ts';
export type { RecentWork, RunPressure } from './core/facts/run-pressure.ts';
export { budgetRemaining, type Budget, type BudgetAmounts, type BudgetUsage } from './core/base/budget.ts';
export { systemClock, type Clock } from './core/base/clock.ts';
export { deadlineAfter, isExpired, remainingMs, type Deadline, type TimeSpan } from './core/base/deadline.ts';
export { durationText } from './core/base/number-text.ts';
export { CoxswainError, type CoxswainErrorCode, type CoxswainErrorOptions } from './core/base/error.ts';
export type { InputCounts, InputFault } from './core/base/input-fault.ts';
export type { Json, JsonObject } from './core/base/json.ts';

export type { AgentEnding, AgentEvent, AgentIdentity, EventTime } from './core/records/agent-event.ts';
export type {
  AgentMessage,
  ContentBlock,
  MessageContent,
  Usage,
  StoredContent,
  StoredContentBlock,
  StoredMessage,
  StoredUsage,
} from './core/records/agent-message.ts';
export {
  outcomeOf,
  type CallOutcome,
  TRAJECTORY_SCHEMA_VERSION,
  type RunEnding,
  type RunIdentity,
  type RunStarted,
  type SteeringStart,
  type TrajectoryPayload,
  type TrajectoryRecord,
  type UnrecognisedPayload,
} from './core/records/trajectory-record.ts';
export { decodeRecord, parseRecord, encodeRecord } from './core/records/decode-record.ts';
export type { ModelPrice, ModelPrices } from './core/records/answer-cost.ts';
export {
  type Observation,
  type Severity,
  type SpokenAdvice,
  type StoredAssessment,
  type StoredFeedback,
  DECISION_POINTS,
  type ClassificationResult,
  type DecisionPoint,
  type GuidanceInjection,
  type PatternReference,
  type StoredGuidance,
} from './core/records/spoken-advice.ts';
export type { PatternLevel, TrajectoryPattern } from './core/records/trajectory-pattern.ts';

export { createSession, restoreSession } from './core/session/create-session.ts';
export {
  defineEvent,
  type EventInput,
  type EventOptions,
  type EventType,
  type SessionEvent,
} from './core/session/define-event.ts';
export {
  defineSlice,
  type Reducer,
  type Slice,
  type SliceOptions,
  type SliceReducer,
  type SliceView,
  appendAll,
  replaceLatest,
  upsertBy,
  amend,
  append,
  clear,
  extend,
  none,
  replace,
  type ReducerResult,
  type SliceOperation,
} from './core/session/define-slice.ts';
export type { FaultHandler, SessionFault } from './core/session/fault-log.ts';
export type {
  Session,
  SessionOptions,
  SnapshotOptions,
  SessionSnapshot,
  SliceSnapshot,
} from './core/session/session.ts';
export {
  ToolCallCount,
  ToolInvoked,
  toolInvoked,
  ToolInvokedEvent,
  type ToolCallOutcome,
  type ToolInvocation,
} from './core/session/tool-invoked.ts';

export {
  collectGarbage,
  type CollectableStore,
  DEFAULT_MAX_STORE_BYTES,
  type CollectedRun,
  type FailedRun,
  type GcOptions,
  type GcReport,
} from './stores/collect-garbage.ts';
export { memoryStore } from './core/store/memory-store.ts';
export { openStore, openStoreReader, type OpenStoreOptions } from './stores/registry/open-store.ts';
export { shownAddress } from './stores/store-address.ts';
export type { RunSummary } from './core/facts/run-summary.ts';
export type { LiveReader, ReadQuery, RunChange, RunPage, RunQuery, SearchHit } from './core/store/trajectory-store.ts';
export type {
  SearchPage,
  SearchQuery,
  StoredRun,
  StoreProblem,
  TrajectorySink,
} from './core/store/trajectory-store.ts';
export type { TrajectoryStore } from './core/store/trajectory-store.ts';

export type { ErrorCategory, ErrorClass } from './core/detect/calls/error-class.ts';
export type { ArgumentKeys } from './core/detect/calls/argument-reading.ts';
export type { StepFailure, Step } from './core/detect/patterns/step.ts';
export type {
  AnalysisRetention,
  DetectorFault,
  TrajectoryAnalysisSnapshot,
} from './core/detect/patterns/analysis-snapshot.ts';
export type { PatternChange } from './core/detect/patterns/pattern-book.ts';
export type {
  PatternDetector,
  PatternFold,
  Sighting,
  StepContext,
  TextPlace,
  CallComparison,
  RecentCall,
} from './core/detect/patterns/pattern-detector.ts';
export { similarity } from './core/detect/calls/tokens.ts';
export type { ToolKind } from './core/detect/calls/tool-kind.ts';
export {
  declareMcpTools,
  type McpTool,
  type ToolAnnotations,
  type ToolDeclaration,
  type ToolDeclarations,
} from './core/detect/calls/tool-semantics.ts';
export { errorLineOf, type RunCall } from './core/facts/run-call.ts';
export type { LastCheck, RunOutcome, RunVerdict, WorkPlace } from './core/facts/run-verdict.ts';
export { RunView, viewOf, type RunViewOptions } from './core/facts/run-view.ts';
export type { RunUsage } from './core/facts/usage-fold.ts';
export type { RunPatterns, SeenPattern } from './core/facts/seen-pattern.ts';
export { TrajectoryAnalysis, type TrajectoryAnalysisOptions } from './core/detect/patterns/trajectory-analysis.ts';

export {
  InMemoryTrajectorySink,
  TrajectoryRecorder,
  type EventObserver,
  type TrajectoryRecorderOptions,
  type RecordSink,
  sinkOf,
} from './core/recorder/trajectory-recorder.ts';
export type {
  FailurePolicy,
  OverflowPolicy,
  RecordQueueOptions,
  EmitAnswer,
  EndAnswer,
  FlushAnswer,
  TimeLimit,
  RecorderHealth,
  Timers,
} from './core/recorder/record-queue-options.ts';
export type { RedactionRule, RedactionOptions } from './core/redact/redactor.ts';

export * from './core/detect/detectors/default-detectors.ts';
export type { DetectorFactory } from './core/detect/detectors/define-detector.ts';
export { gradeCount, type Grade } from './core/detect/detectors/level.ts';

export type { NoiseOptions } from './core/steering/advice/advice.ts';

export type { ProviderDefinition } from './core/steering/prompt/define-provider.ts';
export { definePrompt, type PromptDefinition } from './core/steering/prompt/define-prompt.ts';
export type {
  FeedbackContext,
  SeverityTrend,
  FeedbackDraft,
  FeedbackProvider,
  FeedbackProviderConfig,
  FeedbackTrigger,
  PatternTrigger,
  SessionEventKind,
  AssessmentDraft,
  ObserverConfig,
  ObserverContext,
  ObserverTrigger,
  TrajectoryObserver,
} from './core/steering/prompt/feedback-provider.ts';
export {
  Filesystem,
  type PromptResources,
  type Resource,
  type ResourceBinding,
  type ResourceIdentity,
} from './core/steering/prompt/prompt-resources.ts';
export type {
  GuidanceContext,
  GuidanceDraft,
  GuidanceProvider,
  GuidanceProviderConfig,
  PendingToolCall,
} from './core/steering/prompt/guidance-provider.ts';
export type {
  Prompt,
  PromptGuidance,
  PromptParam,
  PromptParams,
  PromptSection,
} from './core/steering/prompt/prompt.ts';
export type { RenderContext, RenderedPrompt, RenderOptions, SectionContext } from './core/steering/prompt/prompt.ts';
export type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from './core/steering/prompt/prompt-template.ts';
export type { TrajectoryView } from './core/steering/prompt/prompt.ts';

export {
  acknowledge,
  type AcknowledgeOptions,
  type AcknowledgeOutcome,
  type AdviceAnswer,
} from './core/steering/feedback/acknowledge.ts';
export { acknowledgeToolDefinition, type ToolDefinition } from './core/steering/feedback/acknowledge.ts';
export {
  Acknowledgement,
  AcknowledgementEvent,
  type AcknowledgementResponse,
  Assessment,
  AssessmentEvent,
  Feedback,
  FeedbackEvent,
} from './core/steering/feedback/advice-slices.ts';
export {
  collectFeedback,
  type CollectFeedbackInput,
  type RunFeedbackOptions,
  runFeedbackProviders,
} from './core/steering/feedback/evaluate-feedback.ts';
export { createFeedbackContext, type FeedbackContextInput } from './core/steering/feedback/advice-context.ts';
export {
  deadlineFeedback,
  type DeadlineFeedbackOptions,
  deadlineObserver,
  type DeadlineReportOptions,
  type DeadlineSpacing,
  afterCompaction,
  type AfterCompactionOptions,
  contextFeedback,
  type ContextFeedbackOptions,
  limitAhead,
  type LimitAheadOptions,
  paceFeedback,
  type PaceFeedbackOptions,
  staticFeedback,
  type StaticFeedbackOptions,
  toolUsageMonitor,
  type ToolUsageMonitorOptions,
} from './core/steering/feedback/built-in-feedback.ts';
export {
  driftFeedback,
  errorCascadeFeedback,
  type PatternSpeakerOptions,
  stallFeedback,
  patternFeedback,
  type PatternFeedbackOptions,
} from './core/steering/feedback/pattern-feedback.ts';
export {
  evaluateFeedback,
  type FeedbackInput,
  type FeedbackOptions,
} from './core/steering/feedback/evaluate-feedback.ts';
export type { SpeakerSource } from './core/steering/feedback/advice-slices.ts';
export { renderAssessment, renderFeedback, type InjectionProblem } from './core/steering/feedback/check-draft.ts';
export type { AdviceFault, FeedbackFault, FeedbackFaultHandler, GuidanceFault } from './core/steering/advice-engine.ts';
export type { FiredTrigger, FeedbackEvaluation, ProducedFeedback } from './core/steering/feedback/run-speakers.ts';
export { observerAsProvider } from './core/steering/feedback/speaker.ts';
export { PendingObserverTrigger, pendingTriggers } from './core/steering/feedback/advice-slices.ts';
export { feedbackSlices, prepareFeedback } from './core/steering/feedback/speaker.ts';

export type { ProducedGuidance } from './core/steering/guidance/evaluate-guidance.ts';
export type { SkippedGuidance } from './core/steering/guidance/guidance-slices.ts';
export {
  classifyCount,
  type Classifier,
  allOf,
  anyOf,
  not,
  threshold,
  errorStreak,
  highToolCount,
  largeOutput,
  progressStall,
  recentFailures,
  singleToolRepeated,
  type ThresholdClassifier,
  sensitiveContentPending,
} from './core/steering/guidance/classifier.ts';
export {
  collectGuidance,
  type CollectGuidanceOptions,
  formatGuidance,
} from './core/steering/guidance/evaluate-guidance.ts';
export { askModel } from './core/steering/guidance/model-classifier.ts';
export type { AskModelOptions, ContextDigest, DigestCall } from './core/steering/guidance/model-classifier.ts';
export type { DigestInstruction, DigestPattern, ModelAnswer } from './core/steering/guidance/model-classifier.ts';
export type { ModelClassifier, ModelVerdict, TaskTimers } from './core/steering/guidance/model-classifier.ts';
export {
  consultationPrompt,
  diagnosticSignal,
  type ConsultationPromptOptions,
  type DiagnosticSignalOptions,
} from './core/steering/guidance/built-in-guidance.ts';
export { defineGuidance, type GuidanceDefinition } from './core/steering/guidance/define-guidance.ts';
export { doomLoop, doomLoopGuidance, type DoomLoopOptions } from './core/steering/guidance/built-in-guidance.ts';
export { createGuidanceContext, type GuidanceContextOptions } from './core/steering/feedback/advice-context.ts';
export {
  EMPTY_GUIDANCE_STATE,
  evaluateGuidance,
  type EvaluateGuidanceOptions,
  type GuidanceEvaluation,
} from './core/steering/guidance/evaluate-guidance.ts';
export { type GuidanceUse } from './core/steering/guidance/guidance-slices.ts';
export { type GuidanceState } from './core/steering/guidance/guidance-slices.ts';
export { callOf, type SeenCall } from './core/steering/prompt/prompt-calls.ts';
export { guidanceBank, type BankInstruction, type GuidanceBank } from './core/steering/guidance/define-guidance.ts';
export {
  GuidanceDelivered,
  GuidanceDeliveredEvent,
  GuidanceFaults,
  GuidanceStates,
  SkippedGuidances,
} from './core/steering/guidance/guidance-slices.ts';
export {
  parallelToolReminder,
  type ParallelToolReminderOptions,
  sequentialWhenParallel,
} from './core/steering/guidance/built-in-guidance.ts';

export type { HoldoutArm, HoldoutOptions } from './core/steering/holdout.ts';
export type { StopPolicy, StopRequest } from './core/steering/stop-policy.ts';
export { deliverAdvice, type AdviceHandle, type DeliverOptions } from './core/run/advice-handle.ts';
export {
  checkCompletion,
  type CompletionAnswer,
  type CompletionCheck,
  type CompletionOptions,
} from './core/run/completion-check.ts';
export {
  eventChannel,
  type ChannelItem,
  type EventChannel,
  type EventSink,
  type ListenerHealth,
} from './core/run/listeners.ts';
export { CallRefused, refusal } from './core/run/refusal.ts';
export {
  type ProviderHealth,
  createCoxswain,
  type Coxswain,
  type CoxswainOptions,
  type Health,
  type RunOptions,
} from './core/run/coxswain.ts';
export { type DerivedPayload, isDerived } from './core/records/derived-payload.ts';
export { Replay, type ReplayOptions } from './core/replay/replay.ts';
export { SteeringReplay, type SteeringReplayOptions } from './core/replay/steering-replay.ts';
export type { ChildOptions, OpenRunOptions } from './core/run/run-options.ts';
export type { AdviseContext } from './core/run/evaluation-payload.ts';
export type { RunSnapshot } from './core/run/run.ts';
export type { EndListener } from './core/run/last-words.ts';
export type { Run } from './core/run/run.ts';
export { standardSteering, type StandardSteeringOptions } from './core/steering/standard-steering.ts';
export type { ModelGuidanceConfig, SteeringOptions } from './core/steering/steering-options.ts';
