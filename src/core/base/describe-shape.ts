import { isJsonObject } from './json.ts';
import type { ListShape, NumberShape, ObjectShape, Shape, TextShape } from './shape.ts';

const MAX_FOUND_CHARS = 40;

/** Returns the JSON type of the values that a shape accepts. */
export function typeOf(shape: Shape): 'boolean' | 'number' | 'string' | 'list' | 'object' {
  switch (shape.kind) {
    case 'flag':
      return 'boolean';
    case 'number':
      return 'number';
    case 'text':
    case 'choice':
      return 'string';
    case 'list':
      return 'list';
    default:
      return 'object';
  }
}

/** Describes a shape in words: `a whole number from 2 to 32`. */
export function expectedText(shape: Shape): string {
  switch (shape.kind) {
    case 'flag':
      return shape.onlyTrue === true ? 'true' : 'true or false';
    case 'number':
      return numberText(shape);
    case 'text':
      return shape.is;
    case 'choice':
      return shape.values.length > 20 ? `one of ${shape.values.length} names` : `one of ${shape.values.join(', ')}`;
    case 'list':
      return `a list of ${shape.minItems} to ${shape.maxItems} items`;
    case 'map':
      return `an object of at most ${shape.maxItems} names`;
    case 'object':
      return `an object with ${Object.keys(shape.fields).join(', ')}`;
    case 'either':
      return shape.shapes.map(expectedText).join(', or ');
    case 'lazy':
      return expectedText(shape.shape());
    default:
      return shape;
  }
}

function numberText({ min, max, whole, above }: NumberShape): string {
  const kind = whole ? 'a whole number' : 'a number';
  return above === true ? `${kind} above ${min}, at most ${max}` : `${kind} from ${min} to ${max}`;
}

/** Describes a value briefly: `"shadw"`, `3`, `a list of 2`. */
export function foundText(value: unknown, isSecret = false): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') {
    if (isSecret) return `a text of ${Array.from(value).length} characters`;
    const shortened = value.slice(0, MAX_FOUND_CHARS);
    return shortened === value ? JSON.stringify(value) : `${JSON.stringify(shortened)}… (${value.length} characters)`;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Returns true if a value matches a shape. Returns false for a map, an `either` or a `lazy` shape. */
export function fitsShape(value: unknown, shape: Shape): boolean {
  switch (shape.kind) {
    case 'flag':
      return value === true || (value === false && shape.onlyTrue !== true);
    case 'number':
      return isNumberOf(value, shape);
    case 'text':
      return isTextOf(value, shape);
    case 'choice':
      return typeof value === 'string' && shape.values.includes(value);
    case 'list':
      return Array.isArray(value) && fitsList(value, shape);
    case 'object':
      return isJsonObject(value) && fitsObject(value, shape);
    default:
      return false;
  }
}

function fitsList(list: readonly unknown[], { items, maxItems, minItems }: ListShape): boolean {
  return list.length >= minItems && list.length <= maxItems && list.every((item) => fitsShape(item, items));
}

function fitsObject(value: Readonly<Record<string, unknown>>, { fields, required = [] }: ObjectShape): boolean {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return (
    required.every((name) => value[name] !== undefined) &&
    members.every(([name, member]) => {
      const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return shape !== undefined && fitsShape(member, shape);
    })
  );
}

function isNumberOf(value: unknown, { min, max, whole, above }: NumberShape): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (whole && !Number.isInteger(value))) return false;
  return value <= max && (above === true ? value > min : value >= min);
}

function isTextOf(value: unknown, { minChars = 0, maxChars, pattern, isPattern }: TextShape): boolean {
  if (typeof value !== 'string' || value.length > 2 * maxChars) return false;
  const length = Array.from(value).length;
  if (length < minChars || length > maxChars) return false;
  return (pattern === undefined || pattern().test(value)) && (isPattern !== true || isRegExp(value));
}

/** Returns true if the text is a valid regular expression. */
export function isRegExp(source: string): boolean {
  try {
    return new RegExp(source).source !== '';
  } catch {
    return false;
  }
}
