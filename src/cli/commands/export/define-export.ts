import { type CommandDefinition, STORE_OPTION } from '../command-definition.ts';

/** `coxswain export`. */
export const exportRuns: CommandDefinition = {
  name: 'export',
  summary: 'write records as JSON lines, or copy them into another store',
  description:
    'Writes the records of runs as they are stored, one line of JSON each, or copies them into another store. A copy ' +
    'may be repeated: it goes on where it was interrupted.',
  arguments: { '[runs...]': 'ids of runs, or beginnings of them (default: all)' },
  options: {
    ...STORE_OPTION,
    '--to <file>': 'write into this new file (default: -, standard output)',
    '--to-store <address>': 'copy into this store instead',
    '--json': 'with --to FILE or --to-store: print the totals as a line of JSON',
  },
  examples: [
    'coxswain export > all.ndjson',
    'coxswain export retry-storm --to retry-storm.ndjson',
    'coxswain export --store .coxswain/runs.db --to-store postgres://agents@db/agents',
  ],
  load: async () => (await import('./export-command.ts')).exportCommand,
};
