import { invalidArgument } from './error.ts';

/** Limits, usage or remaining amounts of a run. Plain data. */
export interface BudgetAmounts {
  readonly calls?: number;
  /** Input and output tokens, as reported by the host. */
  readonly tokens?: number;
  /** US dollars, as reported by the host, else computed from the tokens and the built-in prices. */
  readonly costUsd?: number;
}

/** Limits of a run. A field that is absent means no limit. */
export type Budget = BudgetAmounts;

/** Usage of a run. A field that is absent means that the usage is unknown. */
export type BudgetUsage = BudgetAmounts;

/** The parts of a budget, in the order in which messages list them. */
export const BUDGET_PARTS: readonly (keyof BudgetAmounts)[] = ['calls', 'tokens', 'costUsd'];

/** Returns the remaining amount of each limited part, at least 0. A part with unknown usage is left out. */
export function budgetRemaining(budget: Budget, usage: BudgetUsage): BudgetAmounts {
  const amountsLeft: { -readonly [Part in keyof BudgetAmounts]: number } = {};
  for (const part of BUDGET_PARTS) {
    const limit = budget[part];
    const usedAmount = usage[part];
    if (limit !== undefined && usedAmount !== undefined) amountsLeft[part] = Math.max(0, limit - usedAmount);
  }
  return amountsLeft;
}

/** Adds two usages. A part is absent from the sum if it is unknown in both. */
export function addUsage(left: BudgetUsage, right: BudgetUsage): BudgetUsage {
  const sum: { -readonly [Part in keyof BudgetAmounts]: number } = {};
  for (const part of BUDGET_PARTS) {
    if (left[part] !== undefined || right[part] !== undefined) sum[part] = (left[part] ?? 0) + (right[part] ?? 0);
  }
  return sum;
}

export function checkBudget(budget: Budget): void {
  for (const part of BUDGET_PARTS) {
    const limit = budget[part];
    if (limit === undefined || (Number.isFinite(limit) && limit >= 0)) continue;
    throw invalidArgument(`budget.${part} must be a number from 0, got ${limit}`, {
      details: { part, limit },
    });
  }
}
