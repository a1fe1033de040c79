import type { CommandDefinition } from '../command-definition.ts';

export const effectDefinition: CommandDefinition = {
  name: 'effect',
  summary: 'measure whether advice helps: advised episodes against episodes without it',
  description:
    'Shows what followed advice. If the holdout option withheld some, compares advised with withheld episodes: how many ended within ' +
    'the declared number of calls, with a 95 % interval that is valid for any number of looks, and a verdict or the number of ' +
    'further runs needed. Without an experiment nothing is compared. See docs/effect.md.',
  arguments: {
    '[paths...]':
      'stores, or files, folders and globs of exported runs (default: $COXSWAIN_STORE, else the store of this project)',
  },
  options: {
    '--within <calls>': 'calls within which a pattern should clear, 1 to 1000 (default: as the experiment declared)',
    '--worthwhile <points>': 'the smallest difference that matters to you, in points, 1 to 100 (default: 5)',
    '--json': 'print one line of JSON',
  },
  examples: ['coxswain effect', 'coxswain effect runs.db --within 5', 'coxswain effect --json'],
  load: async () => (await import('./effect-command.ts')).effectCommand,
};
