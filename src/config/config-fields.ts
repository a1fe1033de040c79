import { configShape } from './config-shape.ts';
import type { Shape } from '../base/shape.ts';

/** One field of the configuration. */
export interface ConfigField {
  /** Such as `guidance.doomLoop.maxRepetitions`; `[]` stands for any item of a list, `*` for any name. */
  readonly path: string;
  readonly shape: Shape;
}

/** Every field, parents first. Recursive fields are not followed. */
export function configFields(): readonly ConfigField[] {
  if (all === undefined) {
    const fields: ConfigField[] = [];
    collect(configShape, '', fields);
    all = fields;
  }
  return all;
}

/** Computed on first use: only explanations of mistakes need it, and then repeatedly. */
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
