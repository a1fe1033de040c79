import type { ModelPrice } from '../records/answer-cost.ts';
import type { StopPolicy } from '../steering/stop-policy.ts';
import type { NoiseOptions } from '../steering/advice/decide-advice.ts';
import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { DETECTORS } from '../patterns/detectors/default-detectors.ts';
import type { DetectorFactory } from '../patterns/detectors/define-detector.ts';
import type { ProviderDefinition } from '../steering/prompt/define-provider.ts';
import type { StaticFeedbackOptions } from '../steering/feedback/static-feedback.ts';
import type { DoomLoopOptions } from '../steering/guidance/doom-loop.ts';
import type { FeedbackTrigger } from '../steering/prompt/feedback-trigger.ts';
import type { GuidanceDraft } from '../steering/prompt/guidance-provider.ts';
import type { FeedbackCadence, FeedbackDelivery } from '../steering/prompt/prompt-template.ts';
import type { ToolDeclarations } from '../calls/tool-semantics.ts';
import type { FEEDBACK } from './feedback-providers.ts';
import type { GUIDANCE, GuidanceLimits } from './guidance-providers.ts';

/**
 * The content of `coxswain.config.json`. Plain JSON; absent fields are as in `standardSteering()`. docs/configuration.md has
 * every field with its default, `schema/coxswain.config.schema.json` the same for editors.
 */
export interface CoxswainConfig {
  /** For editors; ignored. */
  readonly $schema?: string;
  /** False: only the providers named here speak; default true. Detectors stay on. */
  readonly standard?: boolean;
  /** `shadow`: advice is recorded but not delivered. Default `steer`. */
  readonly mode?: 'steer' | 'shadow';
  /** Share of episodes, 0 to 1, whose advice is withheld at random, to measure its effect; default 0. */
  readonly holdout?: number;
  /** The time a run has: `45m`, `1h30m`, `90s`, or parts that add up. Default: no deadline. */
  readonly deadline?: DurationText | TimeSpan;
  /** The start of the deadline: the first prompt of the session (default), or each prompt. */
  readonly deadlineFrom?: DeadlineFrom;
  /** The budget of a run; absent members have no limit. */
  readonly budget?: Budget;
  /** When a host that can stop a run should do so; default: never. */
  readonly stop?: StopPolicy;
  /** Prices of models by id, which add to or replace the built-in ones; for figures, never for advice. */
  readonly prices?: Readonly<Record<string, Omit<ModelPrice, 'source' | 'checked'>>>;
  /** Default `all`. */
  readonly delivery?: FeedbackDelivery;
  /** Default `per-provider`. */
  readonly cadence?: FeedbackCadence;
  readonly noise?: NoiseOptions;
  /** Pieces of guidance per turn, over all providers; default 3. */
  readonly maxGuidancePerTurn?: number;
  /** Time after which a provider counts as an overrun; default 50. */
  readonly providerTimeLimitMs?: number;
  /**
   * Lets advice keep the agent from stopping, at most once per run, if the host has no gentler way to deliver it at that
   * point; default false.
   */
  readonly forceTurnAtStop?: boolean;
  readonly feedback?: FeedbackSection;
  readonly guidance?: GuidanceSection;
  readonly detectors?: DetectorSection;
  /** Tools by name; default: guessed. Advice may name the tools listed here. */
  readonly tools?: ToolDeclarations;
  readonly redaction?: RedactionSection;
  readonly store?: StoreSection;
  /** Default: deletes the oldest runs while the store is larger than 2 GB. */
  readonly gc?: GcSection;
  /** Conditions for the agent to stop; default: none. */
  readonly completion?: CompletionSection;
  /** Notifications of `coxswain watch` and the resident server of the hooks; default: none. Applies only in the user's own configuration. */
  readonly notify?: NotifySection;
}

/** Hours, minutes and seconds in this order: `45m`, `1h30m`, `90s`. */
export type DurationText = string;

/** The start of a deadline: the first prompt of the session, or each prompt. */
export type DeadlineFrom = 'session' | 'prompt';

/** A trigger of feedback in JSON; session events need code. */
export type TriggerConfig = Omit<FeedbackTrigger, 'onSessionEvent'>;

/** `false`: off. `true`: on with its defaults. Options: on with these and the defaults of the others. */
export type Switch<Options> = boolean | Options;

interface Triggered {
  /** Default: the provider's own, or that of the standard steering. */
  readonly trigger?: TriggerConfig;
}

