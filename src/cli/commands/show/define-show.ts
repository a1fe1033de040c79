import { type CommandDefinition, PATTERN_OPTIONS, STORE_OPTION } from '../command-definition.ts';

/** `coxswain show`. */
export const show: CommandDefinition = {
  name: 'show',
  summary: 'report on one recorded run',
  arguments: { '<run>': 'id of the run, or the beginning of it' },
  options: {
    ...STORE_OPTION,
    '--json': 'print its records as they are stored, one a line',
    ...PATTERN_OPTIONS,
  },
  examples: ['coxswain show retry-storm', 'coxswain show retry-storm --json > run.jsonl'],
  load: async () => (await import('./show-command.ts')).showCommand,
};
