import type { CommandDefinition } from '../command-definition.ts';

export const failures: CommandDefinition = {
  name: 'failures',
  summary: 'list the failures that come back, what they cost and what worked after them',
  description:
    'Lists the calls that failed in two or more sessions of a project and in most of those that ran them. Each has its ' +
    'sessions, the calls, time and money until something else worked, what worked, whether it still happens, and two examples to open.',
  arguments: {
    '[paths...]': 'a store, or files, folders, globs of transcripts (default: this project and every agent program)',
  },
  options: {
    '--since <time>': 'sessions active since then, as for report (default: all for named files, else 30d)',
    '--project <name>': 'only the runs of this project: its folder, or the name of its folder',
    '--json': 'print one line of JSON per cause',
  },
  examples: [
    'coxswain failures',
    'coxswain failures --since 7d --project api',
    "coxswain failures 'runs/**/*.jsonl' --json",
  ],
  load: async () => (await import('./failures-command.ts')).failuresCommand,
};
