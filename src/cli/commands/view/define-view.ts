import type { CommandDefinition } from '../command-definition.ts';

export const view: CommandDefinition = {
  name: 'view',
  summary: 'show runs in the browser',
  description:
    'Shows runs as pages in the browser: what the agents did, where they got stuck, which advice they got and what ' +
    'followed it, live while they work. Takes stores, and files, folders and globs of any format that analyze reads; ' +
    'by default the stores of all your projects and the sessions of your agent programs. Only this machine can reach it, and it never changes the runs.',
  arguments: { '[paths...]': 'stores, files, folders, globs' },
  options: {
    '--port <number>': 'the port to use (default: 7717, or the next free one)',
    '--no-open': 'print the address without opening a browser',
    '--project <name>':
      'only the stores of this project: its folder, or the name of its folder (default: every project)',
    '--run <run>': 'open the run with this id',
    '--call <number>': 'open it at this call, from 1 (default: its start)',
    '--labels <file>': 'the CSV file for labels of runs and calls (default: labels.csv in this folder)',
  },
  examples: [
    'coxswain view',
    "coxswain view 'runs/**/*.jsonl'",
    'coxswain view ~/.claude/projects/my-app/SESSION.jsonl --no-open --port 8080',
    'coxswain view run.jsonl --run RUN --call 12',
    'coxswain view runs.db --labels mine.csv',
  ],
  load: async () => (await import('./view-command.ts')).viewCommand,
};
