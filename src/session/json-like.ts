import type { Json } from '../base/json.ts';

/**
 * Compile-time check that a type is plain JSON: `Data extends JsonLike<Data>` holds for interfaces and type
 * literals made of JSON values, and fails where a member is a function, `Date`, `Map`, `bigint`, `symbol`,
 * `undefined` or `unknown`.
 */
export type JsonLike<Value> = { readonly [Key in keyof Value]: JsonMember<Value[Key]> };

// `Json` first: it is recursive, and expanding it would not end.
type JsonMember<Value> = [Value] extends [Json] ? Value : JsonBranch<Value>;

// An interface is not assignable to `Json`, because it could be extended, so its members are checked one by one.
type JsonBranch<Value> = Value extends Json
  ? Value
  : Value extends (...input: never[]) => unknown
    ? never
    : Value extends object
      ? JsonLike<Value>
      : never;
