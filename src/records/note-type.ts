import type { ValueBudget } from '../base/value-budget.ts';

/** Notes that a field holds a value of another type than its own. */
export function noteType(budget: ValueBudget, key: string | number, value: unknown): void {
  budget.note('wrongTypes', `${key} is of type ${value === null ? 'null' : typeof value}`);
}

/** What a host may have meant as a number; notes that it is not the number it should be. */
export function numberMeant(value: unknown, budget: ValueBudget, key: string | number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') {
    budget.note('badNumbers', `${key} is ${value}`);
    return value;
  }
  noteType(budget, key, value);
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && value.length < 40 && value.trim() !== '' ? Number(value) : undefined;
}
