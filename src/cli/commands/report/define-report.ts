import type { CommandDefinition } from '../command-definition.ts';

export const report: CommandDefinition = {
  name: 'report',
  summary: 'report what the agents did, by default in the last 12 hours',
  description:
    'Shows what needs you first: sessions that wait, that failed or were cut off, that are stuck, that answered without a passed check, ' +
    'then what worked, one line per project. coxswain NUMBER opens one. Takes a store, or transcripts as analyze does; by default the ' +
    'stores of all your projects and the sessions that Claude Code, Codex, Copilot CLI, Gemini CLI, opencode and pi keep on this machine, ' +
    'each run once. A run counts if its last record is recent enough. The cost is that of the host, else computed from model prices.',
  arguments: {
    '[paths...]': 'a store, or files, folders, globs of transcripts (default: every project and every agent program)',
  },
  options: {
    '--since <time>':
      'runs active since then: a span such as 12h or 7d, 22:00, yesterday, 2026-11-27, or all (default: all for named files, else 12h)',
    '--project <name>': 'only the runs of this project: its folder, or the name of its folder',
    '--all': 'list every session, not only the first screen',
    '--json': 'print one line of JSON per run, then one with the totals',
    '--html <file>': 'write one self-contained page',
    '--markdown': 'print Markdown',
    '--by <group>': 'also count by person or agent (default: project)',
    '--to <address>': {
      text: 'send it without secrets to this webhook and print nothing; may be repeated',
      isRepeatable: true,
    },
  },
  examples: [
    'coxswain report',
    'coxswain report --since 22:00 --all',
    'coxswain report --since 7d --html week.html',
    "coxswain report 'runs/**/*.jsonl' --json",
    'coxswain report --to https://hooks.example.org/agents',
    'coxswain report postgres://USER@HOST/DATABASE --since 7d --by person --markdown',
  ],
  load: async () => (await import('./report-command.ts')).reportCommand,
};
