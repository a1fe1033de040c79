/**
 * A server of the official SDK with a tool for each thing that a proxy must let through. Run:
 * `node test/support/mcp-server.ts`, or with `--http` for streamable HTTP; then it prints its address.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';

const inputSchema = { type: 'object' } as const;
const COUNT_SCHEMA = { type: 'object' as const, properties: { count: { type: 'number' } }, required: ['count'] };
const TOOLS = [
  { name: 'frobnicate', inputSchema, annotations: { readOnlyHint: true, title: 'Frobnicate' } },
  { name: 'count', inputSchema, outputSchema: COUNT_SCHEMA },
  { name: 'fail', inputSchema },
  { name: 'refuse', inputSchema },
  { name: 'progress', inputSchema },
  { name: 'wait', inputSchema },
  { name: 'sample', inputSchema },
  { name: 'elicit', inputSchema },
  { name: 'die', inputSchema },
];

function newServer(): Server {
  const server = new Server({ name: 'test server', version: '1' }, { capabilities: { tools: {}, resources: {} } });
  const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: 'test:one', name: 'one' }] }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
    contents: [{ uri: params.uri, text: 'the resource' }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, signal, _meta }) => {
    switch (params.name) {
      case 'frobnicate':
        return text('nothing there');
      case 'count':
        return { ...text('{"count":7}'), structuredContent: { count: 7 } };
      case 'fail':
        return { ...text('no such file'), isError: true };
      case 'progress': {
        const progressToken = _meta?.progressToken ?? 0;
        for (const progress of [1, 2, 3]) {
          await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
        }
        return text('done');
      }
      case 'wait':
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        process.stderr.write('the call was cancelled\n');
        return text('too late');
      case 'sample': {
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'say hello' } }];
        const { content } = await server.createMessage({ messages, maxTokens: 10 });
        return text(JSON.stringify(content));
      }
      case 'elicit': {
        const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
        return text(JSON.stringify(await server.elicitInput({ message: 'who are you?', requestedSchema })));
      }
      case 'die':
        process.stderr.write('the server dies\n');
        process.exit(7);
      default:
        throw new McpError(ErrorCode.InvalidParams, 'it is refused', { reason: 'test' });
    }
  });
  return server;
}

if (process.argv.includes('--http')) {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    const id = String(request.headers['mcp-session-id'] ?? '');
    const known = transports.get(id);
    if (known !== undefined) {
      void known.handleRequest(request, response);
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void transports.set(session, transport),
    });
    void newServer()
      .connect(transport)
      .then(() => transport.handleRequest(request, response));
  });
  http.listen(0, '127.0.0.1', () => {
    const address = http.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  });
} else {
  process.stderr.write('the server says hello\n');
  await newServer().connect(new StdioServerTransport());
}
