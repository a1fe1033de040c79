import type { Json } from '../base/json.ts';
import type { ToolAnnotations } from './tool-semantics.ts';

/** A call and its result as recorded. */
export interface RawCall {
  readonly index: number;
  readonly turn: number;
  readonly atMs: number;
  readonly tool: string;
  readonly args: Json;
  /** Hints of the tool's MCP server; a declaration beats them. */
  readonly annotations?: ToolAnnotations | undefined;
  readonly result: Json;
  readonly isError: boolean;
  readonly resultMissing: boolean;
}
