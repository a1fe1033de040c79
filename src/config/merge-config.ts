import { isJsonObject } from '../base/json.ts';
import { configShape } from './config-shape.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { Shape } from '../base/shape.ts';

/**
 * Merges two configurations. Objects are merged field by field. Other values (lists, numbers, booleans) are replaced. Some objects
 * are replaced as a whole: a deadline of hours and minutes, a trigger, a store.
 *
 * @param above  the configuration with higher precedence
 */
export function mergeConfig(below: CoxswainConfig, above: CoxswainConfig): CoxswainConfig {
  // The merge follows the shape, so the result has the same type.
  return merged(below, above, configShape) as CoxswainConfig;
}

function merged(below: unknown, above: unknown, shape: Shape): unknown {
  if (!isJsonObject(below) || !isJsonObject(above)) return above;
  const inner = shape.kind === 'either' ? shape.shapes.find((one) => one.kind === 'object') : shape;
  if (inner?.kind === 'map') return { ...below, ...above };
  if (inner?.kind !== 'object' || inner.strict === true) return above;
  const members = Object.entries(above).map(([name, member]) => {
    const field = Object.hasOwn(inner.fields, name) ? inner.fields[name] : undefined;
    const known = Object.hasOwn(below, name) && field !== undefined;
    return [name, known ? merged(below[name], member, field) : member] as const;
  });
  return { ...below, ...Object.fromEntries(members) };
}
