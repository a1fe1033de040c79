import type { Json } from '../../base/json.ts';
import type { CallOutcome } from '../../records/trajectory-record.ts';
import type { ToolAnnotations } from './tool-semantics.ts';

export interface RawCall {
  readonly index: number;
  readonly turn: number;
  readonly atMs: number;
  readonly tool: string;
  readonly args: Json;
  /** Annotations of the tool from its MCP server. A declaration takes precedence. */
  readonly annotations?: ToolAnnotations | undefined;
  readonly result: Json;
  readonly isError: boolean;
  /** Default: from `isError`. */
  readonly outcome?: CallOutcome | undefined;
  readonly resultMissing: boolean;
}
