import type { ShapeOf, ValueOf } from './field-types.ts';
import { CHOICES } from './shapes.ts';

/**
 * Where in an agent's cycle guidance may be said.
 *
 * - `pre_render`: before the prompt is rendered
 * - `pre_tool_selection`: before the model chooses tools
 * - `pre_tool_execution`: after the model's calls are parsed, before they run
 * - `post_tool_result`: after a tool came back
 * - `pre_response`: before the final answer is put together
 */
export type DecisionPoint = ValueOf<'decision_point'>;

/** Every decision point, in the order of an agent's cycle. */
export const DECISION_POINTS: readonly DecisionPoint[] = CHOICES.decision_point;

/** One piece of guidance. Plain data, as stored. */
export type GuidanceInjection = ShapeOf<'injection'>;

/** The pattern that a classification rests on, so that feedback and guidance do not both speak of it. */
export type PatternReference = ShapeOf<'pattern_reference'>;

/** Whether guidance applies now, and why. Plain data, as stored. */
export type ClassificationResult = ShapeOf<'classification'>;

/** Guidance that was produced, and whether it reached the agent. Plain data, as stored. */
export type StoredGuidance = ShapeOf<'guidance'>;
