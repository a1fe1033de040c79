/** A value while it is put together: its members may still be set. */
export type Mutable<Value> = { -readonly [Member in keyof Value]: Value[Member] };
