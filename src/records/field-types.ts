import type { Json, JsonObject } from '../base/json.ts';
import type { DERIVED, KINDS } from './kinds.ts';
import type { BLOCKS, CHOICES, FIGURES, MESSAGES, SHAPES } from './shapes.ts';

/** Types of fields by the word in their definition. The words for texts distinguish their origin, for redaction. */
interface Plain {
  /** Text of the agent, its model, its tools or its user. */
  readonly content: string;
  /** A short word of the host: a tool name, an outcome, a channel. */
  readonly name: string;
  /** An id of the host, which joins records. */
  readonly id: string;
  /** From the configuration, or computed from redacted records. */
  readonly configured: string;
  /** An id or word of coxswain itself, never changed. */
  readonly own: string;
  /** The bytes of an image in base64: content that is never cut. */
  readonly picture: string;
  /** Content of any JSON type. */
  readonly json: Json;
  /** The result of a tool. */
  readonly result: Json;
  /** Content: an object with any members. */
  readonly object: JsonObject;
  readonly flag: boolean;
  readonly true: true;
  /** A safe integer from 0. */
  readonly count: number;
  /** A finite number from 0: a duration or a time in milliseconds. */
  readonly amount: number;
  /** A finite number, possibly negative or fractional. */
  readonly number: number;
  /** Unix milliseconds; a host may give it in another unit. */
  readonly deadline: number;
  readonly deadline_from_0: number;
  /** Stored unchanged. */
  readonly unchecked_number: number;
}

type Shapes = typeof FIGURES & typeof SHAPES;

interface Meanings extends Plain {
  readonly message: VariantOf<typeof MESSAGES, 'role'>;
  /** Plain text, or parts in order. */
  readonly message_content: string | readonly Meanings['block'][];
  readonly block: VariantOf<typeof BLOCKS, 'type'>;
}

/** A word without `[]`, `|null` and `?`. */
export type Base = keyof Meanings | keyof typeof CHOICES | keyof Shapes;

/** The type of a field in a definition. */
export type Word = `${Base}${'' | '[]' | '|null'}${'' | '?'}`;

/** The fields of one kind of object. */
export type Fields = Readonly<Record<string, Word>>;

/** The value type of a word. */
export type ValueOf<W> = W extends `${infer Item}[]`
  ? readonly ValueOf<Item>[]
  : W extends `${infer Known}|null`
    ? ValueOf<Known> | null
    : W extends keyof Meanings
      ? Meanings[W]
      : W extends keyof typeof CHOICES
        ? (typeof CHOICES)[W][number]
        : W extends keyof Shapes
          ? ShapeOf<W>
          : never;

type ObjectOf<F> = {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? never : Name]: ValueOf<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? Name : never]?: F[Name] extends `${infer W}?`
    ? ValueOf<W>
    : never;
};

type Flat<T> = { readonly [Name in keyof T]: T[Name] };

export type ShapeOf<Name extends keyof Shapes> = Flat<ObjectOf<Shapes[Name]>>;

/** A union discriminated by the field `By`. */
type VariantOf<Table, By extends string> = {
  [Name in keyof Table]: Flat<Readonly<Record<By, Name>> & ObjectOf<Table[Name]>>;
}[keyof Table];

export type KnownKind = keyof typeof KINDS;

/**
 * The presentation of a record.
 *
 * - `call`, `result`: a call and its result, shown together if possible
 * - `message`: a message or reasoning
 * - `advice`, `pattern`, `fault`: output of coxswain
 * - `event`: a turning point of the run
 * - `detail`: bookkeeping, shown on request
 */
export type Row = 'call' | 'result' | 'message' | 'advice' | 'pattern' | 'fault' | 'event' | 'detail';

/** See `kinds.ts`. */
export interface KindDefinition {
  readonly role: 'input' | 'asked' | 'advised' | 'derived';
  readonly row: Row;
  readonly fields: Fields;
}

/** Kinds with this definition. */
export type KindsThat<Says extends Partial<KindDefinition>> = {
  [Kind in KnownKind]: (typeof KINDS)[Kind] extends Says ? Kind : never;
}[KnownKind];

/** The payload of a kind, or the union for several kinds. */
export type PayloadOf<Kind extends KnownKind> = {
  [One in Kind]: Flat<
    { readonly kind: One } & ObjectOf<(typeof KINDS)[One]['fields']> &
      ((typeof KINDS)[One]['role'] extends 'derived' ? ObjectOf<typeof DERIVED> : unknown)
  >;
}[Kind];
