import { type CommandDefinition, PATTERN_OPTIONS } from '../command-definition.ts';

export const analyze: CommandDefinition = {
  name: 'analyze',
  summary: 'report where agents got stuck in recorded runs',
  description:
    'Reads recorded runs and reports where the agents got stuck. Takes files, folders, globs and - for standard ' +
    'input; detects the format by content and unpacks gzip and zstd. Without paths, it reads the sessions that ' +
    'Claude Code, Codex, Copilot CLI, Gemini CLI, opencode and pi keep on this machine, newest first. Calls are ' +
    'numbered from 1; in JSON, `flaggedAt` and `evidence` are indices from 0.',
  arguments: { '[paths...]': 'files, folders, globs, or - (default: the sessions of every agent program)' },
  options: {
    '--json': 'print one line of JSON per run',
    '--stuck': 'report only runs that got stuck',
    ...PATTERN_OPTIONS,
    '--summary': 'print the totals only',
    '--all': 'print every run, however many there are',
    '--by <group>':
      'print a table by model, task, tool or folder: runs, stuck runs with examples, calls and cost, in total and after the first flag',
    '--csv <file>': 'also write one row per run as CSV',
    '--format <name>': 'read every file as this format',
    '--store <address>': 'also record the runs in this store: a SQLite file, or postgres://USER@HOST/DATABASE',
    '--verbose': 'also print what was repaired or left out while reading',
  },
  examples: [
    'coxswain analyze --stuck',
    'coxswain analyze session.jsonl',
    "coxswain analyze 'runs/**/*.traj' --stuck",
    'coxswain analyze results/ --json > reports.ndjson',
    'coxswain analyze results/ --by model --csv runs.csv',
    'zcat big.jsonl.gz | coxswain analyze - --summary',
    'coxswain analyze runs/ --store analysed.db',
  ],
  load: async () => (await import('./analyze-command.ts')).analyzeCommand,
};
