import { configShape } from './config-shape.ts';
import type { Shape } from '../../core/base/shape.ts';

/** One field of the configuration. */
export interface ConfigField {
  /**
   * The path of the field, such as `guidance.doomLoop.maxRepetitions`. `[]` matches any item of a list, and `*` matches any name.
   */
  readonly path: string;
  readonly shape: Shape;
}

/** Returns every field. Parents come before their children. Recursive shapes are not expanded. */
export function configFields(): readonly ConfigField[] {
  if (cachedFields === undefined) {
    const fields: ConfigField[] = [];
    collectFields(configShape, '', fields);
    cachedFields = fields;
  }
  return cachedFields;
}

/** Computed on first use, because only error messages need the fields. */
let cachedFields: readonly ConfigField[] | undefined;

function collectFields(shape: Shape, path: string, fields: ConfigField[]): void {
  switch (shape.kind) {
    case 'object':
      for (const [name, field] of Object.entries(shape.fields)) {
        const fieldPath = path === '' ? name : `${path}.${name}`;
        fields.push({ path: fieldPath, shape: field });
        collectFields(field, fieldPath, fields);
      }
      return;
    case 'either':
      for (const one of shape.shapes) collectFields(one, path, fields);
      return;
    case 'list':
      collectFields(shape.items, `${path}[]`, fields);
      return;
    case 'map':
      collectFields(shape.values, `${path}.*`, fields);
      return;
    default:
  }
}
