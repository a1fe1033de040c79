import { isJsonObject } from '../../core/base/json.ts';
import { configShape } from './config-shape.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { Shape } from '../../core/base/shape.ts';

/**
 * Merges two configurations. Objects are merged field by field. Other values (lists, numbers, booleans) are replaced. Some objects
 * are replaced as a whole: a deadline of hours and minutes, a trigger, a store.
 *
 * @param upper  the configuration with higher precedence
 */
export function mergeConfig(lower: CoxswainConfig, upper: CoxswainConfig): CoxswainConfig {
  // The merge follows the shape, so the result has the same type.
  return mergedValue(lower, upper, configShape) as CoxswainConfig;
}

function mergedValue(lower: unknown, upper: unknown, shape: Shape): unknown {
  if (!isJsonObject(lower) || !isJsonObject(upper)) return upper;
  const inner = shape.kind === 'either' ? shape.shapes.find((one) => one.kind === 'object') : shape;
  if (inner?.kind === 'map') return { ...lower, ...upper };
  if (inner?.kind !== 'object' || inner.strict === true) return upper;
  const members = Object.entries(upper).map(([name, member]) => {
    const field = Object.hasOwn(inner.fields, name) ? inner.fields[name] : undefined;
    const isKnown = Object.hasOwn(lower, name) && field !== undefined;
    return [name, isKnown ? mergedValue(lower[name], member, field) : member] as const;
  });
  return { ...lower, ...Object.fromEntries(members) };
}
