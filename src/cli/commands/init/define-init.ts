import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain init`. */
export const init: CommandDefinition = {
  name: 'init',
  summary: 'record and steer Claude Code sessions',
  description:
    'Puts the hook into the settings of Claude Code: from then on its sessions are recorded and steered. Shows what ' +
    'would change and asks first. Other hooks in these settings stay. Repeating it changes nothing.',
  arguments: { '[target]': 'claude-code (default)' },
  options: {
    '--user': 'your own settings, for all projects, instead of those of this project',
    '--local': 'the project’s .claude/settings.local.json, which git ignores, instead of .claude/settings.json',
    '--http': 'send events to one resident process of the project instead of starting one for each; with --local',
    '--port <number>': 'where that process listens, 1024 to 65535 (default: one that is free)',
    '--project <folder>': 'the project (default: this folder)',
    '--deadline <span>': 'also write a configuration that gives each session this long, such as 45m',
    '--yes': 'do not ask',
    '--dry-run': 'show what would change, and stop',
    '--undo': 'take it back: the same bytes as before, unless somebody has changed them since',
  },
  examples: [
    'coxswain init claude-code',
    'coxswain init claude-code --user --deadline 45m --yes',
    'coxswain init claude-code --http',
    'coxswain init --undo',
  ],
  load: async () => (await import('./init-command.ts')).initCommand,
};
