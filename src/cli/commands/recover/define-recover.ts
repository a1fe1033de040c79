import { type CommandDefinition } from '../command-definition.ts';

/** `coxswain recover`. */
export const recover: CommandDefinition = {
  name: 'recover',
  summary: 'save what can be read of a damaged store, or fold the hook events that wait beside one',
  description:
    'With --to, saves what can be read of a damaged store into a new one, run by run, with gap records for what is ' +
    'lost; a run without an end gets one that says interrupted. The original is never changed; stop what writes to ' +
    'it first. Exit code 1 when something was lost. Without --to, folds the hook events that wait in spill files ' +
    'beside the store.',
  arguments: { '<store>': 'the store' },
  options: {
    '--to <address>': 'the new store',
    '--json': 'print one line of JSON a run, then one with the totals',
  },
  examples: ['coxswain recover .coxswain/runs.db --to saved.db', 'coxswain recover .coxswain/runs.db'],
  load: async () => (await import('./recover-command.ts')).recoverCommand,
};
