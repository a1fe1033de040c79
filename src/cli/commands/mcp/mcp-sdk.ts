/** The parts of the official SDK in use. The build bundles them into this file, so that the SDK's 90 packages are not installed. */
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
export { Server } from '@modelcontextprotocol/sdk/server/index.js';
export { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
export { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

declare global {
  // The types of the SDK use a browser type.
  type HeadersInit = ConstructorParameters<typeof Headers>[0];
}
