import { CoxswainError } from '../../base/error.ts';

/** @throws CoxswainError "invalid-definition" unless `value` is a whole number from `min` (default 1) to `max` */
export function checkWhole(
  option: string,
  value: number,
  range: { readonly min?: number; readonly max?: number } = {},
): void {
  const { min = 1, max = Number.MAX_SAFE_INTEGER } = range;
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const upTo = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  throw invalidDefinition(`${option} must be a whole number from ${min}${upTo}, got ${String(value)}`, { option });
}

/** @throws CoxswainError "invalid-definition" unless `value` is a number from 0 to 1 */
export function checkShare(option: string, value: number): void {
  if (Number.isFinite(value) && value >= 0 && value <= 1) return;
  throw invalidDefinition(`${option} must be a number from 0 to 1, got ${String(value)}`, { option });
}

export function invalidDefinition(message: string, details: Readonly<Record<string, unknown>>): CoxswainError {
  return new CoxswainError('invalid-definition', message, { details });
}
