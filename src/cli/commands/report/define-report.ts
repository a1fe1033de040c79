import type { CommandDefinition } from '../command-definition.ts';

export const report: CommandDefinition = {
  name: 'report',
  summary: 'report what the agents did, by default in the last 12 hours',
  description:
    'Reports runs and how they ended, time, calls, tokens and cost, patterns, advice and what followed it, faults, ' +
    'and the five moments most worth a look. Takes a store, or transcripts as analyze does; by default the ' +
    'store of this project and the sessions that Claude Code, Codex, Copilot CLI, Gemini CLI, opencode and pi keep on this machine, ' +
    'by project, each run once. A run counts if its last record is recent enough. Tokens are those the hosts reported; the cost too, or computed from model prices.',
  arguments: {
    '[paths...]': 'a store, or files, folders, globs of transcripts (default: this project and every agent program)',
  },
  options: {
    '--since <span>': 'runs active in this time, such as 12h or 7d, or all (default: all for named files, else 12h)',
    '--json': 'print one line of JSON per run, then one with the totals',
    '--html <file>': 'write one self-contained page',
    '--markdown': 'print Markdown',
    '--by <group>': 'group by project, person or agent (default: by project if known)',
    '--to <address>': {
      text: 'send it without secrets to this webhook and print nothing; may be repeated',
      isRepeatable: true,
    },
  },
  examples: [
    'coxswain report',
    'coxswain report --since 7d --html week.html',
    "coxswain report 'runs/**/*.jsonl' --json",
    'coxswain report --to https://hooks.example.org/agents',
    'coxswain report postgres://USER@HOST/DATABASE --since 7d --by person --markdown',
  ],
  load: async () => (await import('./report-command.ts')).reportCommand,
};
