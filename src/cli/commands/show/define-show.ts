import { type CommandDefinition, PATTERN_OPTIONS, STORE_OPTION } from '../command-definition.ts';

export const show: CommandDefinition = {
  name: 'show',
  summary: 'report on one recorded run',
  arguments: { '<run>': 'the id of the run, or its beginning' },
  options: {
    ...STORE_OPTION,
    '--json': 'print its stored records, one per line',
    ...PATTERN_OPTIONS,
  },
  examples: ['coxswain show retry-storm', 'coxswain show retry-storm --json > run.jsonl'],
  load: async () => (await import('./show-command.ts')).showCommand,
};
