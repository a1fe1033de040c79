import { type CommandDefinition, PATTERN_OPTIONS, STORE_OPTION } from '../command-definition.ts';

export const show: CommandDefinition = {
  name: 'show',
  summary: 'report on one run, or on one of its calls',
  description:
    'Reports on a recorded run, or on a run of the last report: coxswain 3 is coxswain show 3. With --call, shows how detection read one call: its kind, whether it failed, the text ' +
    'compared, the earlier calls equal to it, and its patterns.',
  arguments: { '<run>': 'the id of the run, or its beginning, or its number in the last report' },
  options: {
    ...STORE_OPTION,
    '--call <number>': 'the call to show, numbered from 1',
    '--json': 'print its stored records, one per line; with --call, the reading of the call',
    ...PATTERN_OPTIONS,
  },
  examples: [
    'coxswain show retry-storm',
    'coxswain show retry-storm --call 4',
    'coxswain show retry-storm --json > run.jsonl',
  ],
  load: async () => (await import('./show-command.ts')).showCommand,
};
