import { type CommandDefinition, TARGET_OPTION } from '../command-definition.ts';

export const importRuns: CommandDefinition = {
  name: 'import',
  summary: 'read exported records or another store into a store',
  description:
    'Copies the output of coxswain export, or the runs of another store, into a store, with ids and numbers unchanged. Repeating it ' +
    'changes nothing. coxswain import .coxswain/runs.db moves the runs that an earlier version recorded in the project. ' +
    'Use coxswain analyze PATH --store STORE for recordings of other programs.',
  arguments: {
    '<file>': 'a store, or a file of records, one line of JSON each (.gz and .zst are unpacked), or -',
  },
  options: {
    ...TARGET_OPTION,
    '--json': 'print the totals as a line of JSON',
  },
  examples: [
    'coxswain import .coxswain/runs.db',
    'coxswain import all.ndjson --store copy.db',
    'zcat all.ndjson.gz | coxswain import -',
  ],
  load: async () => (await import('./import-command.ts')).importCommand,
};
