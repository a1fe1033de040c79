import { STANDARD_NOISE } from '../../core/steering/standard-steering.ts';
import { present } from '../../core/base/json.ts';
import { NOISE_DEFAULTS, type NoiseOptions } from '../../core/steering/advice/advice.ts';
import { STEERING_DEFAULTS, GUIDANCE_DEFAULTS } from '../../core/steering/prompt/define-provider.ts';
import { COMPLETION_DEFAULTS } from '../../core/run/completion-check.ts';
import type { Budget } from '../../core/base/budget.ts';
import type { TimeSpan } from '../../core/base/deadline.ts';
import { BYTES_TEXT, DURATION_TEXT } from '../../core/base/number-text.ts';
import type { FeedbackCadence, FeedbackDelivery } from '../../core/steering/prompt/prompt-template.ts';
import { BUILT_IN_RULES } from '../../core/redact/secret-rules.ts';
import { TOOL_KINDS } from '../../core/detect/calls/tool-kind.ts';
import type { ToolAnnotations, ToolDeclaration } from '../../core/detect/calls/tool-semantics.ts';
import {
  NOTIFY_REASONS,
  type CompletionSection,
  type CoxswainConfig,
  type DeadlineFrom,
  type GcSection,
  type NotifySection,
  type RedactionSection,
  type StoreSection,
  type StaticFeedbackConfig,
  type TriggerConfig,
  type BankEntry,
  type Condition,
  type GuidanceSection,
} from './coxswain-config.ts';
import { DETECTORS } from '../../core/detect/detectors/default-detectors.ts';
import type { DetectorFactory } from '../../core/detect/detectors/define-detector.ts';
import { MAX_AFTER_CALLS, STUCK_STOP_DEFAULTS, type StopPolicy } from '../../core/steering/stop-policy.ts';
import { PRICE_SHAPES } from '../../core/records/answer-cost.ts';
import {
  above0,
  amount,
  choice,
  choiceOf,
  flag,
  list,
  object,
  share,
  text,
  whole,
  type ObjectShape,
  type ShapesOf,
  type TextShape,
  switchOf,
  type Shape,
  type EitherShape,
} from '../../core/base/shape.ts';
import { DECISION_POINTS, SEVERITIES, type Observation } from '../../core/records/spoken-advice.ts';
import { CHOICES } from '../../core/records/shapes.ts';
import type { PatternTrigger } from '../../core/steering/prompt/feedback-provider.ts';
import { ToolInvoked } from '../../core/session/tool-invoked.ts';
import { FEEDBACK, BANK_LIMITS, CLASSIFIERS, GUIDANCE, type GuidanceLimits } from './providers.ts';

const DEFINITIONS: readonly (readonly [string, Pick<DetectorFactory<string>, 'options'>])[] = Object.entries(DETECTORS);

/** `ping_pong` has no options, because `cycle` finds it. */
const PATTERN_KINDS: readonly string[] = ['ping_pong', ...Object.keys(DETECTORS)];

const YEAR_SECONDS = 31_536_000;
const MAX_ITEMS = 20;

/** A path in the form in which the agent writes it. */
const pathText: TextShape = text('a path', { maxChars: 1_024, pattern: () => /^[^\0]+$/ });

const triggerShape: ObjectShape = object(
  {
    everyNCalls: whole(1, ToolInvoked.retain),
    everyNSeconds: above0(YEAR_SECONDS),
    onPattern: object({
      kind: choiceOf(PATTERN_KINDS),
      level: choiceOf(CHOICES.level, 'warn'),
      stuck: flag(),
    } satisfies ShapesOf<PatternTrigger>),
    onFileCreated: pathText,
  } satisfies ShapesOf<TriggerConfig>,
  { members: 'some', strict: true },
);

const adviceText = (description: string): TextShape =>
  text(description, { maxChars: 1_000, pattern: () => /[^\s\p{C}]/u });

