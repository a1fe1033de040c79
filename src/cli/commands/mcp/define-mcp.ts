import type { CommandDefinition } from '../command-definition.ts';

export const mcp: CommandDefinition = {
  name: 'mcp',
  summary:
    'stand in front of an MCP server: record and analyse its calls, add advice to results; alone: answer questions',
  description:
    'With a COMMAND or --url: a proxy between an agent program and an MCP server. It records and analyses every call of a tool, with ' +
    "the server's annotations, and appends advice to results as one more text. Everything else passes unchanged. " +
    'Without either: a server with the tools acknowledge_advice, run_status and time_left, about the run of this project that was ' +
    'at work last. It reads the store and writes nothing: the hook records the answer where it sees the call.',
  arguments: { '[command...]': 'the server and its arguments, after --' },
  options: {
    '--url <url>': 'the server, where it speaks streamable HTTP',
    '--header <line>': { text: 'a header for that server, such as "Authorization: Bearer …"', isRepeatable: true },
  },
  examples: [
    'coxswain mcp -- npx -y @modelcontextprotocol/server-filesystem .',
    'coxswain mcp --url https://example.com/mcp --header "Authorization: Bearer $TOKEN"',
    'claude mcp add coxswain -- npx coxswain mcp',
  ],
  load: async () => (await import('./mcp-command.ts')).mcpCommand,
};
