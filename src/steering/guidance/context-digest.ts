import type { DecisionPoint } from '../../records/guidance.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import type { ToolKind } from '../../calls/tool-kind.ts';
import type { GuidanceBank } from './guidance-bank.ts';

/** What a model-backed classifier is told: names, kinds and counts, no arguments, results or messages. Plain JSON. */
export interface ContextDigest {
  readonly decisionPoint: DecisionPoint;
  readonly turnCount: number;
  readonly toolCallCount: number;
  readonly errors: number;
  readonly consecutiveErrors: number;
  /** The newest calls, oldest first, 12 at most. */
  readonly recentCalls: readonly DigestCall[];
  /** Patterns the agent is in, 8 at most. */
  readonly patterns: readonly DigestPattern[];
  /** Tools about to run, 16 at most. */
  readonly pendingTools: readonly string[];
  /** What it may choose from. */
  readonly instructions: readonly DigestInstruction[];
}

interface DigestCall {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly failed: boolean;
  /** It brought something not seen before. */
  readonly novel: boolean;
}

interface DigestPattern {
  readonly kind: string;
  readonly level: PatternLevel;
  readonly occurrences: number;
}

interface DigestInstruction {
  readonly id: string;
  readonly category: string;
  readonly content: string;
}

/** The digest of a context. Cost: a few small copies. */
export function contextDigest(context: GuidanceContext, bank: GuidanceBank): ContextDigest {
  const { trajectory } = context;
  return {
    decisionPoint: context.decisionPoint,
    turnCount: context.turnCount,
    toolCallCount: context.toolCallCount,
    errors: trajectory.errors,
    consecutiveErrors: trajectory.consecutiveErrors,
    recentCalls: trajectory.recentCalls(12).map(({ tool, kind, failed, novel }) => ({ tool, kind, failed, novel })),
    patterns: trajectory
      .openPatterns()
      .slice(-8)
      .map(({ kind, level, occurrences }) => ({ kind, level, occurrences })),
    pendingTools: context.pendingToolCalls.slice(0, 16).map((call) => call.toolName),
    instructions: bank.instructions.map(({ key, category, content }) => ({ id: key, category, content })),
  };
}