const staticShape: ObjectShape = object(
  {
    name: text('a name of 1 to 64 letters, digits, spaces, ".", "_" or "-"', {
      maxChars: 64,
      pattern: () => /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u,
    }),
    summary: adviceText('a text of 1 to 1,000 characters'),
    severity: choiceOf(SEVERITIES, 'info'),
    observations: list(
      object(
        {
          category: adviceText('a category of 1 to 1,000 characters'),
          description: adviceText('a text of 1 to 1,000 characters'),
          evidence: adviceText('a text of 1 to 1,000 characters'),
        } satisfies ShapesOf<Observation>,
        { required: ['category', 'description'] },
      ),
      MAX_ITEMS,
    ),
    suggestions: list(adviceText('a text of 1 to 1,000 characters'), MAX_ITEMS),
    trigger: triggerShape,
  } satisfies ShapesOf<StaticFeedbackConfig>,
  { required: ['name', 'summary', 'trigger'], strict: true },
);

const feedbackShape: ObjectShape = {
  kind: 'object',
  fields: {
    ...Object.fromEntries(
      Object.entries(FEEDBACK).map(([name, { make, isUsual }]) => [
        name,
        switchOf(object({ ...make.options, trigger: triggerShape }), isUsual),
      ]),
    ),
    static: list(staticShape, 50),
  },
};

const MAX_LIMIT = 1_000_000;

/** Returns the shape of the limits with the defaults of a provider. Other defaults are those of `resolveGuidanceConfig`. */
function limits({
  maxPerTurn,
  minConfidence = GUIDANCE_DEFAULTS.minConfidence,
  cooldownTurns = GUIDANCE_DEFAULTS.cooldownTurns,
  maxPerRun,
}: GuidanceLimits): ShapesOf<GuidanceLimits> {
  return {
    maxPerTurn: whole(1, MAX_LIMIT, maxPerTurn),
    minConfidence: share(minConfidence),
    decisionPoints: list(choiceOf(DECISION_POINTS), DECISION_POINTS.length, 1),
    cooldownTurns: whole(0, MAX_LIMIT, cooldownTurns),
    maxPerRun: whole(1, MAX_LIMIT, maxPerRun),
  };
}

const onlyTrue: Shape = { kind: 'flag', onlyTrue: true };

type ConditionName = Condition extends infer One ? (One extends Condition ? keyof One : never) : never;

const nested: Shape = { kind: 'lazy', shape: () => conditionShape };
const parts = list(nested, 16, 1);

const conditionShape: ObjectShape = object(
  {
    ...Object.fromEntries(
      Object.entries(CLASSIFIERS).map(([name, { options }]) => [
        name,
        { kind: 'either', shapes: [onlyTrue, object(options)] } satisfies EitherShape,
      ]),
    ),
    sensitiveContentPending: onlyTrue,
    allOf: parts,
    anyOf: parts,
    not: nested,
    threshold: object(
      { of: nested, minConfidence: share() } satisfies ShapesOf<{ of: unknown; minConfidence: number }>,
      { required: ['of', 'minConfidence'] },
    ),
  } satisfies ShapesOf<Record<Exclude<ConditionName, keyof typeof CLASSIFIERS>, unknown>>,
  { members: 'one', strict: true },
);

const bankShape: ObjectShape = object(
  {
    key: text('1 to 64 of a-z, 0-9, ".", "_", "-", beginning with a letter or digit', {
      maxChars: 64,
      pattern: () => /^[a-z0-9][a-z0-9._-]*$/,
    }),
    content: text('a text of 1 to 500 characters', { maxChars: 500, pattern: () => /[^\s\p{C}]/u }),
    priority: { kind: 'number', whole: true, min: -1_000_000, max: 1_000_000, default: 100 },
    category: text('a text of 1 to 64 characters', { maxChars: 64, pattern: () => /[^\s\p{C}]/u, default: 'project' }),
    when: conditionShape,
    ...limits(BANK_LIMITS),
  } satisfies ShapesOf<BankEntry>,
  { required: ['key', 'content', 'when'], strict: true },
);

