import type { CommandDefinition } from '../command-definition.ts';

export const config: CommandDefinition = {
  name: 'config',
  summary: 'check and show the configuration of this folder',
  examples: ['coxswain config check', 'coxswain config show --set'],
  commands: [
    {
      name: 'check',
      summary: 'report errors in the configuration, and what it does',
      description:
        'Reports every error in the configuration by field, files of the project that are not trusted and ignored, ' +
        'and the resulting steering. Without a file: the configuration of this folder on top of your own. A named file ' +
        'is trusted, and its code runs. Exit code 1 if there are errors.',
      arguments: { '[file]': 'a configuration: .json, .jsonc or .ts' },
      options: { '--json': 'print one line of JSON' },
      examples: ['coxswain config check', 'coxswain config check coxswain.config.json --json'],
      load: async () => (await import('./config-check-command.ts')).configCheckCommand,
    },
    {
      name: 'show',
      summary: 'print every field with its effective value',
      description: 'Prints every field with its effective value, and which of them are set.',
      options: {
        '--config <file>': 'the configuration to show; it is trusted',
        '--set': 'print only fields that are set',
        '--json': 'print the fields that are set as one line of JSON',
      },
      examples: ['coxswain config show', 'coxswain config show --set'],
      load: async () => (await import('./config-show-command.ts')).configShowCommand,
    },
  ],
};
