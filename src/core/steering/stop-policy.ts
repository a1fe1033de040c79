import { budgetRemaining, type Budget, type BudgetUsage } from '../base/budget.ts';
import { invalidArgument } from '../base/error.ts';
import { present } from '../base/json.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';

/** The conditions for stopping a run. A condition that is absent does not apply. */
export interface StopPolicy {
  /** Stops a run that is still stuck this many calls after a pattern reached `level`. */
  readonly stuck?: {
    /** Default `strong`. */
    readonly level?: 'warn' | 'strong';
    /** Number of calls, 0 to 1,000; default 2. */
    readonly afterCalls?: number;
  };
  /** Stops a run once any part of its budget is used up; default false. */
  readonly budget?: boolean;
}

/** A request to stop a run. Plain JSON, as recorded. */
export interface StopRequest {
  readonly policy: 'stuck' | 'budget';
  /** The reason in one sentence, for people. */
  readonly reason: string;
}

export const STUCK_STOP_DEFAULTS = { level: 'strong', afterCalls: 2 } as const;
export const MAX_AFTER_CALLS = 1_000;

export function checkStopPolicy(policy: StopPolicy | undefined): StopPolicy | undefined {
  const { afterCalls, level } = { ...STUCK_STOP_DEFAULTS, ...policy?.stuck };
  if (
    !Number.isInteger(afterCalls) ||
    afterCalls < 0 ||
    afterCalls > MAX_AFTER_CALLS ||
    !['warn', 'strong'].includes(level)
  ) {
    const range = `level warn or strong and afterCalls from 0 to ${MAX_AFTER_CALLS}`;
    throw invalidArgument(`stop.stuck must have ${range}, got ${JSON.stringify(policy?.stuck)}`);
  }
  return policy;
}

export function stuckStop(
  { stuck }: StopPolicy,
  { calls, stretch }: { readonly calls: number; readonly stretch: StuckStretch | undefined },
): StopRequest | undefined {
  if (stuck === undefined || stretch === undefined) return undefined;
  const { afterCalls, level } = { ...STUCK_STOP_DEFAULTS, ...stuck };
  const since = level === 'warn' ? stretch.since : stretch.strongSince;
  if (since === undefined || calls < since + 1 + afterCalls) return undefined;
  return { policy: 'stuck', reason: `stuck since call ${since + 1}, and still ${calls - since - 1} calls later` };
}

export function budgetStop(
  policy: StopPolicy,
  { budget, usage }: { readonly budget: Budget; readonly usage: BudgetUsage },
): StopRequest | undefined {
  if (policy.budget !== true) return undefined;
  const spent = Object.entries(budgetRemaining(budget, usage)).find(([, left]) => left <= 0);
  return spent === undefined
    ? undefined
    : { policy: 'budget', reason: `the budget of ${PARTS[spent[0]] ?? spent[0]} is used up` };
}

const PARTS: Readonly<Record<string, string>> = { calls: 'calls', tokens: 'tokens', costUsd: 'US dollars' };

/** Calls from the first stuck pattern until none is open. Plain JSON. */
export interface StuckStretch {
  /** Index of the call at which the stretch started. */
  readonly since: number;
  /** Index of the call at which a pattern first became strong. */
  readonly strongSince?: number;
  /** Identities of the stuck patterns that are open. */
  readonly open: readonly string[];
}

/** Returns the stretch after a pattern was flagged, rose or was cleared. Returns undefined if the agent is not stuck. */
export function stretchAfter(
  stretch: StuckStretch | undefined,
  change: 'flagged' | 'cleared',
  { evidence, flaggedAt, identity, level, stuck }: TrajectoryPattern,
): StuckStretch | undefined {
  if (!stuck) return stretch;
  const others = (stretch?.open ?? []).filter((one) => one !== identity);
  if (change === 'flagged') {
    const strongSince = stretch?.strongSince ?? (level === 'strong' ? (evidence.at(-1) ?? flaggedAt ?? 0) : undefined);
    return { since: stretch?.since ?? flaggedAt ?? 0, ...present({ strongSince }), open: [...others, identity] };
  }
  return stretch === undefined || others.length === 0 ? undefined : { ...stretch, open: others };
}
