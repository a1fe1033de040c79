import { type CommandDefinition } from '../command-definition.ts';

export const recover: CommandDefinition = {
  name: 'recover',
  summary: 'save the readable records of a damaged store, or add waiting hook events to a store',
  description:
    'With --to, saves the readable records of a damaged store into a new one, run by run, with gap records for lost ' +
    'ones; a run without an end is marked as interrupted. The original is never changed; stop its writers first. ' +
    'Exit code 1 if something was lost. Without --to, adds to the store the hook events that wait in spill files next to it.',
  arguments: { '<store>': 'the store' },
  options: {
    '--to <address>': 'the new store',
    '--json': 'print one line of JSON per run, then one with the totals',
  },
  examples: ['coxswain recover damaged.db --to saved.db', 'coxswain recover runs.db'],
  load: async () => (await import('./recover-command.ts')).recoverCommand,
};
