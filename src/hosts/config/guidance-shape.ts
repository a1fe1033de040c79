import { GUIDANCE_DEFAULTS } from '../../core/steering/prompt/define-provider.ts';
import type { DecisionPoint } from '../../core/records/spoken-advice.ts';
import type { BankEntry, Condition, GuidanceSection } from './coxswain-config.ts';
import { BANK_LIMITS, CLASSIFIERS, GUIDANCE, type GuidanceLimits } from './guidance-providers.ts';
import {
  choice,
  list,
  object,
  share,
  switchOf,
  text,
  whole,
  type EitherShape,
  type ObjectShape,
  type Shape,
  type ShapesOf,
} from '../../core/base/shape.ts';

const MAX_COUNT = 1_000_000;

const decisionPoint = choice<DecisionPoint>({
  pre_render: true,
  pre_tool_selection: true,
  pre_tool_execution: true,
  post_tool_result: true,
  pre_response: true,
});

/** Returns the shape of the limits with the defaults of a provider. Other defaults are those of `resolveGuidanceConfig`. */
function limits({
  maxPerTurn,
  minConfidence = GUIDANCE_DEFAULTS.minConfidence,
  cooldownTurns = GUIDANCE_DEFAULTS.cooldownTurns,
  maxPerRun,
}: GuidanceLimits): ShapesOf<GuidanceLimits> {
  return {
    maxPerTurn: whole(1, MAX_COUNT, maxPerTurn),
    minConfidence: share(minConfidence),
    decisionPoints: list(decisionPoint, 5, 1),
    cooldownTurns: whole(0, MAX_COUNT, cooldownTurns),
    maxPerRun: whole(1, MAX_COUNT, maxPerRun),
  };
}

const onlyTrue: Shape = { kind: 'flag', onlyTrue: true };

/** Returns the shape of `true` or an options object. */
function classifier(options: ObjectShape): EitherShape {
  return { kind: 'either', shapes: [onlyTrue, options] };
}

/** The field names of all conditions. */
type ConditionName = Condition extends infer One ? (One extends Condition ? keyof One : never) : never;

const nested: Shape = { kind: 'lazy', shape: () => conditionShape };
const parts = list(nested, 16, 1);

/** The shape of the condition under which a custom text is delivered. */
const conditionShape: ObjectShape = object(
  {
    ...Object.fromEntries(
      Object.entries(CLASSIFIERS).map(([name, { options }]) => [name, classifier(object(options))]),
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

export const guidanceShape: ObjectShape = object({
  ...Object.fromEntries(
    Object.entries(GUIDANCE).map(([name, { make, limits: defaults }]) => [
      name,
      switchOf(object({ ...make.options, ...limits(defaults) }), false),
    ]),
  ),
  bank: list(bankShape, 100),
} satisfies ShapesOf<Pick<GuidanceSection, 'bank'>>);
