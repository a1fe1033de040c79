import type { ModelPrice } from '../../core/records/answer-cost.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';
import type { Budget } from '../../core/base/budget.ts';
import type { TimeSpan } from '../../core/base/deadline.ts';
import type { DETECTORS } from '../../core/detect/detectors/default-detectors.ts';
import type { ProviderDefinition } from '../../core/steering/prompt/define-provider.ts';
import type { StaticFeedbackOptions } from '../../core/steering/feedback/built-in-feedback.ts';
import type { DoomLoopOptions } from '../../core/steering/guidance/built-in-guidance.ts';
import type { FeedbackTrigger } from '../../core/steering/prompt/feedback-provider.ts';
import type { GuidanceDraft } from '../../core/steering/prompt/guidance-provider.ts';
import type { FeedbackCadence, FeedbackDelivery } from '../../core/steering/prompt/prompt-template.ts';
import type { FEEDBACK, GUIDANCE, GuidanceLimits } from './providers.ts';

/**
 * The content of `coxswain.config.json`. Plain JSON. Absent fields have the values of `standardSteering()`. docs/configuration.md
 * lists every field with its default. `schema/coxswain.config.schema.json` contains the same information for editors.
 */
export interface CoxswainConfig extends Pick<
  SteeringOptions,
  'mode' | 'stop' | 'noise' | 'maxGuidancePerTurn' | 'tools' | 'providerTimeLimitMs'
> {
  /** Used by editors; ignored by coxswain. */
  readonly $schema?: string;
  /** False: only the providers named in this configuration are enabled. Default: true. Detectors are always enabled. */
  readonly standard?: boolean;
  /** Share (0 to 1) of episodes whose advice is withheld at random, to measure its effect. Default: 0. */
  readonly holdout?: number;
  /** The time limit of a run: `45m`, `1h30m`, `90s`, or an object whose fields are added. Default: no deadline. */
  readonly deadline?: DurationText | TimeSpan;
  /** The start of the deadline: the first prompt of the session (default), or each prompt. */
  readonly deadlineFrom?: DeadlineFrom;
  /** The budget of a run. An absent field means no limit. Default: no budget. */
  readonly budget?: Budget;
  /** Model prices by model id, in addition to the built-in prices or replacing them. Used for reports, never for advice. */
  readonly prices?: Readonly<Record<string, Omit<ModelPrice, 'source' | 'checked'>>>;
  /** Default: `all`. */
  readonly delivery?: FeedbackDelivery;
  /** Default: `per-provider`. */
  readonly cadence?: FeedbackCadence;
  /** Advice may prevent a stop, at most once per run, if the host cannot deliver it otherwise. Default: false. */
  readonly forceTurnAtStop?: boolean;
  readonly feedback?: FeedbackSection;
  readonly guidance?: GuidanceSection;
  readonly detectors?: DetectorSection;
  readonly redaction?: RedactionSection;
  readonly store?: StoreSection;
  /** Default: deletes the oldest runs while the store is larger than 2 GB. */
  readonly gc?: GcSection;
  /** Conditions that must hold before the agent may stop. Default: none. */
  readonly completion?: CompletionSection;
  /** Notifications of `coxswain watch`. Default: none. Ignored outside the user's own configuration. */
  readonly notify?: NotifySection;
}

/** Hours, minutes and seconds in this order: `45m`, `1h30m`, `90s`. */
export type DurationText = string;

/** The start of a deadline: the first prompt of the session, or each prompt. */
export type DeadlineFrom = 'session' | 'prompt';

/** A feedback trigger in JSON. Triggers on session events require code. */
export type TriggerConfig = Omit<FeedbackTrigger, 'onSessionEvent'>;

/** `false`: disabled. `true`: enabled with default options. An object: enabled with these options; the others have defaults. */
export type Switch<Options> = boolean | Options;

/** The configuration of each provider in a table: its own options and the options common to all providers. */
type Switches<Table, Common> = {
  readonly [Name in keyof Table]?: Switch<
    (Table[Name] extends { readonly make: ProviderDefinition<infer Options, unknown> } ? Options : never) & Common
  >;
};

