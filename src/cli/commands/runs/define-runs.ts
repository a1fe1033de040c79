import { type CommandDefinition, STORE_OPTION } from '../command-definition.ts';

export const runs: CommandDefinition = {
  name: 'runs',
  summary: 'list the recorded runs, the most recently started first',
  options: {
    ...STORE_OPTION,
    '--project <name>': 'only the runs of this project: its folder, or the name of its folder (default: every project)',
    '--json': 'print one line of JSON per run',
    '--limit <number>': 'runs to list, 1 to 1000 (default: 50)',
    '--after <cursor>': 'continue after the cursor that an earlier list printed',
    '--cost': 'print tokens and cost of each run, which reads all its records',
  },
  examples: ['coxswain runs', 'coxswain runs --limit 10 --json'],
  load: async () => (await import('./runs-command.ts')).runsCommand,
};
