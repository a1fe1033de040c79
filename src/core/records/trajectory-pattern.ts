import type { ShapeOf, ValueOf } from './shapes.ts';

/** How certain a pattern is. Advice about a `hint` has severity info, about a `warn` caution, about a `strong` warning. */
export type PatternLevel = ValueOf<'level'>;

export const LEVEL_RANK: Readonly<Record<PatternLevel, number>> = { hint: 0, warn: 1, strong: 2 };

/** The class of the results of a pattern: content, nothing, only "done", or a cause of failure. */
export type AnswerClass = ValueOf<'answer_class'>;

/** A loop, a series of errors, a stall, as stored and printed. */
export type TrajectoryPattern = ShapeOf<'pattern'>;
