/** Parts of the official SDK in use. The build bundles them into this file, so that no install brings its 90 packages. */
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
export { Server } from '@modelcontextprotocol/sdk/server/index.js';
export { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
export { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

declare global {
  // The SDK's types use a browser type.
  type HeadersInit = ConstructorParameters<typeof Headers>[0];
}
