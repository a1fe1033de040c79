import type { Json } from '../base/json.ts';
import type { ToolAnnotations } from './tool-semantics.ts';

/** A call and its result as they stand in the records. */
export interface RawCall {
  readonly index: number;
  readonly turn: number;
  readonly atMs: number;
  readonly tool: string;
  readonly args: Json;
  /** What the tool's MCP server says of it; a declaration beats it. */
  readonly annotations?: ToolAnnotations | undefined;
  readonly result: Json;
  readonly isError: boolean;
  readonly resultMissing: boolean;
}