const guidanceShape: ObjectShape = object({
  ...Object.fromEntries(
    Object.entries(GUIDANCE).map(([name, { make, limits: defaults }]) => [
      name,
      switchOf(object({ ...make.options, ...limits(defaults) }), false),
    ]),
  ),
  bank: list(bankShape, 100),
} satisfies ShapesOf<Pick<GuidanceSection, 'bank'>>);

const MAX_COUNT = 1_000_000_000;

const duration = (standard?: string): TextShape =>
  text('a duration such as 45m, 1h30m or 90s', {
    maxChars: 40,
    pattern: () => DURATION_TEXT,
    ...present({ default: standard }),
  });

/** A path or a PostgreSQL URL. In-memory stores are not allowed, because their data is lost when the process ends. */
const STORE_ADDRESS = /^(?!memory:|(?!postgres(?:ql)?:[/][/])[a-z][a-z0-9+.-]+:[/][/])[^\0]+$/;

const memberPath = text('a name or a path such as filter.id', { minChars: 1, maxChars: 256 });

const redactionShape: ObjectShape = object({
  enabled: flag(true),
  mode: choice<'secrets' | 'structureOnly'>({ secrets: true, structureOnly: true }, 'secrets'),
  key: text('a text of 16 characters or more', { minChars: 16, maxChars: 1_024, isSecret: true }),
  rules: list(
    object(
      {
        name: text('1 to 40 of a-z, 0-9 and "-", beginning with a letter or digit', {
          maxChars: 40,
          pattern: () => /^[a-z0-9][a-z0-9-]*$/,
        }),
        pattern: text('a regular expression', { minChars: 1, maxChars: 1_000, isPattern: true }),
      } satisfies ShapesOf<{ name: string; pattern: string }>,
      { required: ['name', 'pattern'], strict: true },
    ),
    50,
  ),
  off: list(choiceOf(BUILT_IN_RULES), 200),
  allow: list(text('a text', { minChars: 1, maxChars: 1_024, isSecret: true }), 200),
} satisfies ShapesOf<RedactionSection>);

const completionShape: ObjectShape = object({
  files: list(pathText, 100),
  command: list(text('a program or an argument', { maxChars: 4_096, pattern: () => /^[^\0]*$/ }), 100, 1),
  timeout: duration(`${COMPLETION_DEFAULTS.timeoutMs / 1_000}s`),
  maxAttempts: whole(1, 8, COMPLETION_DEFAULTS.maxAttempts),
} satisfies ShapesOf<CompletionSection>);

