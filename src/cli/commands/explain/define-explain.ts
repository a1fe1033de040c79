import { type CommandDefinition, STORE_OPTION } from '../command-definition.ts';

/** `coxswain explain`. */
export const explain: CommandDefinition = {
  name: 'explain',
  summary: 'say why a call of a run was read as it was',
  description:
    'Folds a recorded run with the default detectors and says how one call was read, and why: its kind, whether it failed, ' +
    'which text is compared, which earlier calls equal it, and the patterns that it belongs to. Calls are numbered from 1.',
  arguments: { '<run>': 'id of a run of the store, or the beginning of it; or a file, or - for standard input' },
  options: {
    '--call <number>': { text: 'the call, numbered from 1', isRequired: true },
    ...STORE_OPTION,
    '--run <id>': 'of a file with several runs: the id of the run, or the beginning of it',
    '--json': 'print one line of JSON',
  },
  examples: ['coxswain explain retry-storm --call 4', 'coxswain explain session.jsonl --call 24 --json'],
  load: async () => (await import('./explain-command.ts')).explainCommand,
};
