import type { Json } from '../base/json.ts';

/**
 * Checks at compile time that a type is plain JSON. `Data extends JsonLike<Data>` holds for interfaces and type literals
 * made of JSON values. It fails if a member is a function, `Date`, `Map`, `bigint`, `symbol`, `undefined` or `unknown`.
 */
export type JsonLike<Value> = { readonly [Key in keyof Value]: JsonMember<Value[Key]> };

// `Json` is tested first, because it is recursive and expanding it would not end.
type JsonMember<Value> = [Value] extends [Json] ? Value : JsonBranch<Value>;

// An interface is not assignable to `Json`, because other code could extend it. Its members are therefore checked one by
// one.
type JsonBranch<Value> = Value extends Json
  ? Value
  : Value extends (...input: never[]) => unknown
    ? never
    : Value extends object
      ? JsonLike<Value>
      : never;
