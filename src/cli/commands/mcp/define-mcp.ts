import type { CommandDefinition } from '../command-definition.ts';

export const mcp: CommandDefinition = {
  name: 'mcp',
  summary: 'record and steer the calls of an MCP server; without one, answer an agent’s questions about its run',
  description:
    'With a COMMAND or --url: a proxy between an agent program and an MCP server. It records and analyses every call of a tool, with ' +
    "the server's annotations, and appends advice to results as one more text. Everything else passes unchanged. " +
    'Without either: a server with the tools acknowledge_advice, run_status and time_left, about the most recently ' +
    'active run of this project. It only reads the store: the hook records an acknowledgement when it sees the call.',
  arguments: { '[command...]': 'the server and its arguments, after --' },
  options: {
    '--url <url>': 'the address of a server that speaks streamable HTTP',
    '--header <line>': { text: 'a header for that server, such as "Authorization: Bearer …"', isRepeatable: true },
    '--token-file <file>': 'a file with the bearer token for that server; default: the variable COXSWAIN_MCP_TOKEN',
  },
  examples: [
    'coxswain mcp -- npx -y @modelcontextprotocol/server-filesystem .',
    'coxswain mcp --url https://example.com/mcp --token-file ~/.config/example-token',
    'claude mcp add coxswain -- npx coxswain mcp',
  ],
  load: async () => (await import('./mcp-command.ts')).mcpCommand,
};
