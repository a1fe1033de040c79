import { invalidArgument } from './error.ts';

/** What may be counted of a run: the limits of a budget, what was used of it, or what is left. Plain data. */
export interface BudgetAmounts {
  /** Tool calls. */
  readonly calls?: number;
  /** Tokens read and written, as the host reports them. */
  readonly tokens?: number;
  /** US dollars, as the host reports them. */
  readonly costUsd?: number;
}

/** How much a run may use; what is absent has no limit. */
export type Budget = BudgetAmounts;

/** How much a run has used so far; what is absent is not known. */
export type BudgetUsage = BudgetAmounts;

/** The parts of a budget, in the order in which they are spoken of. */
export const BUDGET_PARTS: readonly (keyof BudgetAmounts)[] = ['calls', 'tokens', 'costUsd'];

/**
 * What is left of each limited part, at least 0. A part whose use is not known is left out, because nothing can be
 * said about it.
 */
export function budgetRemaining(budget: Budget, usage: BudgetUsage): BudgetAmounts {
  const left: { -readonly [Part in keyof BudgetAmounts]: number } = {};
  for (const part of BUDGET_PARTS) {
    const limit = budget[part];
    const used = usage[part];
    if (limit !== undefined && used !== undefined) left[part] = Math.max(0, limit - used);
  }
  return left;
}

/** Both together; a part that neither knows is absent. */
export function addUsage(left: BudgetUsage, right: BudgetUsage): BudgetUsage {
  const sum: { -readonly [Part in keyof BudgetAmounts]: number } = {};
  for (const part of BUDGET_PARTS) {
    if (left[part] !== undefined || right[part] !== undefined) sum[part] = (left[part] ?? 0) + (right[part] ?? 0);
  }
  return sum;
}

/** @throws CoxswainError "invalid-argument" when a limit is not a finite number from 0 */
export function checkBudget(budget: Budget): void {
  for (const part of BUDGET_PARTS) {
    const limit = budget[part];
    if (limit === undefined || (Number.isFinite(limit) && limit >= 0)) continue;
    throw invalidArgument(`budget.${part} must be a number from 0, got ${limit}`, {
      details: { part, limit },
    });
  }
}
