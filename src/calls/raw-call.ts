import type { Json } from '../base/json.ts';

/** A call and its result as they stand in the records. */
export interface RawCall {
  readonly index: number;
  readonly turn: number;
  readonly atMs: number;
  readonly tool: string;
  readonly args: Json;
  readonly result: Json;
  readonly isError: boolean;
  readonly resultMissing: boolean;
}
