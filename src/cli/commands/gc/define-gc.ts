import { type CommandDefinition, STORE_ARGUMENT } from '../command-definition.ts';

export const gc: CommandDefinition = {
  name: 'gc',
  summary: 'delete runs that are too old, or the oldest down to a size',
  description:
    'Deletes recorded runs that are too old or exceed a size, the least recently active first; a run is only deleted with ' +
    'its parents and children. Keeps runs without an end that were active in the last 24 hours, and damaged ones. Without ' +
    '--older-than and --max-size the limit is 2 GB; with --older-than alone the size is not limited.',
  arguments: { ...STORE_ARGUMENT },
  options: {
    '--older-than <span>': 'delete runs whose last record is older, such as 30d, 12h or 2w',
    '--max-size <size>': 'delete the oldest runs until the store is no larger, such as 500MB or 2GB',
    '--dry-run': 'only print what would be deleted',
    '--json': 'print one line of JSON per run, then one with the totals',
  },
  examples: ['coxswain gc', 'coxswain gc --older-than 30d --dry-run', 'coxswain gc runs.db --max-size 500MB --json'],
  load: async () => (await import('./gc-command.ts')).gcCommand,
};
