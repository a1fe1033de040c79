import { configShape } from './config-shape.ts';
import type { Shape } from '../base/shape.ts';

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
  if (all === undefined) {
    const fields: ConfigField[] = [];
    collect(configShape, '', fields);
    all = fields;
  }
  return all;
}

/** Computed on first use, because only error messages need the fields. */
let all: readonly ConfigField[] | undefined;

function collect(shape: Shape, path: string, into: ConfigField[]): void {
  switch (shape.kind) {
    case 'object':
      for (const [name, field] of Object.entries(shape.fields)) {
        const at = path === '' ? name : `${path}.${name}`;
        into.push({ path: at, shape: field });
        collect(field, at, into);
      }
      return;
    case 'either':
      for (const one of shape.shapes) collect(one, path, into);
      return;
    case 'list':
      collect(shape.items, `${path}[]`, into);
      return;
    case 'map':
      collect(shape.values, `${path}.*`, into);
      return;
    default:
  }
}
