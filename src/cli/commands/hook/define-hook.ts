import type { CommandDefinition } from '../command-definition.ts';

export const hook: CommandDefinition = {
  name: 'hook',
  summary: 'record one event of an agent program; its settings call this',
  description:
    'Reads one event of Claude Code, Codex, Copilot CLI or Gemini CLI from standard input, records it and responds with advice, if any. Settings call ' +
    'dist/hook.cjs instead, which does the same and starts faster. Always exits with code 0.',
  examples: ['coxswain hook < event.json', 'COXSWAIN_DISABLE=1 coxswain hook    does nothing'],
  load: async () => (await import('./hook-command.ts')).runHookCommand,
};
