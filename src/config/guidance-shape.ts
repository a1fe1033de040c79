import { present } from '../base/present.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { ConsultationPromptOptions } from '../steering/guidance/consultation-prompt.ts';
import type { DiagnosticSignalOptions } from '../steering/guidance/diagnostic-signal.ts';
import type { DoomLoopOptions } from '../steering/guidance/doom-loop.ts';
import type { ParallelToolReminderOptions } from '../steering/guidance/parallel-tool-reminder.ts';
import type { BankEntry, Condition, GuidanceLimits, GuidanceSection } from './coxswain-config.ts';
import { choice, list, object, share, switchOf, text, whole } from '../base/shape.ts';
import type { EitherShape, ObjectShape, Shape, ShapesOf, TextShape } from '../base/shape.ts';

const MAX_COUNT = 1_000_000;

const toolName = (standard?: string): TextShape =>
  text('the name of a tool: 1 to 128 characters without blanks, backticks or angle brackets', {
    maxChars: 128,
    pattern: () => /^[^\p{C}\s`<>]+$/u,
    ...present({ default: standard }),
  });

const decisionPoint = choice<DecisionPoint>({
  pre_render: true,
  pre_tool_selection: true,
  pre_tool_execution: true,
  post_tool_result: true,
  pre_response: true,
});

/** What the standard steering, or the bank, sets where nothing is said. */
interface LimitDefaults {
  readonly minConfidence: number;
  readonly cooldownTurns: number;
  readonly maxPerRun?: number;
}

function limits(defaults: LimitDefaults): ShapesOf<GuidanceLimits> {
  return {
    maxPerTurn: whole(1, MAX_COUNT, 1),
    minConfidence: share(defaults.minConfidence),
    decisionPoints: list(decisionPoint, 5, 1),
    cooldownTurns: whole(0, MAX_COUNT, defaults.cooldownTurns),
    maxPerRun: whole(1, MAX_COUNT, defaults.maxPerRun),
  };
}

function limited(fields: Readonly<Record<string, Shape>>, defaults: LimitDefaults): ObjectShape {
  return { kind: 'object', fields: { ...fields, ...limits(defaults) } };
}

const doomLoopFields: ShapesOf<DoomLoopOptions> = {
  similarityThreshold: share(0.85),
  windowSize: whole(2, 32, 5),
  maxRepetitions: whole(2, 32, 3),
};

const onlyTrue: Shape = { kind: 'flag', onlyTrue: true };

/** `true`, or options. */
function classifier(options: ObjectShape): EitherShape {
  return { kind: 'either', shapes: [onlyTrue, options] };
}

const thresholdOf = (min: number, max: number, standard: number): EitherShape =>
  classifier(object({ threshold: whole(min, max, standard) } satisfies ShapesOf<{ readonly threshold?: number }>));

/** Names of all members of a condition. */
type ConditionName = Condition extends infer One ? (One extends Condition ? keyof One : never) : never;

const again: Shape = { kind: 'lazy', shape: () => conditionShape };
const parts = list(again, 16, 1);

/** The situation in which a piece of the bank is said. */
const conditionShape: ObjectShape = object(
  {
    doomLoop: classifier(object(doomLoopFields)),
    errorStreak: thresholdOf(1, MAX_COUNT, 3),
    recentFailures: thresholdOf(1, 128, 5),
    progressStall: classifier(
      object({ maxCalls: whole(1, 200, 20) } satisfies ShapesOf<{ readonly maxCalls?: number }>),
    ),
    largeOutput: classifier(
      object({ minChars: whole(1, 1_000_000_000, 20_000) } satisfies ShapesOf<{ readonly minChars?: number }>),
    ),
    highToolCount: thresholdOf(1, MAX_COUNT, 50),
    singleToolRepeated: thresholdOf(2, 128, 5),
    sequentialWhenParallel: thresholdOf(2, 16, 3),
    sensitiveContentPending: onlyTrue,
    allOf: parts,
    anyOf: parts,
    not: again,
    threshold: object(
      { of: again, minConfidence: share() } satisfies ShapesOf<{ of: unknown; minConfidence: number }>,
      { required: ['of', 'minConfidence'] },
    ),
  } satisfies ShapesOf<Record<ConditionName, unknown>>,
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
    ...limits({ minConfidence: 0.5, cooldownTurns: 5 }),
  } satisfies ShapesOf<BankEntry>,
  { required: ['key', 'content', 'when'], strict: true },
);

/** `guidance`. */
export const guidanceShape: ObjectShape = object({
  doomLoop: switchOf(limited(doomLoopFields, { minConfidence: 0.7, cooldownTurns: 0 }), true),
  diagnosticSignal: switchOf(
    limited(
      { errorThreshold: whole(1, MAX_COUNT, 3), logToolName: toolName() } satisfies ShapesOf<DiagnosticSignalOptions>,
      { minConfidence: 0.5, cooldownTurns: 0 },
    ),
    true,
  ),
  consultationPrompt: switchOf(
    limited(
      {
        failureThreshold: whole(1, 128, 5),
        consultationTool: toolName('request_review'),
      } satisfies ShapesOf<ConsultationPromptOptions>,
      { minConfidence: 0.5, cooldownTurns: 5 },
    ),
    false,
  ),
  parallelToolReminder: switchOf(
    limited({ sequentialThreshold: whole(2, 16, 3) } satisfies ShapesOf<ParallelToolReminderOptions>, {
      minConfidence: 0.5,
      cooldownTurns: 10,
      maxPerRun: 3,
    }),
    true,
  ),
  bank: list(bankShape, 100),
} satisfies ShapesOf<GuidanceSection>);
