import { checkedOptions } from '../../base/check-members.ts';
import type { ShapesOf } from '../../base/shape.ts';
import { invalidDefinition } from '../../base/error.ts';

/** Defaults of the steering options. The configuration and its schema also use them. */
export const STEERING_DEFAULTS = { providerTimeLimitMs: 50, maxGuidancePerTurn: 3 } as const;

export const GUIDANCE_DEFAULTS = { maxPerTurn: 3, minConfidence: 0.5, cooldownTurns: 0 } as const;

/** `options` contains the shape and default of each option. */
export interface ProviderDefinition<Options extends object, Made> {
  /** @throws CoxswainError "invalid-definition" if an option is unknown or does not match its shape */
  (options?: Options): Made;
  readonly options: ShapesOf<Options>;
}

/** The shapes are the only place of defaults and ranges, also for the configuration and docs. `make` gets every value. */
export function defineProvider<Options extends object, Made>(
  shapes: ShapesOf<NoInfer<Options>>,
  make: (options: Required<Options>) => Made,
): ProviderDefinition<Options, Made> {
  return Object.assign((options?: Options) => make(checkedOptions<Options>(shapes, options)), { options: shapes });
}

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

export function checkShare(option: string, value: number): void {
  if (Number.isFinite(value) && value >= 0 && value <= 1) return;
  throw invalidDefinition(`${option} must be a number from 0 to 1, got ${String(value)}`, { option });
}
