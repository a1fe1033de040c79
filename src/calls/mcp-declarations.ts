import type { ToolAnnotations, ToolDeclaration, ToolDeclarations } from './tool-semantics.ts';

/** A tool as an MCP server lists it; other fields do not matter. */
export interface McpTool {
  readonly name: string;
  readonly annotations?: ToolAnnotations;
}

/**
 * Declarations of the tools an MCP server lists, for the option `tools`.
 *
 * @param prefix  what the host puts before the tool's name, such as `mcp__github__`; default none
 */
export function declareMcpTools(tools: readonly McpTool[], prefix: string = ''): ToolDeclarations {
  return Object.fromEntries(
    tools.flatMap(({ name, annotations }): readonly (readonly [string, ToolDeclaration])[] =>
      annotations === undefined ? [] : [[`${prefix}${name}`, { annotations }]],
    ),
  );
}
