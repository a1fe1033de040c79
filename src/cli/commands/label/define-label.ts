import type { CommandDefinition } from '../command-definition.ts';

export const label: CommandDefinition = {
  name: 'label',
  summary: 'label moments of recorded runs, for backtest --labels',
  description:
    'Shows moments of recorded runs one by one and reads a key for each: y the agent is stuck, n it is fine, ' +
    's skip, b back, q quit. Each label is saved at once; a later call continues where this one stopped.',
  arguments: { '<paths...>': 'stores, or files, folders and globs, as analyze takes them' },
  options: {
    '--out <file>': { text: 'the file of labels (required): CSV with id,target,split,note', isRequired: true },
    '--from <source>': 'which moments: patterns, advice or random (default: patterns)',
    '--count <number>': 'moments per run, 1 to 100 (default: 3)',
  },
  examples: [
    'coxswain label .coxswain/runs.db --out labels.csv',
    "coxswain label 'runs/**/*.jsonl' --out labels.csv --from random",
  ],
  load: async () => (await import('./label-command.ts')).labelCommand,
};
