import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain view`. */
export const view: CommandDefinition = {
  name: 'view',
  summary: 'show runs in the browser',
  description:
    'Shows runs as pages in the browser: what the agents did, where they got stuck, which advice they got and what ' +
    'followed it, live while they work. Takes stores, and files, folders and globs of any format that analyze reads; ' +
    'without an argument the store of this project. Only this machine can reach it, and it writes nothing to what it shows.',
  arguments: { '[paths...]': 'stores, files, folders, globs' },
  options: {
    '--port <number>': 'the port to use (default: 7717, or the next free one)',
    '--no-open': 'print the address and open no browser',
    '--run <run>': 'open this run: its id',
    '--call <number>': 'open it at this call, from 1 (default: its beginning)',
    '--report <file>': { text: 'a backtest report as JSON, to be shown too; may be repeated', isRepeatable: true },
    '--config <file>': {
      text: 'a configuration to replay the runs under, beside the standard set; may be repeated',
      isRepeatable: true,
    },
    '--labels <file>': 'a CSV file into which runs and moments are labelled',
  },
  examples: [
    'coxswain view',
    "coxswain view 'runs/**/*.jsonl'",
    'coxswain view ~/.claude/projects/my-app/SESSION.jsonl --no-open --port 8080',
    'coxswain view run.jsonl --run RUN --call 12',
    'coxswain view .coxswain/runs.db --labels labels.csv --report backtest.json',
    'coxswain view --config strict.json',
  ],
  load: async () => (await import('./view-command.ts')).viewCommand,
};
