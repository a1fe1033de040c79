import type { ShapeOf, ValueOf } from './field-types.ts';
import { CHOICES } from './shapes.ts';

/** Certainty of a pattern. Advice about `hint` has severity info, about `warn` caution, about `strong` warning. */
export type PatternLevel = ValueOf<'level'>;

/** Class of the results of a pattern: content, nothing, a mere "done", or a cause of failure. */
export type AnswerClass = ValueOf<'answer_class'>;

export const ANSWER_CLASSES: readonly AnswerClass[] = CHOICES.answer_class;

/** A pattern in the trajectory: a loop, a run of errors, a stall. Plain data, as stored and printed. */
export type TrajectoryPattern = ShapeOf<'pattern'>;
