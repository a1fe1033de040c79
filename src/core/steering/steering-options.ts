import type { NoiseOptions } from './advice/advice.ts';
import type { DecisionPoint } from '../records/spoken-advice.ts';
import type { GuidanceBank } from './guidance/define-guidance.ts';
import type { ModelClassifier } from './guidance/model-classifier.ts';
import type { HoldoutOptions } from './holdout.ts';
import type { StopPolicy } from './stop-policy.ts';
import type { FeedbackProviderConfig, ObserverConfig } from './prompt/feedback-provider.ts';
import type { GuidanceProviderConfig } from './prompt/guidance-provider.ts';
import type { FeedbackCadence, FeedbackDelivery } from './prompt/prompt-template.ts';
import type { Slice } from '../session/define-slice.ts';
import type { PatternDetector } from '../detect/patterns/pattern-detector.ts';
import type { ToolDeclarations } from '../detect/calls/tool-semantics.ts';

/** A model-backed classifier. It is called in the background, and its choice is used at the next decision point. */
export interface ModelGuidanceConfig {
  readonly classifier: ModelClassifier;
  readonly bank: GuidanceBank;
  readonly decisionPoints: readonly DecisionPoint[];
  /** Timeout in milliseconds, 1 to 600,000; default 2,000. */
  readonly timeLimitMs?: number;
  /** Minimum confidence, inclusive, 0 to 1; default 0.5. */
  readonly minConfidence?: number;
}

/** The advice for the agent: providers and limits. If no provider is configured, `standardSteering()` is used. */
export interface SteeringOptions {
  /** Providers that are called after a tool call, in order. Default: none. */
  readonly feedback?: readonly FeedbackProviderConfig[];
  /** Observers that are called after the feedback providers. Default: none. */
  readonly observers?: readonly ObserverConfig[];
  /** Providers that are called at every decision point. Default: none. */
  readonly guidance?: readonly GuidanceProviderConfig[];
  /** Model-backed classifiers. Default: none. */
  readonly models?: readonly ModelGuidanceConfig[];
  /** Default: the delivery of the prompt, else `first`. */
  readonly delivery?: FeedbackDelivery;
  /** Default: the cadence of the prompt, else `shared`. */
  readonly cadence?: FeedbackCadence;
  readonly noise?: NoiseOptions;
  /** Maximum number of guidance texts per turn over all providers; default 3. */
  readonly maxGuidancePerTurn?: number;
  /** With `shadow`, advice is computed and recorded but not given. Default `steer`. */
  readonly mode?: 'steer' | 'shadow';
  /** Options, or the share of episodes (0 to 1) whose advice is withheld at random and recorded so. Default 0. See docs/effect.md. */
  readonly holdout?: number | HoldoutOptions;
  /** A host that can stop the run does so and records the reason. Default: never. See docs/runs.md. */
  readonly stop?: StopPolicy;
  /** Default `defaultDetectors()`. */
  readonly detectors?: readonly PatternDetector[];
  /** Declares what tools do. Default: this is inferred from names, arguments and shell commands. */
  readonly tools?: ToolDeclarations;
  /** Session slices of the host, registered before the first event. */
  readonly slices?: readonly Slice<unknown>[];
  /**
   * How much history a run keeps in memory: `full` (default) or `compact`. Use `compact` for processes that load and save
   * the run's state at every event, as hooks do. `COMPACT_RETENTION` in `src/core/steering/resolve-steering.ts` has the limits.
   */
  readonly retain?: 'full' | 'compact';
  /** The data of providers and detectors, for `configurationHash`. Set by a configuration file. Default: none. */
  readonly madeFrom?: string;
  /** Time limit of a provider in milliseconds. After three overruns, the provider is disabled for the run. Default 50 ms. */
  readonly providerTimeLimitMs?: number;
}
