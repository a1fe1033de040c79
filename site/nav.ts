/** A group of the sidebar. */
interface Group {
  readonly text: string;
  /** Names in `docs/`, without `.md`. */
  readonly pages: readonly string[];
}

/** The sidebar, in order. A page of `docs/` that is in no group stands in `OTHERS`. */
export const GROUPS: readonly Group[] = [
  { text: 'Start here', pages: ['start-unattended', 'start-typescript', 'start-recorded', 'overview'] },
  {
    text: 'Concepts',
    pages: ['detection', 'feedback', 'guidance', 'standard-steering', 'runs', 'recording'],
  },
  {
    text: 'Agent programs',
    pages: [
      'hosts',
      'claude-code',
      'hosts/codex',
      'hosts/copilot',
      'hosts/gemini',
      'hosts/opencode',
      'hosts/pi',
      'hosts/qwen-code',
      'mcp',
      'doctor',
      'report',
      'notifications',
      'viewer',
    ],
  },
  { text: 'SDKs', pages: ['claude-agent-sdk', 'ai-sdk', 'langchain', 'mastra', 'openai', 'openai-agents', 'anthropic', 'google-genai'] },
  { text: 'Recorded runs', pages: ['formats', 'backtest', 'effect'] },
  {
    text: 'How to',
    pages: ['writing-a-provider', 'testing-adapters', 'coming-from'],
  },
  { text: 'Reference', pages: ['configuration', 'stores', 'postgres', 'redaction', 'commands', 'words', 'kinds'] },
  { text: 'Project', pages: ['security', 'tour', 'architecture', 'changes', 'contributing', 'reporting', 'changelog'] },
];

export const OTHERS = 'More';

/** Files outside `docs/` that are pages too, by the names of those. */
export const FROM_THE_ROOT: Readonly<Record<string, string>> = {
  'README.md': 'overview.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'reporting.md',
  'CHANGELOG.md': 'changelog.md',
  'AGENTS.md': 'agents.md',
};
