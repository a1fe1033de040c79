import { type CommandDefinition, PATTERN_OPTIONS } from '../command-definition.ts';

/** `coxswain analyze`. */
export const analyze: CommandDefinition = {
  name: 'analyze',
  summary: 'report where the agents of recorded runs got stuck',
  description:
    'Reads recorded runs and reports where the agents got stuck. Takes files, folders, globs and - for standard ' +
    'input; the content tells the format, and gzip and zstd are unpacked. Without one, it reads the sessions that ' +
    'Claude Code, Codex, Copilot CLI, Gemini CLI, opencode and pi keep on this machine, the newest first. Calls are ' +
    'numbered from 1; in JSON and rows, `flaggedAt` and `evidence` are indices from 0.',
  arguments: { '[paths...]': 'files, folders, globs, or -; none: the sessions of every agent program' },
  options: {
    '--json': 'print one line of JSON a run',
    '--stuck': 'report only runs that got stuck',
    ...PATTERN_OPTIONS,
    '--summary': 'print the totals only',
    '--all': 'print every run, however many',
    '--by <group>':
      'print a table by model, task, tool or folder: runs, stuck ones with examples, calls and cost, also after the first flag',
    '--csv <file>': 'also write a row a run',
    '--parquet <file>': 'the same as Parquet',
    '--format <name>': 'read everything as this format',
    '--store <address>': 'record the runs into this store too: a SQLite file, or postgres://USER@HOST/DATABASE',
    '--verbose': 'print also what was repaired or left out while reading',
  },
  examples: [
    'coxswain analyze --stuck',
    'coxswain analyze session.jsonl',
    "coxswain analyze 'runs/**/*.traj' --stuck",
    'coxswain analyze results/ --json > reports.ndjson',
    'coxswain analyze results/ --by model --csv runs.csv',
    'zcat big.jsonl.gz | coxswain analyze - --summary',
    'coxswain analyze runs/ --store .coxswain/runs.db',
  ],
  load: async () => (await import('./analyze-command.ts')).analyzeCommand,
};
