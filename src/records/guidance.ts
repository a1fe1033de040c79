import type { PatternLevel } from './trajectory-pattern.ts';

/**
 * Where in an agent's cycle guidance may be said.
 *
 * - `pre_render`: before the prompt is rendered
 * - `pre_tool_selection`: before the model chooses tools
 * - `pre_tool_execution`: after the model's calls are parsed, before they run
 * - `post_tool_result`: after a tool came back
 * - `pre_response`: before the final answer is put together
 */
export type DecisionPoint =
  | 'pre_render'
  | 'pre_tool_selection'
  | 'pre_tool_execution'
  | 'post_tool_result'
  | 'pre_response';

/** Every decision point, in the order of an agent's cycle. */
export const DECISION_POINTS: readonly DecisionPoint[] = [
  'pre_render',
  'pre_tool_selection',
  'pre_tool_execution',
  'post_tool_result',
  'pre_response',
];

/** One piece of guidance. Plain data, as stored. */
export interface GuidanceInjection {
  /** Names the instruction; matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** What the model reads: 1 to 500 characters. */
  readonly content: string;
  /** Lower comes first. */
  readonly priority: number;
  /** Groups what may contradict each other: one a category is said at a time. */
  readonly category: string;
}

/** The pattern that a classification rests on, so that feedback and guidance do not both speak of it. */
export interface PatternReference {
  readonly identity: string;
  readonly level: PatternLevel;
  readonly occurrences: number;
}

/** Whether guidance applies now, and why. Plain data, as stored. */
export interface ClassificationResult {
  readonly relevant: boolean;
  /** 0 to 1: how strongly the situation calls for the guidance. */
  readonly confidence: number;
  /** For people and records, not for the model; at most 200 characters. */
  readonly reason?: string;
  readonly pattern?: PatternReference;
}

/** Guidance that was produced, and whether it reached the agent. Plain data, as stored. */
export interface GuidanceDelivered {
  readonly providerName: string;
  readonly injection: GuidanceInjection;
  readonly decisionPoint: DecisionPoint;
  readonly classification: ClassificationResult;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly delivered: boolean;
  /** How it was delivered, in the adapter's words, such as `tool-result`. */
  readonly channel?: string;
  /** Why it was not delivered. */
  readonly reason?: string;
}
