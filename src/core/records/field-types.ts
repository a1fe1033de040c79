import type { Json, JsonObject } from '../base/json.ts';
import type { DERIVED, KINDS } from './kinds.ts';
import type { BLOCKS, CHOICES, FIGURES, MESSAGES, SHAPES } from './shapes.ts';

/**
 * The types of fields. Each key is a word that field definitions use. The words for texts state where the text comes from,
 * which redaction needs.
 */
interface Plain {
  /** Text from the agent, its model, its tools or its user. */
  readonly content: string;
  /**
   * A short word from the host: a tool name, an outcome, a channel. `structureOnly` keeps a word without blanks readable, so
   * the name of a person is `content`.
   */
  readonly name: string;
  /** An id from the host, which connects records. */
  readonly id: string;
  /** A text from the configuration, or computed from redacted records. */
  readonly configured: string;
  /** An id or word from coxswain itself. It is never changed. */
  readonly own: string;
  /** The bytes of an image in base64. This content is never cut. */
  readonly picture: string;
  /** Content of any JSON type. */
  readonly json: Json;
  /** The result of a tool. */
  readonly result: Json;
  /** Content that is an object with any members. */
  readonly object: JsonObject;
  readonly flag: boolean;
  readonly true: true;
  /** A safe integer from 0. */
  readonly count: number;
  /** A finite number from 0: a duration or a time in milliseconds. */
  readonly amount: number;
  /** A finite number, possibly negative or fractional. */
  readonly number: number;
  /** Unix milliseconds. A host may state the time in another unit. */
  readonly deadline: number;
  readonly deadline_from_0: number;
  /** A number that is stored unchanged. */
  readonly unchecked_number: number;
}

type Shapes = typeof FIGURES & typeof SHAPES;

interface Meanings extends Plain {
  readonly message: VariantOf<typeof MESSAGES, 'role'>;
  /** Plain text or a list of parts. */
  readonly message_content: string | readonly Meanings['block'][];
  readonly block: VariantOf<typeof BLOCKS, 'type'>;
}

/** A type word for one value, without shapes and closed sets. */
export type PlainWord = keyof Plain | 'message' | 'message_content' | 'block';

/** A type word without `[]`, `|null` and `?`. */
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

/** A union whose field `By` selects the variant. */
type VariantOf<Table, By extends string> = {
  [Name in keyof Table]: Flat<Readonly<Record<By, Name>> & ObjectOf<Table[Name]>>;
}[keyof Table];

export type KnownKind = keyof typeof KINDS;

/**
 * How the viewer presents a record.
 *
 * - `call`, `result`: a call and its result, shown together if possible
 * - `message`: a message or reasoning
 * - `advice`, `pattern`, `fault`: output of coxswain
 * - `event`: an important event of the run
 * - `detail`: bookkeeping, shown on request
 */
export type Row = 'call' | 'result' | 'message' | 'advice' | 'pattern' | 'fault' | 'event' | 'detail';

export interface KindDefinition {
  readonly role: 'input' | 'asked' | 'advised' | 'derived';
  readonly row: Row;
  /** Set if the host emits an event with the same fields. */
  readonly emitted?: true;
  readonly fields: Fields;
}

/** The kinds whose definition has these properties. */
export type KindsThat<Says extends Partial<KindDefinition>> = {
  [Kind in KnownKind]: (typeof KINDS)[Kind] extends Says ? Kind : never;
}[KnownKind];

/** The payload type of a kind, or the union for several kinds. */
export type PayloadOf<Kind extends KnownKind> = {
  [One in Kind]: Flat<
    { readonly kind: One } & ObjectOf<(typeof KINDS)[One]['fields']> &
      ((typeof KINDS)[One]['role'] extends 'derived' ? ObjectOf<typeof DERIVED> : unknown)
  >;
}[Kind];

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** Kinds of record whose event has the same fields. */
export type EmittedKind = KindsThat<{ readonly emitted: true }>;

/** The event that a host emits for such a kind. */
export type EventOf<Kind extends EmittedKind> = {
  [One in Kind]: Flat<
    { readonly type: One } & {
      readonly [Name in keyof PayloadOf<One> as Name extends 'kind' ? never : CamelCase<Name>]: PayloadOf<One>[Name];
    }
  >;
}[Kind];
