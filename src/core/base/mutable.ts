/** A type without `readonly`, for building a value. */
export type Mutable<Value> = { -readonly [Member in keyof Value]: Value[Member] };
