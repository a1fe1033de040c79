import { type CommandDefinition, STORE_OPTION } from '../command-definition.ts';

/** `coxswain runs`. */
export const runs: CommandDefinition = {
  name: 'runs',
  summary: 'list the recorded runs, the one that started last first',
  options: {
    ...STORE_OPTION,
    '--json': 'print one line of JSON a run',
    '--limit <number>': 'runs to list, 1 to 1000 (default: 50)',
    '--after <cursor>': 'go on after an earlier list',
    '--cost': 'tokens and cost of each run, for which its records are read',
  },
  examples: ['coxswain runs', 'coxswain runs --limit 10 --json'],
  load: async () => (await import('./runs-command.ts')).runsCommand,
};
