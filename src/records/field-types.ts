import type { Json, JsonObject } from '../base/json.ts';
import type { DERIVED, KINDS } from './kinds.ts';
import type { BLOCKS, CHOICES, FIGURES, MESSAGES, SHAPES } from './shapes.ts';

/**
 * What a field may hold, by the word that stands in its definition. The words for texts say whose text it is, which is what
 * redaction goes by.
 */
interface Plain {
  /** Text of the agent, its model, its tools or its user. */
  readonly content: string;
  /** A short word of the host's: a tool's name, an outcome, a channel. */
  readonly name: string;
  /** A host's id that joins records. */
  readonly id: string;
  /** Of the configuration, or worked out from records that were redacted. */
  readonly configured: string;
  /** An id or a word that coxswain itself gave: never changed. */
  readonly own: string;
  /** The bytes of an image in base64: content, but half of it is none. */
  readonly picture: string;
  /** Content of any type that JSON has. */
  readonly json: Json;
  /** What a tool gave back. */
  readonly result: Json;
  /** Content: an object with any members. */
  readonly object: JsonObject;
  readonly flag: boolean;
  /** A field that is either absent or true. */
  readonly true: true;
  /** A whole number from 0 that JavaScript holds exactly. */
  readonly count: number;
  /** A finite number from 0: a duration or a time in milliseconds. */
  readonly amount: number;
  /** A finite number, also negative or broken. */
  readonly number: number;
  /** Unix milliseconds; a host may give it in another unit. */
  readonly deadline: number;
  readonly deadline_from_0: number;
  /** Stored as it is given, whatever it is. */
  readonly unchecked_number: number;
}

type Shapes = typeof FIGURES & typeof SHAPES;

/** What a word means in a record. */
interface Meanings extends Plain {
  readonly message: VariantOf<typeof MESSAGES, 'role'>;
  /** Plain text, or parts in order. */
  readonly message_content: string | readonly Meanings['block'][];
  readonly block: VariantOf<typeof BLOCKS, 'type'>;
}

/** A word without its marks. */
export type Base = keyof Meanings | keyof typeof CHOICES | keyof Shapes;

/** A word of a definition: what a field may hold. */
export type Word = `${Base}${'' | '[]' | '|null'}${'' | '?'}`;

/** The fields of one kind of object. */
export type Fields = Readonly<Record<string, Word>>;

/** What a field of this word holds. */
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

/** An object with these fields. */
type ObjectOf<F> = {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? never : Name]: ValueOf<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? Name : never]?: F[Name] extends `${infer W}?`
    ? ValueOf<W>
    : never;
};

type Flat<T> = { readonly [Name in keyof T]: T[Name] };

/** The object that a shape describes. */
export type ShapeOf<Name extends keyof Shapes> = Flat<ObjectOf<Shapes[Name]>>;

/** One of several objects, told apart by the field `By`. */
type VariantOf<Table, By extends string> = {
  [Name in keyof Table]: Flat<Readonly<Record<By, Name>> & ObjectOf<Table[Name]>>;
}[keyof Table];

/** A kind that this version knows. */
export type KnownKind = keyof typeof KINDS;

/**
 * What a record is to a reader of the run.
 *
 * - `call`, `result`: a call, and what it came back with, which is shown with its call where that is at hand
 * - `message`: something said or thought
 * - `advice`, `pattern`, `fault`: what coxswain said, noticed, or failed at
 * - `event`: a turning point of the run
 * - `detail`: bookkeeping, shown on request
 */
export type Row = 'call' | 'result' | 'message' | 'advice' | 'pattern' | 'fault' | 'event' | 'detail';

/** What the definition of a kind says; see `kinds.ts`. */
export interface KindDefinition {
  readonly role: 'input' | 'asked' | 'advised' | 'derived';
  readonly row: Row;
  readonly fields: Fields;
}

/** Kinds whose definition says this. */
export type KindsThat<Says extends Partial<KindDefinition>> = {
  [Kind in KnownKind]: (typeof KINDS)[Kind] extends Says ? Kind : never;
}[KnownKind];

/** The payload of a kind; of several, any of theirs. */
export type PayloadOf<Kind extends KnownKind> = {
  [One in Kind]: Flat<
    { readonly kind: One } & ObjectOf<(typeof KINDS)[One]['fields']> &
      ((typeof KINDS)[One]['role'] extends 'derived' ? ObjectOf<typeof DERIVED> : unknown)
  >;
}[Kind];
