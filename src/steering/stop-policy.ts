import { budgetRemaining, type Budget, type BudgetUsage } from '../base/budget.ts';
import { invalidArgument } from '../base/error.ts';
import type { StuckStretch } from './stuck-stretch.ts';

/** When a run is to be stopped. What is absent stops nothing. */
export interface StopPolicy {
  /** Stops a run that is still stuck so many calls after its warning. */
  readonly stuck?: {
    /** The warning that counts; default `strong`. */
    readonly level?: 'warn' | 'strong';
    /** 0 to 1,000; default 2. */
    readonly afterCalls?: number;
  };
  /** Stops a run that has used up a part of its budget; default false. */
  readonly budget?: boolean;
}

/** That a run is to be stopped, and why. Plain JSON, as recorded. */
export interface StopRequest {
  readonly policy: 'stuck' | 'budget';
  /** In one sentence, for people. */
  readonly reason: string;
}

const AFTER_CALLS = 2;
const MAX_AFTER_CALLS = 1_000;

/** @throws CoxswainError "invalid-argument" for a policy that is not as declared */
export function checkStopPolicy(policy: StopPolicy | undefined): StopPolicy | undefined {
  const { afterCalls = AFTER_CALLS, level = 'strong' } = policy?.stuck ?? {};
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

/** Whether a run is to be stopped after its latest call. @param calls  that began so far */
export function stuckStop(
  { stuck }: StopPolicy,
  { calls, stretch }: { readonly calls: number; readonly stretch: StuckStretch | undefined },
): StopRequest | undefined {
  if (stuck === undefined || stretch === undefined) return undefined;
  const { afterCalls = AFTER_CALLS, level = 'strong' } = stuck;
  const since = level === 'warn' ? stretch.since : stretch.strongSince;
  if (since === undefined || calls < since + 1 + afterCalls) return undefined;
  return { policy: 'stuck', reason: `stuck since call ${since + 1}, and still ${calls - since - 1} calls later` };
}

/** Whether a run is to be stopped for what it has used. */
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
