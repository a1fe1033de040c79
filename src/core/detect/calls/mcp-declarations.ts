import type { ToolAnnotations, ToolDeclaration, ToolDeclarations } from './tool-semantics.ts';

/** A tool in the list of an MCP server. Other fields are ignored. */
export interface McpTool {
  readonly name: string;
  readonly annotations?: ToolAnnotations;
}

/**
 * Converts the tool list of an MCP server to declarations for the option `tools`.
 *
 * @param prefix  prefix that the host adds to the tool name, such as `mcp__github__`; default: none
 */
export function declareMcpTools(tools: readonly McpTool[], prefix: string = ''): ToolDeclarations {
  return Object.fromEntries(
    tools.flatMap(({ name, annotations }): readonly (readonly [string, ToolDeclaration])[] =>
      annotations === undefined ? [] : [[`${prefix}${name}`, { annotations }]],
    ),
  );
}