const notifyShape: ObjectShape = object(
  {
    webhook: text('an address that begins with http:// or https://', {
      maxChars: 2_048,
      pattern: () => /^https?:[/][/][^\s/?#@]+(?:[/?]\S*)?$/,
      isSecret: true,
    }),
    form: choice<NonNullable<NotifySection['form']>>({ json: true, slack: true, discord: true, ntfy: true }, 'json'),
    command: list(text('a program or an argument', { maxChars: 4_096, pattern: () => /^[^\0]*$/ }), 100, 1),
    desktop: flag(false),
    on: list(choiceOf(NOTIFY_REASONS), NOTIFY_REASONS.length, 1),
    quiet: text('two times of day, such as 23:00-07:00', {
      maxChars: 11,
      pattern: () => /^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/,
    }),
  } satisfies ShapesOf<NotifySection>,
  { strict: true },
);

export const configShape: ObjectShape = object({
  $schema: text('a text', { maxChars: 2_048 }),
  standard: flag(true),
  mode: choice<'steer' | 'shadow'>({ steer: true, shadow: true }, 'steer'),
  holdout: share(0),
  deadline: {
    kind: 'either',
    shapes: [
      duration(),
      object(
        {
          hours: above0(YEAR_SECONDS / 3_600),
          minutes: above0(YEAR_SECONDS / 60),
          seconds: above0(YEAR_SECONDS),
        } satisfies ShapesOf<TimeSpan>,
        { members: 'some', strict: true },
      ),
    ],
  },
  deadlineFrom: choice<DeadlineFrom>({ session: true, prompt: true }, 'session'),
  budget: object({
    calls: whole(0, MAX_COUNT),
    tokens: whole(0, Number.MAX_SAFE_INTEGER),
    costUsd: amount(0, MAX_COUNT),
  } satisfies ShapesOf<Budget>),
  stop: object({
    stuck: object({
      level: choice<'warn' | 'strong'>({ warn: true, strong: true }, STUCK_STOP_DEFAULTS.level),
      afterCalls: whole(0, MAX_AFTER_CALLS, STUCK_STOP_DEFAULTS.afterCalls),
    } satisfies ShapesOf<Required<StopPolicy>['stuck']>),
    budget: flag(false),
  } satisfies ShapesOf<StopPolicy>),
  prices: {
    kind: 'map',
    maxNameChars: 128,
    maxItems: 1_000,
    values: object(PRICE_SHAPES, { strict: true }),
  },
  delivery: choice<FeedbackDelivery>({ first: true, all: true }, 'all'),
  cadence: choice<FeedbackCadence>({ shared: true, 'per-provider': true }, 'per-provider'),
  noise: object({
    maxPerPattern: whole(0, MAX_COUNT, NOISE_DEFAULTS.maxPerPattern),
    cooldownCalls: whole(0, MAX_COUNT, NOISE_DEFAULTS.cooldownCalls),
    cooldownTurns: whole(0, MAX_COUNT, NOISE_DEFAULTS.cooldownTurns),
    feedbackCooldownCalls: whole(0, MAX_COUNT, NOISE_DEFAULTS.feedbackCooldownCalls),
    callsPerAdvice: whole(0, MAX_COUNT, STANDARD_NOISE.callsPerAdvice),
    maxPerRun: whole(0, MAX_COUNT, STANDARD_NOISE.maxPerRun),
  } satisfies ShapesOf<NoiseOptions>),
  maxGuidancePerTurn: whole(0, MAX_COUNT, STEERING_DEFAULTS.maxGuidancePerTurn),
  providerTimeLimitMs: amount(1, 60_000, STEERING_DEFAULTS.providerTimeLimitMs),
  forceTurnAtStop: flag(false),
  feedback: feedbackShape,
  guidance: guidanceShape,
  detectors: object(Object.fromEntries(DEFINITIONS.map(([kind, { options }]) => [kind, switchOf(options, true)]))),
  tools: {
    kind: 'map',
    maxNameChars: 128,
    maxItems: 1_000,
    values: object({
      kind: choiceOf(TOOL_KINDS),
      loopKey: list(memberPath, 32, 1),
      progressKey: list(memberPath, 32, 1),
      annotations: object({ readOnlyHint: flag(), destructiveHint: flag() } satisfies ShapesOf<ToolAnnotations>),
    } satisfies ShapesOf<ToolDeclaration>),
  },
  redaction: redactionShape,
  store: object(
    {
      address: text('a path, or postgres://USER@HOST/DATABASE', {
        maxChars: 1_024,
        pattern: () => STORE_ADDRESS,
        isSecret: true,
      }),
    } satisfies ShapesOf<StoreSection>,
    { strict: true },
  ),
  gc: object({
    olderThan: duration(),
    maxSize: text('a size such as 500MB or 2GB', { maxChars: 20, pattern: () => BYTES_TEXT }),
  } satisfies ShapesOf<GcSection>),
  completion: completionShape,
  notify: notifyShape,
} satisfies ShapesOf<CoxswainConfig>);
