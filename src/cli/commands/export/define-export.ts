import { type CommandDefinition, STORE_OPTION } from '../command-definition.ts';

export const exportRuns: CommandDefinition = {
  name: 'export',
  summary: 'write runs as JSON lines, spans, trajectories, chat messages or one HTML file, or copy them to a store',
  description:
    'Writes the records of runs as stored, one line of JSON each; with --format in the format of another tool; ' +
    'or copies them to another store. Repeating a copy continues where it was interrupted.',
  arguments: { '[runs...]': 'run ids, or their beginnings (default: all runs)' },
  options: {
    ...STORE_OPTION,
    '--format <name>': 'records (default), atif, openai, otlp or html',
    '--html': 'one HTML file of one run, for a bug report; the same as --format html',
    '--to <target>': 'write to this new file (default: -, standard output), or send spans to this http address',
    '--no-content': 'with --format otlp: omit arguments, results, messages, and texts that may quote them',
    '--to-store <address>': 'copy to this store instead',
    '--json': 'with --to or --to-store: print the totals as one line of JSON',
  },
  examples: [
    'coxswain export > all.ndjson',
    'coxswain export retry-storm --to retry-storm.ndjson',
    'coxswain export retry-storm --html --to retry-storm.html',
    'coxswain export retry-storm --format atif --to trajectory.json',
    'coxswain export --format openai > messages.jsonl',
    'coxswain export --format otlp --to http://localhost:4318',
    'coxswain export --to-store postgres://agents@db/agents',
  ],
  load: async () => (await import('./export-command.ts')).exportCommand,
};
