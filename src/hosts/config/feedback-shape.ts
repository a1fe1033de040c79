import type { Severity, Observation } from '../../core/records/spoken-advice.ts';
import type { PatternLevel } from '../../core/records/trajectory-pattern.ts';
import type { PatternTrigger } from '../../core/steering/prompt/feedback-trigger.ts';
import { ToolInvoked } from '../../core/session/tool-invoked.ts';
import type { StaticFeedbackConfig, TriggerConfig } from './coxswain-config.ts';
import { PATTERN_KINDS } from './detectors-of.ts';
import { FEEDBACK } from './feedback-providers.ts';
import {
  above0,
  choice,
  flag,
  list,
  object,
  switchOf,
  text,
  whole,
  type ChoiceShape,
  type ObjectShape,
  type Shape,
  type ShapesOf,
  type TextShape,
} from '../../core/base/shape.ts';

const YEAR_SECONDS = 31_536_000;
const MAX_ITEMS = 20;

const level = (defaultLevel?: PatternLevel): ChoiceShape =>
  choice<PatternLevel>({ hint: true, warn: true, strong: true }, defaultLevel);

/** A path in the form in which the agent writes it. */
export const pathText: TextShape = text('a path', { maxChars: 1_024, pattern: () => /^[^\0]+$/ });

const triggerShape: ObjectShape = object(
  {
    everyNCalls: whole(1, ToolInvoked.retain),
    everyNSeconds: above0(YEAR_SECONDS),
    onPattern: object({
      kind: { kind: 'choice', values: PATTERN_KINDS },
      level: level('warn'),
      stuck: flag(),
    } satisfies ShapesOf<PatternTrigger>),
    onFileCreated: pathText,
  } satisfies ShapesOf<TriggerConfig>,
  { members: 'some', strict: true },
);

/** Returns the shape of the options of a provider and its trigger. */
function triggeredObject(fields: Readonly<Record<string, Shape>>): ObjectShape {
  return { kind: 'object', fields: { ...fields, trigger: triggerShape } };
}

const adviceText = (description: string): TextShape =>
  text(description, { maxChars: 1_000, pattern: () => /[^\s\p{C}]/u });

const staticShape: ObjectShape = object(
  {
    name: text('a name of 1 to 64 letters, digits, spaces, ".", "_" or "-"', {
      maxChars: 64,
      pattern: () => /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u,
    }),
    summary: adviceText('a text of 1 to 1,000 characters'),
    severity: choice<Severity>({ info: true, caution: true, warning: true }, 'info'),
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

export const feedbackShape: ObjectShape = {
  kind: 'object',
  fields: {
    ...Object.fromEntries(
      Object.entries(FEEDBACK).map(([name, { make, isUsual }]) => [
        name,
        switchOf(triggeredObject(make.options), isUsual),
      ]),
    ),
    static: list(staticShape, 50),
  },
};
