import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain init`. */
export const init: CommandDefinition = {
  name: 'init',
  summary: 'record and steer the sessions of your agent programs',
  description:
    'Puts the hook into the settings of agent programs: from then on their sessions are recorded and steered. Says what ' +
    'it would change and asks once. Other hooks in these settings stay. Repeating it changes nothing.',
  arguments: {
    '[target]': 'claude-code, codex, copilot, gemini, opencode or pi (default: those that you have)',
  },
  options: {
    '--user': 'your own settings, for all projects, instead of those of this project',
    '--shared':
      'Claude Code: the project’s .claude/settings.json, which is committed, instead of .claude/settings.local.json',
    '--http': 'Claude Code: send events to one resident process of the project instead of starting one for each',
    '--port <number>': 'where that process listens, 1024 to 65535 (default: one that is free)',
    '--project <folder>': 'the project (default: this folder)',
    '--deadline <span>': 'also write a configuration that gives each session this long, such as 45m',
    '--yes': 'do not ask',
    '--dry-run': 'show every line that would change, and stop',
    '--undo': 'take it back: the same bytes as before, unless somebody has changed them since',
  },
  examples: [
    'coxswain init',
    'coxswain init codex --user',
    'coxswain init claude-code --user --deadline 45m --yes',
    'coxswain init claude-code --http',
    'coxswain init --undo',
  ],
  load: async () => (await import('./init-command.ts')).initCommand,
};
