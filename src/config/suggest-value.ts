import { typeOf } from '../base/describe-shape.ts';
import type { Shape } from '../base/shape.ts';
import { nearestName } from './suggest.ts';

/** What was probably meant by a value that a shape does not take, as one writes it; undefined when nobody can tell. */
export function suggestValue(value: unknown, shape: Shape): string | undefined {
  const shapes = shape.kind === 'either' ? shape.shapes : [shape];
  for (const one of shapes) {
    const meant = meantBy(value, one);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

function meantBy(value: unknown, shape: Shape): string | undefined {
  if (typeof value === 'string') {
    const plain = value.trim();
    if (shape.kind === 'choice') {
      const name = nearestName(plain, shape.values);
      return name === undefined ? undefined : JSON.stringify(name);
    }
    if (shape.kind === 'flag' && /^(?:true|false)$/i.test(plain)) return plain.toLowerCase();
    if (shape.kind === 'number' && /^-?\d{1,15}(?:\.\d{1,6})?$/.test(plain)) return plain;
    if (shape.kind === 'list' && typeOf(shape.items) === 'string' && plain !== '') return listOf(plain, shape.items);
  }
  if (shape.kind === 'number' && typeof value === 'number' && shape.whole && Number.isFinite(value)) {
    const near = Math.min(shape.max, Math.max(shape.min, Math.round(value)));
    return Number.isInteger(value) ? undefined : String(near);
  }
  if (shape.kind === 'list' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return typeOf(shape.items) === 'object' ? 'a list with this object in it' : undefined;
  }
  return undefined;
}

/** A command line becomes its words, anything else one item. */
function listOf(plain: string, items: Shape): string | undefined {
  if (plain.length > 80 || (items.kind === 'text' && items.isSecret === true)) return undefined;
  const words = items.kind === 'text' && items.is.startsWith('a program') ? plain.split(/\s+/) : [plain];
  return `[${words.map((word) => JSON.stringify(word)).join(', ')}]`;
}
