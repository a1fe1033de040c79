import { present } from '../base/present.ts';
import { isJsonObject } from '../base/json.ts';
import type { ConfigProblem } from './config-problem.ts';
import { expectedText, fitsShape, foundText, typeOf } from '../base/describe-shape.ts';
import type { ListShape, MapShape, ObjectShape, Shape } from '../base/shape.ts';
import { nearestName } from '../base/nearest-name.ts';

/** Most problems that are reported of one value. */
const MAX_PROBLEMS = 100;

/** Deeper than this a shape that contains itself is not followed. */
const MAX_NESTING = 8;

/** Stands for a value that does not count. */
const VOID: unique symbol = Symbol('void');

/** Where problems go, and how a name that no field has is explained. */
export interface DecodeShapeOptions {
  readonly report: (problem: ConfigProblem) => unknown;
  /** What may have been meant by a name that is none of these. */
  readonly suggestName: (name: string, names: readonly string[]) => string | undefined;
}

/**
 * Takes from a value what a shape allows: a copy with only what is in order. Everything else is reported.
 *
 * @returns undefined when nothing of it counts
 * Cost: one walk over the value.
 */
export function decodeShape(value: unknown, shape: Shape, options: DecodeShapeOptions): unknown {
  const decoded = new ShapeDecoder(options).decode(value, shape, '', 0);
  return decoded === VOID ? undefined : decoded;
}

class ShapeDecoder {
  readonly #options: DecodeShapeOptions;
  /** Problems so far: what is strict counts those inside it. */
  #count = 0;

  constructor(options: DecodeShapeOptions) {
    this.#options = options;
  }

  decode(value: unknown, shape: Shape, path: string, nesting: number): unknown {
    switch (shape.kind) {
      case 'flag':
      case 'number':
      case 'text':
      case 'choice':
        return fitsShape(value, shape) ? value : this.#wrong(value, shape, path);
      case 'list':
        return this.#list(value, shape, path, nesting);
      case 'map':
        return this.#map(value, shape, path, nesting);
      case 'object':
        return this.#object(value, shape, path, nesting);
      case 'either': {
        const fitting = shape.shapes.find((one) => typeOf(one) === jsonTypeOf(value));
        return fitting === undefined ? this.#wrong(value, shape, path) : this.decode(value, fitting, path, nesting);
      }
      case 'lazy':
        if (nesting < MAX_NESTING) return this.decode(value, shape.shape(), path, nesting + 1);
        return this.#report({ path, kind: 'together', message: `is nested more than ${MAX_NESTING} deep` });
      default:
        return shape;
    }
  }

  #list(value: unknown, shape: ListShape, path: string, nesting: number): unknown {
    if (!Array.isArray(value)) return this.#wrong(value, shape, path);
    const given: readonly unknown[] = value;
    if (given.length < shape.minItems || given.length > shape.maxItems) return this.#wrong(value, shape, path);
    const items = given.map((item, index) => this.decode(item, shape.items, `${path}[${index}]`, nesting));
    const kept = items.filter((item) => item !== VOID);
    if (kept.length === items.length) return items;
    return typeOf(shape.items) === 'object' && shape.items.kind === 'object' && kept.length >= shape.minItems
      ? kept
      : VOID;
  }

  #map(value: unknown, shape: MapShape, path: string, nesting: number): unknown {
    if (!isJsonObject(value) || Object.keys(value).length > shape.maxItems) return this.#wrong(value, shape, path);
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const at = `${path}.${name}`;
        if (name === '' || Array.from(name).length > shape.maxNameChars) {
          const message = `a name has 1 to ${shape.maxNameChars} characters`;
          this.#report({ path: at.slice(0, 200), kind: 'value', message });
          return [];
        }
        const decoded = this.decode(member, shape.values, at, nesting);
        return decoded === VOID ? [] : [[name, decoded] as const];
      }),
    );
  }

  #object(value: unknown, shape: ObjectShape, path: string, nesting: number): unknown {
    if (!isJsonObject(value)) return this.#wrong(value, shape, path);
    const before = this.#count;
    const kept: (readonly [string, unknown])[] = [];
    const given = Object.entries(value).filter(([, member]) => member !== undefined);
    for (const [name, member] of given) {
      const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      if (field === undefined) {
        this.#unknown(name, Object.keys(shape.fields), path);
        continue;
      }
      const decoded = this.decode(member, field, path === '' ? name : `${path}.${name}`, nesting);
      if (decoded !== VOID) kept.push([name, decoded]);
    }
    const isWhole = this.#hasMembers(new Set(given.map(([name]) => name)), shape, path);
    const isEnough = (shape.required ?? []).every((name) => kept.some(([known]) => known === name));
    if (!isWhole || !isEnough || (shape.members !== undefined && kept.length === 0)) return VOID;
    return shape.strict === true && this.#count > before ? VOID : Object.fromEntries(kept);
  }

  #hasMembers(given: ReadonlySet<string>, shape: ObjectShape, path: string): boolean {
    const missing = (shape.required ?? []).filter((name) => !given.has(name));
    for (const name of missing) this.#report({ path, kind: 'value', message: `${name} is missing` });
    const count = given.size;
    const names = Object.keys(shape.fields).join(', ');
    if (shape.members === 'some' && count === 0) {
      this.#report({ path, kind: 'value', message: `is empty; give at least one of ${names}` });
    }
    if (shape.members === 'one' && count !== 1) {
      this.#report({ path, kind: 'value', message: `needs exactly one of ${names}; it has ${count}` });
    }
    return missing.length === 0 && (shape.members !== 'one' || count === 1);
  }

  #unknown(name: string, names: readonly string[], path: string): void {
    if (this.#isFull()) return;
    const suggestion = this.#options.suggestName(name, names);
    const at = path === '' ? name : `${path}.${name}`;
    this.#report({
      path: at.slice(0, 200),
      kind: 'unknown-field',
      message:
        suggestion === undefined ? `there is no such field; there are ${names.join(', ')}` : 'there is no such field',
      ...present({ suggestion }),
    });
  }

  #wrong(value: unknown, shape: Shape, path: string): typeof VOID {
    if (this.#isFull()) return VOID;
    const suggestion = suggestValue(value, shape);
    const found = foundText(value, shape.kind === 'text' && shape.isSecret === true);
    return this.#report({
      path,
      kind: 'value',
      message: `must be ${expectedText(shape)}, got ${found}`,
      ...present({ suggestion }),
    });
  }

  /** Looking for what was meant takes time; a file of nothing but mistakes must not hold up an agent. */
  #isFull(): boolean {
    if (this.#count < MAX_PROBLEMS) return false;
    this.#count += 1;
    return true;
  }

  #report(problem: ConfigProblem): typeof VOID {
    this.#count += 1;
    if (this.#count <= MAX_PROBLEMS) this.#options.report(problem);
    return VOID;
  }
}

function jsonTypeOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
}

/** What was probably meant by a value that a shape does not take, as one writes it; undefined when nobody can tell. */
function suggestValue(value: unknown, shape: Shape): string | undefined {
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
