import { present } from '../base/present.ts';

/**
 * What a value of the configuration may be. Plain data, so that the decoder, the list of fields, sweeps and the tests
 * against the published schema all read the same.
 */
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
  /** Only `true` is allowed: what is not wanted is left out. */
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
  /** What it must be, for messages: `a duration such as 45m`. */
  readonly is: string;
  /** In characters (code points); default 0. */
  readonly minChars?: number;
  readonly maxChars: number;
  /**
   * With the flag `u` or none, as JSON Schema reads it. Made when it is asked for: the classes of Unicode take a
   * short-lived process a millisecond to compile.
   */
  readonly pattern?: () => RegExp;
  /** It must be a regular expression. */
  readonly isPattern?: boolean;
  /** Messages do not show what was found. */
  readonly isSecret?: boolean;
  readonly default?: string;
}

export interface ChoiceShape {
  readonly kind: 'choice';
  readonly values: readonly string[];
  readonly default?: string;
}

/** Objects that are wrong are left out of a list; a list with anything else wrong is as if it were not there. */
export interface ListShape {
  readonly kind: 'list';
  readonly items: Shape;
  readonly minItems: number;
  readonly maxItems: number;
}

/** Any names, values of one shape. */
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

export interface ObjectRules {
  /** Default: none. */
  readonly required?: readonly string[];
  /** How many members it must have: at least one, or exactly one. Default: any number. */
  readonly members?: 'some' | 'one';
  /** With anything wrong inside, the whole object is as if it were not there: half of it would mean something else. */
  readonly strict?: boolean;
}

/** Told apart by the JSON type. */
export interface EitherShape {
  readonly kind: 'either';
  readonly shapes: readonly Shape[];
}

/** For shapes that contain themselves. */
export interface LazyShape {
  readonly kind: 'lazy';
  readonly shape: () => Shape;
}

/** True or false. */
export function flag(standard?: boolean): FlagShape {
  return { kind: 'flag', ...present({ default: standard }) };
}

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number, standard?: number): NumberShape {
  return { kind: 'number', min, max, whole: true, ...present({ default: standard }) };
}

/** A number from `min` to `max`. */
export function amount(min: number, max: number, standard?: number): NumberShape {
  return { kind: 'number', min, max, whole: false, ...present({ default: standard }) };
}

/** A number above 0. */
export function above0(max: number, standard?: number): NumberShape {
  return { ...amount(0, max, standard), above: true };
}

/** From 0 to 1. */
export function share(standard?: number): NumberShape {
  return amount(0, 1, standard);
}

/** A text that must be something. */
export function text(is: string, rules: Omit<TextShape, 'kind' | 'is'>): TextShape {
  return { kind: 'text', is, ...rules };
}

/** One of a closed set of texts, and of no other: the type names all of them. */
export function choice<Value extends string>(values: Readonly<Record<Value, true>>, standard?: Value): ChoiceShape {
  return { kind: 'choice', values: Object.keys(values), ...present({ default: standard }) };
}

/** A list of at most `maxItems`. */
export function list(items: Shape, maxItems: number, minItems = 0): ListShape {
  return { kind: 'list', items, minItems, maxItems };
}

/** The shapes of the options of something: all of them, and no other. For `object({ … } satisfies ShapesOf<Options>)`. */
export type ShapesOf<Options> = { readonly [Name in keyof Required<Options>]: Shape };

/** An object with these fields and no others. */
export function object(fields: Readonly<Record<string, Shape>>, rules: ObjectRules = {}): ObjectShape {
  return { kind: 'object', fields, ...rules };
}

/** `false`, `true`, or options. */
export function switchOf(options: ObjectShape, standard: boolean): EitherShape {
  return { kind: 'either', shapes: [flag(standard), options] };
}
