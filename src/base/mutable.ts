/** A type without `readonly`, to build a value. */
export type Mutable<Value> = { -readonly [Member in keyof Value]: Value[Member] };
