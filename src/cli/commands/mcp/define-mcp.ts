import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain mcp`. */
export const mcp: CommandDefinition = {
  name: 'mcp',
  summary: 'an MCP server with which the agent answers advice and asks how it stands',
  description:
    'Speaks the Model Context Protocol on standard input and output, for the settings of an agent program. Tools: ' +
    'acknowledge_advice, run_status, time_left, about the run of this project that was at work last. It reads the store and ' +
    'writes nothing: the hook records the answer where it sees the call.',
  examples: ['claude mcp add coxswain -- npx coxswain mcp', 'codex mcp add coxswain -- npx coxswain mcp'],
  load: async () => (await import('./mcp-command.ts')).mcpCommand,
};