/** The configuration of each provider of a table: its own options and the common ones. */
type Switches<Table, Common> = {
  readonly [Name in keyof Table]?: Switch<
    (Table[Name] extends { readonly make: ProviderDefinition<infer Options, unknown> } ? Options : never) & Common
  >;
};

/** Feedback providers by name. Deadline, pattern and pace belong to the standard set. */
export type FeedbackSection = Switches<typeof FEEDBACK, Triggered> & {
  /** Your own texts, each with a trigger. */
  readonly static?: readonly StaticFeedbackConfig[];
};

/** A text that is delivered whenever its trigger fires. */
export interface StaticFeedbackConfig extends Omit<StaticFeedbackOptions, 'pattern'> {
  readonly trigger: TriggerConfig;
}

/** Guidance providers by name. None belongs to the standard set. */
export type GuidanceSection = Switches<typeof GUIDANCE, GuidanceLimits> & {
  /** Your own texts, each with the situation in which it is delivered. */
  readonly bank?: readonly BankEntry[];
};

/** Your own piece of guidance. */
export interface BankEntry extends GuidanceDraft, GuidanceLimits {
  readonly when: Condition;
}

/** A situation, built of the built-in classifiers: exactly one member. `true` stands for the classifier's defaults. */
export type Condition =
  | { readonly doomLoop: true | DoomLoopOptions }
  | { readonly errorStreak: true | { readonly threshold?: number } }
  | { readonly recentFailures: true | { readonly threshold?: number } }
  | { readonly progressStall: true | { readonly maxCalls?: number } }
  | { readonly largeOutput: true | { readonly minChars?: number } }
  | { readonly highToolCount: true | { readonly threshold?: number } }
  | { readonly singleToolRepeated: true | { readonly threshold?: number } }
  | { readonly sequentialWhenParallel: true | { readonly threshold?: number } }
  | { readonly sensitiveContentPending: true }
  | { readonly allOf: readonly Condition[] }
  | { readonly anyOf: readonly Condition[] }
  | { readonly not: Condition }
  | { readonly threshold: { readonly of: Condition; readonly minConfidence: number } };

/** Detectors by kind of pattern: `false` is off, `true` the default thresholds. */
export type DetectorSection = {
  readonly [Kind in keyof typeof DETECTORS]?: Switch<
    (typeof DETECTORS)[Kind] extends DetectorFactory<infer Options> ? Options : never
  >;
};

/** Redaction of records before they are stored. */
export interface RedactionSection {
  /** Default true. */
  readonly enabled?: boolean;
  /** Default `secrets`. `structureOnly` stores no content. */
  readonly mode?: 'secrets' | 'structureOnly';
  /** For `structureOnly`: at least 16 characters. */
  readonly key?: string;
  /** Your own rules; the pattern is a JavaScript regular expression without flags. */
  readonly rules?: readonly { readonly name: string; readonly pattern: string }[];
  /** Built-in rules to switch off. */
  readonly off?: readonly string[];
  /** Texts that look like secrets but are not. */
  readonly allow?: readonly string[];
}

/** Where runs are recorded. */
export interface StoreSection {
  /**
   * A SQLite file, from the project folder, or from the home folder after `~/`; or `postgres://USER@HOST/DATABASE`. Default
   * `.coxswain/runs.db`.
   */
  readonly address?: string;
}

/** Which runs are deleted. */
export interface GcSection {
  /** Deletes runs inactive for this time: `30d`, `12h`, `2w`. */
  readonly olderThan?: string;
  /** Deletes the oldest runs while the store is larger: `2GB`, `500MB`. */
  readonly maxSize?: string;
}

/** Conditions for the agent to stop. */
export interface CompletionSection {
  /** Files that must exist, relative to the project folder. */
  readonly files?: readonly string[];
  /** A program and its arguments that must exit with code 0; runs without a shell. */
  readonly command?: readonly string[];
  /** Time limit of the command; default `60s`. */
  readonly timeout?: DurationText;
  /** Times the agent is kept from stopping, at most; default 3. */
  readonly maxAttempts?: number;
}

/** Notifications of people. */
export interface NotifySection {
  /** An address to post each notification to. */
  readonly webhook?: string;
  /** The form of the post: JSON (default), or for Slack. */
  readonly form?: 'json' | 'slack';
  /** A program and its arguments; runs without a shell. */
  readonly command?: readonly string[];
  /** Desktop notifications; default false. */
  readonly desktop?: boolean;
  /** Default: all reasons. */
  readonly on?: readonly NotifyReason[];
}

/** The reasons for a notification. */
export type NotifyReason = 'stuck' | 'continued' | 'budget' | 'deadline' | 'failed' | 'ended';
