import { present, isJsonObject } from './json.ts';

/** The type of a configuration value. Plain data. The decoder, the list of fields, the parameter sweeps and the schema read it. */
export type Shape =
  | FlagShape
  | NumberShape
  | TextShape
  | ChoiceShape
  | ListShape
  | MapShape
  | ObjectShape
  | EitherShape
  | LazyShape;

export interface FlagShape {
  readonly kind: 'flag';
  readonly onlyTrue?: boolean;
  readonly default?: boolean;
}

export interface NumberShape {
  readonly kind: 'number';
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
  /** `min` itself is not allowed. */
  readonly above?: boolean;
  readonly default?: number;
}

export interface TextShape {
  readonly kind: 'text';
  /** Describes the value in messages: `a duration such as 45m`. */
  readonly is: string;
  /** Minimum length in characters (code points); default 0. */
  readonly minChars?: number;
  readonly maxChars: number;
  /** With the flag `u` or none, as in JSON Schema. Created on demand, because Unicode classes take 1 ms to compile. */
  readonly pattern?: () => RegExp;
  /** The text must be a valid regular expression. */
  readonly isPattern?: boolean;
  /** If true, messages do not show the value. */
  readonly isSecret?: boolean;
  readonly default?: string;
}

export interface ChoiceShape {
  readonly kind: 'choice';
  readonly values: readonly string[];
  readonly default?: string;
}

/** Invalid objects in a list are left out. A list with any other invalid item is ignored. */
export interface ListShape {
  readonly kind: 'list';
  readonly items: Shape;
  readonly minItems: number;
  readonly maxItems: number;
}

/** An object with any keys, whose values have one shape. */
export interface MapShape {
  readonly kind: 'map';
  readonly values: Shape;
  readonly maxNameChars: number;
  readonly maxItems: number;
}

export interface ObjectShape extends ObjectRules {
  readonly kind: 'object';
  readonly fields: Readonly<Record<string, Shape>>;
}

interface ObjectRules {
  /** Names of required members. Default: none. */
  readonly required?: readonly string[];
  /** Required number of members: at least one, or exactly one. Default: any number. */
  readonly members?: 'some' | 'one';
  /** If true, an object with an invalid member is ignored, because the rest would have another meaning. */
  readonly strict?: boolean;
}

export interface EitherShape {
  readonly kind: 'either';
  readonly shapes: readonly Shape[];
}

/** A shape that is computed on demand, for recursive shapes. */
export interface LazyShape {
  readonly kind: 'lazy';
  readonly shape: () => Shape;
}

export function flag(defaultValue?: boolean): FlagShape {
  return { kind: 'flag', ...present({ default: defaultValue }) };
}

export function whole(min: number, max: number, defaultValue?: number): NumberShape {
  return { kind: 'number', min, max, whole: true, ...present({ default: defaultValue }) };
}

export function amount(min: number, max: number, defaultValue?: number): NumberShape {
  return { kind: 'number', min, max, whole: false, ...present({ default: defaultValue }) };
}

export function above0(max: number, defaultValue?: number): NumberShape {
  return { ...amount(0, max, defaultValue), above: true };
}

export function share(defaultValue?: number): NumberShape {
  return amount(0, 1, defaultValue);
}

export function text(description: string, rules: Omit<TextShape, 'kind' | 'is'>): TextShape {
  return { kind: 'text', is: description, ...rules };
}

/** A text from a closed set. `values` must contain every member of the type. */
export function choice<Value extends string>(values: Readonly<Record<Value, true>>, defaultValue?: Value): ChoiceShape {
  return choiceOf(Object.keys(values), defaultValue);
}

export function choiceOf<Value extends string>(values: readonly Value[], defaultValue?: Value): ChoiceShape {
  return { kind: 'choice', values, ...present({ default: defaultValue }) };
}

export function list(items: Shape, maxItems: number, minItems = 0): ListShape {
  return { kind: 'list', items, minItems, maxItems };
}

/** The shapes of all options, for use as `object({ … } satisfies ShapesOf<Options>)`. */
export type ShapesOf<Options> = { readonly [Name in keyof Required<Options>]: Shape };

/** An object with these fields and no others. */
export function object(fields: Readonly<Record<string, Shape>>, rules: ObjectRules = {}): ObjectShape {
  return { kind: 'object', fields, ...rules };
}

/** `false`, `true`, or an options object. */
export function switchOf(options: ObjectShape, defaultValue: boolean): EitherShape {
  return { kind: 'either', shapes: [flag(defaultValue), options] };
}

const MAX_FOUND_CHARS = 40;

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

function numberText({ min, max, whole: isWhole, above }: NumberShape): string {
  const kind = isWhole ? 'a whole number' : 'a number';
  return above === true ? `${kind} above ${min}, at most ${max}` : `${kind} from ${min} to ${max}`;
}

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

function fitsList(items: readonly unknown[], shape: ListShape): boolean {
  const { length } = items;
  return length >= shape.minItems && length <= shape.maxItems && items.every((item) => fitsShape(item, shape.items));
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

function isNumberOf(value: unknown, { min, max, whole: isWhole, above }: NumberShape): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (isWhole && !Number.isInteger(value))) return false;
  return value <= max && (above === true ? value > min : value >= min);
}

function isTextOf(value: unknown, { minChars = 0, maxChars, pattern, isPattern }: TextShape): boolean {
  if (typeof value !== 'string' || value.length > 2 * maxChars) return false;
  const length = Array.from(value).length;
  if (length < minChars || length > maxChars) return false;
  return (pattern === undefined || pattern().test(value)) && (isPattern !== true || isRegExp(value));
}

export function isRegExp(source: string): boolean {
  try {
    return new RegExp(source).source !== '';
  } catch {
    return false;
  }
}
