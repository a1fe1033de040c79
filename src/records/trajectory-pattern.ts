import type { ShapeOf, ValueOf } from './field-types.ts';
import { CHOICES } from './shapes.ts';

/** How sure a pattern is: `hint` speaks as info, `warn` as caution, `strong` as warning. */
export type PatternLevel = ValueOf<'level'>;

/** What the calls of a pattern came back with: something, nothing, a mere "done", or a failure of one cause. */
export type AnswerClass = ValueOf<'answer_class'>;

/** Every class of answer. */
export const ANSWER_CLASSES: readonly AnswerClass[] = CHOICES.answer_class;

/** Something the trajectory shows: a loop, a run of errors, a stall. Plain data, as stored and as printed. */
export type TrajectoryPattern = ShapeOf<'pattern'>;
