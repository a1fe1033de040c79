import type { NoiseOptions } from './advice/decide-advice.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { GuidanceBank } from './guidance/guidance-bank.ts';
import type { ModelClassifier } from './guidance/model-classifier.ts';
import type { HoldoutOptions } from './holdout.ts';
import type { StopPolicy } from './stop-policy.ts';
import type { FeedbackProviderConfig } from './prompt/feedback-provider.ts';
import type { GuidanceProviderConfig } from './prompt/guidance-provider.ts';
import type { FeedbackCadence, FeedbackDelivery } from './prompt/prompt-template.ts';
import type { ObserverConfig } from './prompt/trajectory-observer.ts';
import type { Slice } from '../session/define-slice.ts';
import type { PatternDetector } from '../patterns/pattern-detector.ts';
import type { ToolDeclarations } from '../calls/tool-semantics.ts';

/** A model-backed classifier at work in a run: asked in the background, heard at the next decision point. */
export interface ModelGuidanceConfig {
  readonly classifier: ModelClassifier;
  readonly bank: GuidanceBank;
  /** Where it is asked. */
  readonly decisionPoints: readonly DecisionPoint[];
  /** Default 2,000. */
  readonly timeLimitMs?: number;
  /** Least confidence, inclusive, 0 to 1; default 0.5. */
  readonly minConfidence?: number;
}

/** Who speaks to the agent, when, and how much. Left out entirely, it is `standardSteering()`. */
export interface SteeringOptions {
  /** Asked after a tool call, in order. Default: none. */
  readonly feedback?: readonly FeedbackProviderConfig[];
  /** Asked after the feedback providers. Default: none. */
  readonly observers?: readonly ObserverConfig[];
  /** Asked at every decision point. Default: none. */
  readonly guidance?: readonly GuidanceProviderConfig[];
  /** Model-backed classifiers. Default: none. */
  readonly models?: readonly ModelGuidanceConfig[];
  /** `first`: the first provider that speaks; `all`: everyone whose trigger fired. Default: the prompt's, `first`. */
  readonly delivery?: FeedbackDelivery;
  /** What triggers count from. Default: the prompt's, `shared`. */
  readonly cadence?: FeedbackCadence;
  readonly noise?: NoiseOptions;
  /** Pieces of guidance a turn, over all providers; default 3. */
  readonly maxGuidancePerTurn?: number;
  /** `shadow`: everything is worked out and recorded, nothing is said. Default `steer`. */
  readonly mode?: 'steer' | 'shadow';
  /**
   * An experiment: the share of episodes, 0 to 1, of which advice is withheld at random; or with a seed and a unit. What is
   * withheld is worked out and recorded. In shadow mode there is none. Default 0. See docs/effect.md.
   */
  readonly holdout?: number | HoldoutOptions;
  /**
   * When a run is to be stopped: a host that can stop does so, and each stop is on record with its reason. Advice stays advice. Default:
   * never. See docs/runs.md.
   */
  readonly stop?: StopPolicy;
  /** Patterns that are looked for; default `defaultDetectors()`. */
  readonly detectors?: readonly PatternDetector[];
  /** What the host says of its tools; default: guessed from names, arguments and shell commands. */
  readonly tools?: ToolDeclarations;
  /** The host's own session slices, so that its reducers are there from the first event. */
  readonly slices?: readonly Slice<unknown>[];
  /**
   * How much of its past a run keeps at hand: `full` (default), or `compact` for processes that load and save the
   * run's state at every event, as hooks do. What a smaller past changes stands in `src/steering/retention.ts`.
   */
  readonly retain?: 'full' | 'compact';
  /**
   * Stands for what the providers and detectors were made with, as far as that is data: part of `configurationHash`,
   * because code cannot be told apart. A configuration file sets it. Default: nothing.
   */
  readonly madeFrom?: string;
  /** What a provider may take before it counts as an overrun; after three it is not asked again. Default 50 ms. */
  readonly providerTimeLimitMs?: number;
}
