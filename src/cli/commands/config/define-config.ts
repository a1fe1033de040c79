import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain config`. */
export const config: CommandDefinition = {
  name: 'config',
  summary: 'check and show the configuration that holds in this folder',
  examples: ['coxswain config check', 'coxswain config show --set'],
  commands: [
    {
      name: 'check',
      summary: 'say what is wrong with the configuration, and what it does',
      description:
        'Says everything that is wrong with the configuration, field by field, what of it does not count without trust, ' +
        'and what steering comes of it. Without a file: the one that holds in this folder, with your own below it. A file ' +
        'that is named is trusted, and its code runs. Exit code 1 when something is wrong.',
      arguments: { '[file]': 'a configuration: .json, .jsonc or .ts' },
      options: { '--json': 'print one line of JSON' },
      examples: ['coxswain config check', 'coxswain config check coxswain.config.json --json'],
      load: async () => (await import('./config-check-command.ts')).configCheckCommand,
    },
    {
      name: 'show',
      summary: 'print every field with the value that holds',
      description: 'print every field with the value that holds, and which of them were set',
      options: {
        '--config <file>': 'the configuration to show; named, it is trusted',
        '--set': 'print only what was set',
        '--json': 'print what was set as one line of JSON',
      },
      examples: ['coxswain config show', 'coxswain config show --set'],
      load: async () => (await import('./config-show-command.ts')).configShowCommand,
    },
    {
      name: 'suggest',
      summary: 'say which detectors and providers are no better than chance on your recorded runs',
      description:
        'Replays recorded runs of which it is known how they ended, and names the detectors and providers that speak no ' +
        'oftener in runs that went wrong than in any: with the figures, and with the configuration that switches them off. ' +
        'Writes nothing.',
      arguments: { '<paths...>': 'stores, files, folders or globs' },
      options: {
        '--config <file>': 'the configuration to look at, or standard (default: standard)',
        '--labels <file>': 'truth about runs, a CSV of id,target,split,note, in place of their outcomes',
        '--json': 'print one line of JSON',
      },
      examples: ['coxswain config suggest runs/', 'coxswain config suggest .coxswain/runs.db --labels truth.csv'],
      load: async () => (await import('./config-suggest-command.ts')).configSuggestCommand,
    },
  ],
};
