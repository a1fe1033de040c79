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
 * What `coxswain.config.json` may say. Plain JSON; what is absent is as in `standardSteering()`. docs/configuration.md
 * has every field with its default, `schema/coxswain.config.schema.json` the same for editors.
 */
export interface CoxswainConfig {
  /** Where an editor finds the schema; means nothing here. */
  readonly $schema?: string;
  /** False: only those speak who are named here; default true. Detectors stay on: they do not speak. */
  readonly standard?: boolean;
  /** `shadow`: everything is worked out and recorded, nothing is said. Default `steer`. */
  readonly mode?: 'steer' | 'shadow';
  /** Share of episodes, 0 to 1, of which advice is withheld at random, to measure what it does; default 0. */
  readonly holdout?: number;
  /** By when a run should be done: `45m`, `1h30m`, `90s`, or parts that add up. Default: no deadline. */
  readonly deadline?: DurationText | TimeSpan;
  /** What the deadline counts from: the first prompt of the session (default), or each prompt anew. */
  readonly deadlineFrom?: DeadlineFrom;
  /** What a run may use; what is absent has no limit. */
  readonly budget?: Budget;
  /** When a run is to be stopped, by a host that can; default: never. */
  readonly stop?: StopPolicy;
  /** What models cost, by id, beside the built-in prices and in place of those of the same id; for figures, never for advice. */
  readonly prices?: Readonly<Record<string, Omit<ModelPrice, 'source' | 'checked'>>>;
  /** Default `all`. */
  readonly delivery?: FeedbackDelivery;
  /** Default `per-provider`. */
  readonly cadence?: FeedbackCadence;
  readonly noise?: NoiseOptions;
  /** Pieces of guidance a turn, over all providers; default 3. */
  readonly maxGuidancePerTurn?: number;
  /** What a provider may take before it counts as an overrun; default 50. */
  readonly providerTimeLimitMs?: number;
  /**
   * Whether advice may make the agent go on when it wants to stop, at most once a run, where the host has no gentler way
   * to say it at that point; default false.
   */
  readonly forceTurnAtStop?: boolean;
  readonly feedback?: FeedbackSection;
  readonly guidance?: GuidanceSection;
  readonly detectors?: DetectorSection;
  /** What tools do, by name; default: guessed. Advice may name the tools that stand here. */
  readonly tools?: ToolDeclarations;
  readonly redaction?: RedactionSection;
  readonly store?: StoreSection;
  /** When runs are deleted; default: the oldest, while the store is larger than 2 GB. */
  readonly gc?: GcSection;
  /** What must hold before the agent may stop; default: nothing. */
  readonly completion?: CompletionSection;
  /** Whom `coxswain watch` and the resident server of the hooks notify; default: nobody. Counts only in the user's own configuration. */
  readonly notify?: NotifySection;
}

/** Hours, minutes and seconds in this order: `45m`, `1h30m`, `90s`. */
export type DurationText = string;

/** What a deadline counts from. */
export type DeadlineFrom = 'session' | 'prompt';

/** When feedback is asked for, as JSON can say it: session events are for code. */
export type TriggerConfig = Omit<FeedbackTrigger, 'onSessionEvent'>;

/** `false`: off. `true`: on with its defaults. Options: on with these; what they leave out has its default. */
export type Switch<Options> = boolean | Options;

interface Triggered {
  /** Default: the provider's own, or that of the standard steering. */
  readonly trigger?: TriggerConfig;
}

/** What a configuration may say of each provider of a table: its options, and what every provider has. */
type Switches<Table, Common> = {
  readonly [Name in keyof Table]?: Switch<
    (Table[Name] extends { readonly make: ProviderDefinition<infer Options, unknown> } ? Options : never) & Common
  >;
};

/** Feedback providers by name. Deadline, pattern and pace belong to the standard set. */
export type FeedbackSection = Switches<typeof FEEDBACK, Triggered> & {
  /** Texts of one's own, each at its trigger. */
  readonly static?: readonly StaticFeedbackConfig[];
};

/** A text that is said whenever its trigger fires. */
export interface StaticFeedbackConfig extends Omit<StaticFeedbackOptions, 'pattern'> {
  readonly trigger: TriggerConfig;
}

/** Guidance providers by name. None belongs to the standard set. */
export type GuidanceSection = Switches<typeof GUIDANCE, GuidanceLimits> & {
  /** Texts of one's own, each with the situation in which it is said. */
  readonly bank?: readonly BankEntry[];
};

/** A piece of guidance of one's own. */
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

/** Detectors by the kind of pattern that reports name: `false` is off, `true` the default thresholds. */
export type DetectorSection = {
  readonly [Kind in keyof typeof DETECTORS]?: Switch<
    (typeof DETECTORS)[Kind] extends DetectorFactory<infer Options> ? Options : never
  >;
};

/** What is taken out of records before they are stored. */
export interface RedactionSection {
  /** False takes nothing out; default true. */
  readonly enabled?: boolean;
  /** Default `secrets`. `structureOnly` stores no content. */
  readonly mode?: 'secrets' | 'structureOnly';
  /** For `structureOnly`: 16 characters at least. */
  readonly key?: string;
  /** Rules of one's own; the pattern is a JavaScript regular expression without flags. */
  readonly rules?: readonly { readonly name: string; readonly pattern: string }[];
  /** Built-in rules that are off. */
  readonly off?: readonly string[];
  /** Texts that look like secrets and are none. */
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
  /** Runs without activity for so long go: `30d`, `12h`, `2w`. */
  readonly olderThan?: string;
  /** The oldest runs go while the store is larger: `2GB`, `500MB`. */
  readonly maxSize?: string;
}

/** What must hold before the agent may stop. */
export interface CompletionSection {
  /** Files that must exist, from the project folder. */
  readonly files?: readonly string[];
  /** A program and its arguments that must end with exit code 0; no shell reads it. */
  readonly command?: readonly string[];
  /** How long the command may take; default `60s`. */
  readonly timeout?: DurationText;
  /** How often the agent is sent back at most; default 3. */
  readonly maxAttempts?: number;
}

/** Who is notified of what. */
export interface NotifySection {
  /** An address that each notification is posted to. */
  readonly webhook?: string;
  /** What is posted: the notification as JSON (default), or what Slack takes. */
  readonly form?: 'json' | 'slack';
  /** A program and its arguments; no shell reads it. */
  readonly command?: readonly string[];
  /** The desktop's own notification; default false. */
  readonly desktop?: boolean;
  /** Default: all of them. */
  readonly on?: readonly NotifyReason[];
}

/** What a run can be notified for. */
export type NotifyReason = 'stuck' | 'continued' | 'budget' | 'deadline' | 'failed' | 'ended';
