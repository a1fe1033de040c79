import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain effect`. */
export const effectDefinition: CommandDefinition = {
  name: 'effect',
  summary: 'compare runs that got advice with runs from which it was withheld',
  description:
    'What followed advice. Where an experiment drew runs (the option holdout of the configuration), per provider one ' +
    'figure: how often runs that got advice left their pattern within some calls, against runs from which it was ' +
    'withheld, with a 95 % interval. Without an experiment nothing is compared, and it says so. See docs/effect.md.',
  arguments: {
    '[paths...]':
      'stores, or files, folders and globs of exported runs (default: $COXSWAIN_STORE, else .coxswain/runs.db)',
  },
  options: {
    '--within <calls>': 'calls in which a pattern should be left, 1 to 1000 (default: 10)',
    '--json': 'print one line of JSON',
  },
  examples: ['coxswain effect', 'coxswain effect runs.db --within 5', 'coxswain effect --json'],
  load: async () => (await import('./effect-command.ts')).effectCommand,
};
