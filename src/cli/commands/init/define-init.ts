import type { CommandDefinition } from '../command-definition.ts';

export const init: CommandDefinition = {
  name: 'init',
  summary: 'record and steer the sessions of your agent CLIs',
  description:
    'Adds the hook to the settings of agent CLIs, which records and steers their sessions from then on. Shows the files ' +
    'to change and asks once. Other hooks in these settings stay. Repeating it changes nothing.',
  arguments: {
    '[target]': 'claude-code, codex, copilot, gemini, opencode or pi (default: the installed ones)',
  },
  options: {
    '--user': 'change your own settings, for all projects, instead of this project’s',
    '--shared':
      'Claude Code: the project’s .claude/settings.json, which is committed, instead of .claude/settings.local.json',
    '--project <folder>': 'the project (default: this folder)',
    '--deadline <span>': 'also write a configuration with this deadline for each session, such as 45m',
    '--yes': 'do not ask',
    '--dry-run': 'show every line that would change, and stop',
    '--undo': 'restore the settings files as they were; from a file that has changed since, remove only the hooks',
  },
  examples: [
    'coxswain init',
    'coxswain init codex --user',
    'coxswain init claude-code --user --deadline 45m --yes',
    'coxswain init --undo',
  ],
  load: async () => (await import('./init-command.ts')).initCommand,
};
