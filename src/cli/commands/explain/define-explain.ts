import { type CommandDefinition, STORE_OPTION } from '../command-definition.ts';

export const explain: CommandDefinition = {
  name: 'explain',
  summary: 'explain how one call of a run was classified',
  description:
    'Analyses a recorded run with the default detectors and explains one call: its kind, whether it failed, ' +
    'the text compared, the earlier calls equal to it, and its patterns. Calls are numbered from 1.',
  arguments: { '<run>': 'the id of a run of the store, or its beginning; or a file, or - for standard input' },
  options: {
    '--call <number>': { text: 'the call, numbered from 1 (required)', isRequired: true },
    ...STORE_OPTION,
    '--run <id>': 'which run, if the file has several: its id, or its beginning',
    '--json': 'print one line of JSON',
  },
  examples: ['coxswain explain retry-storm --call 4', 'coxswain explain session.jsonl --call 24 --json'],
  load: async () => (await import('./explain-command.ts')).explainCommand,
};