/** Feedback providers by name. The standard steering enables `deadline`, `pattern` and `pace`. */
export type FeedbackSection = Switches<
  typeof FEEDBACK,
  {
    /** Default: the trigger of the provider or of the standard steering. */
    readonly trigger?: TriggerConfig;
  }
> & {
  /** Custom texts, each with a trigger. */
  readonly static?: readonly StaticFeedbackConfig[];
};

/** A text that is delivered whenever its trigger fires. */
export interface StaticFeedbackConfig extends Omit<StaticFeedbackOptions, 'pattern'> {
  readonly trigger: TriggerConfig;
}

/** Guidance providers by name. The standard steering enables none of them. */
export type GuidanceSection = Switches<typeof GUIDANCE, GuidanceLimits> & {
  /** Custom texts, each with the condition under which it is delivered. */
  readonly bank?: readonly BankEntry[];
};

export interface BankEntry extends GuidanceDraft, GuidanceLimits {
  readonly when: Condition;
}

/** A condition based on a built-in classifier. Has exactly one field. `true` selects the default options of the classifier. */
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

/** Detectors by pattern kind. `false` disables a detector. `true` enables it with default thresholds. */
export type DetectorSection = {
  readonly [Kind in keyof typeof DETECTORS]?: Switch<NonNullable<Parameters<(typeof DETECTORS)[Kind]>[0]>>;
};

/** Redaction of records before they are stored. */
export interface RedactionSection {
  /** Default: true. */
  readonly enabled?: boolean;
  /** Default: `secrets`. `structureOnly` stores no content. */
  readonly mode?: 'secrets' | 'structureOnly';
  /** Key for `structureOnly`, at least 16 characters. */
  readonly key?: string;
  /** Custom rules. The pattern is a JavaScript regular expression without flags. */
  readonly rules?: readonly { readonly name: string; readonly pattern: string }[];
  /** Names of built-in rules to disable. */
  readonly off?: readonly string[];
  /** Texts that match a rule but are not secrets. */
  readonly allow?: readonly string[];
}

/** The location of recorded runs. */
export interface StoreSection {
  /** A SQLite file, relative to the project or `~/`, or `postgres://USER@HOST/DATABASE`. Default: in your data folder. */
  readonly address?: string;
}

/** Selects the runs to delete. */
export interface GcSection {
  /** Deletes runs without activity for this time: `30d`, `12h`, `2w`. */
  readonly olderThan?: string;
  /** Deletes the oldest runs while the store is larger than this: `2GB`, `500MB`. */
  readonly maxSize?: string;
}

/** Conditions that must hold before the agent may stop. */
export interface CompletionSection {
  /** Paths of files that must exist, relative to the project folder. */
  readonly files?: readonly string[];
  /** A program and its arguments. It must exit with code 0. It runs without a shell. */
  readonly command?: readonly string[];
  /** Time limit of the command. Default: `60s`. */
  readonly timeout?: DurationText;
  /** Maximum number of times that the agent is prevented from stopping. Default: 3. */
  readonly maxAttempts?: number;
}

/** Settings for notifications to people. */
export interface NotifySection {
  /** A URL that receives each notification as a POST request. */
  readonly webhook?: string;
  /** The format of the request: JSON (default), a message for Slack or Discord, or text for ntfy. */
  readonly form?: 'json' | 'slack' | 'discord' | 'ntfy';
  /** A program and its arguments. It runs without a shell. */
  readonly command?: readonly string[];
  /** Enables desktop notifications. Default: false. */
  readonly desktop?: boolean;
  /** The reasons to notify. Default: all reasons. */
  readonly on?: readonly NotifyReason[];
  /** Hours without notifications, in local time, such as `23:00-07:00`. The next notification says how many there were. Default: none. */
  readonly quiet?: string;
}

export const NOTIFY_REASONS = [
  'waiting',
  'silent',
  'limit',
  'context',
  'runaway',
  'stuck',
  'continued',
  'budget',
  'deadline',
  'failed',
  'ended',
] as const;

export type NotifyReason = (typeof NOTIFY_REASONS)[number];
