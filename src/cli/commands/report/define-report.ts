import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain report`. */
export const report: CommandDefinition = {
  name: 'report',
  summary: 'say what the agents did all night',
  description:
    'What the agents did: runs and how they ended, time, calls, tokens and cost, patterns, advice and what came of it, faults, ' +
    'and the five moments most worth a look. Takes a store, or transcripts as analyze does; without an argument the ' +
    'store of this project and the sessions that Claude Code, Codex, Copilot CLI, Gemini CLI, opencode and pi keep on this machine, ' +
    'by project, each run once. Runs count by their last record. Tokens and cost are those that the hosts reported.',
  arguments: {
    '[paths...]': 'a store, or files, folders, globs of transcripts; none: this project and every agent program',
  },
  options: {
    '--since <span>': 'runs at work in this time, such as 12h or 7d, or all (default: all of named files, else 12h)',
    '--json': 'print one line of JSON a run, then one with the totals',
    '--html <file>': 'write one page that needs nothing else',
    '--markdown': 'print Markdown',
    '--by <group>': 'group by project, person or agent (default: by project where it is known)',
    '--to <address>': {
      text:
        'send it, without secrets, and print nothing: https://… (a webhook), or mailto:YOU@HOST (with the package nodemailer, by ' +
        'sendmail or the server in COXSWAIN_SMTP); may be repeated',
      isRepeatable: true,
    },
  },
  examples: [
    'coxswain report',
    'coxswain report --since 7d --html week.html',
    "coxswain report 'runs/**/*.jsonl' --json",
    'coxswain report --to mailto:me@example.org',
    'coxswain report postgres://USER@HOST/DATABASE --since 7d --by person --markdown',
  ],
  load: async () => (await import('./report-command.ts')).reportCommand,
};
