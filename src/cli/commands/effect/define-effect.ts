import type { CommandDefinition } from '../command-definition.ts';

export const effectDefinition: CommandDefinition = {
  name: 'effect',
  summary: 'say whether advice helps: advised episodes against those from which advice was withheld',
  description:
    'What followed advice. Where the option holdout of the configuration withheld some, told episodes of a pattern are compared with ' +
    'the others: how many were left within the calls declared, with a 95 % interval that holds however often you look, a verdict, ' +
    'or how many more runs it takes. Without an experiment nothing is compared, and it says so. See docs/effect.md.',
  arguments: {
    '[paths...]':
      'stores, or files, folders and globs of exported runs (default: $COXSWAIN_STORE, else .coxswain/runs.db)',
  },
  options: {
    '--within <calls>': 'calls in which a pattern should be left, 1 to 1000 (default: as the experiment declared)',
    '--worthwhile <points>': 'the least difference that matters to you, in points, 1 to 100 (default: 5)',
    '--json': 'print one line of JSON',
  },
  examples: ['coxswain effect', 'coxswain effect runs.db --within 5', 'coxswain effect --json'],
  load: async () => (await import('./effect-command.ts')).effectCommand,
};
