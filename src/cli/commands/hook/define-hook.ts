import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain hook`. */
export const hook: CommandDefinition = {
  name: 'hook',
  summary: 'take one event of an agent program (for its settings)',
  description:
    'Takes one event of Claude Code, Codex, Copilot CLI or Gemini CLI from standard input, records it and answers with advice, if any. Settings call ' +
    'dist/hook.cjs instead, which does the same and starts sooner. Always ends with exit code 0.',
  examples: ['coxswain hook < event.json', 'COXSWAIN_DISABLE=1 coxswain hook    does nothing'],
  load: async () => (await import('./hook-command.ts')).runHookCommand,
};
