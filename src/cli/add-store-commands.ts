import type { Command } from 'commander';

import { examples } from './examples.ts';
import type { ExportOptions } from './commands/export/export-command.ts';
import type { GcCommandOptions } from './commands/gc/gc-command.ts';
import type { ImportOptions } from './commands/import/import-command.ts';
import type { RecoverOptions } from './commands/recover/recover-command.ts';
import type { SearchOptions } from './commands/search/search-command.ts';
import type { Terminal } from './terminal/terminal.ts';
import type { VerifyOptions } from './commands/verify/verify-command.ts';

/** What the commands need of the program. */
export interface CommandSetup {
  readonly terminal: Terminal;
  readonly onExitCode: (code: number) => void;
}

const STORE_FLAG = '--store <path>';
const STORE_TEXT = 'the store to read: a SQLite file or a folder of JSON lines (default: .coxswain/runs.db)';
const STORE_KIND = ['--store-kind <kind>', 'make a new store as sqlite (a file) or jsonl (a folder)'] as const;

/** Adds the commands that work on a store as a whole: search, verify, export, import, recover, gc. */
export function addStoreCommands(program: Command, { terminal, onExitCode }: CommandSetup): void {
  program
    .command('search')
    .description(
      'Finds the recorded messages, calls and results that hold all the words, newest first. Words in double quotes ' +
        '(of the search, inside those of the shell) stand together. Nothing found is exit code 0 too.',
    )
    .summary('find recorded messages, calls and results by their words')
    .argument('<words...>', 'words that a record must hold, all of them')
    .option(STORE_FLAG, STORE_TEXT)
    .option('--run <run>', 'only in this run: its id, or the beginning of it')
    .option('--kind <kind>', 'only records of this kind, such as tool_ended; may be repeated', collect)
    .option('--limit <number>', 'hits to print, 1 to 1000 (default: 50)')
    .option('--after <cursor>', 'go on after an earlier page')
    .option('--json', 'print one line of JSON a hit')
    .addHelpText(
      'after',
      examples(
        'coxswain search no rule for target',
        'coxswain search \'"expected 7439"\' --kind tool_ended',
        'coxswain search deploy --run retry-storm --json',
      ),
    )
    .action(async (words: readonly string[], options: SearchOptions) => {
      const { searchCommand } = await import('./commands/search/search-command.ts');
      onExitCode(await searchCommand(words, options, terminal));
    });

  program
    .command('verify')
    .description(
      'Reads a whole store and says what is wrong and where: holes in the order of records, torn or damaged ' +
        'records, checksums. Exit code 1 when something is.',
    )
    .summary('check a store for damage')
    .argument('[store]', 'the store (default: .coxswain/runs.db)')
    .option('--json', 'print one line of JSON a problem, then one with the totals')
    .addHelpText('after', examples('coxswain verify', 'coxswain verify records/ --json'))
    .action(async (store: string | undefined, options: VerifyOptions) => {
      const { verifyCommand } = await import('./commands/verify/verify-command.ts');
      onExitCode(await verifyCommand(store, options, terminal));
    });

  program
    .command('export')
    .description(
      'Writes the records of runs as they are stored, one line of JSON each, or copies them into another store. A copy ' +
        'may be repeated: it goes on where it was interrupted.',
    )
    .summary('write records as JSON lines, or copy them into another store')
    .argument('[runs...]', 'ids of runs, or beginnings of them (default: all)')
    .option(STORE_FLAG, STORE_TEXT)
    .option('--to <file>', 'write into this new file (default: -, standard output)')
    .option('--to-store <path>', 'copy into this store instead')
    .option(...STORE_KIND)
    .option('--json', 'with --to FILE or --to-store: print the totals as a line of JSON')
    .addHelpText(
      'after',
      examples(
        'coxswain export > all.ndjson',
        'coxswain export retry-storm --to retry-storm.ndjson',
        'coxswain export --store .coxswain/runs.db --to-store archive/ --store-kind jsonl',
      ),
    )
    .action(async (runs: readonly string[], options: ExportOptions) => {
      const { exportCommand } = await import('./commands/export/export-command.ts');
      onExitCode(await exportCommand(runs, options, terminal));
    });

  program
    .command('import')
    .description(
      'Reads what coxswain export wrote into a store, with ids and numbers as they are. Repeating it changes nothing. ' +
        'What other programs recorded is read by coxswain analyze PATH --store STORE.',
    )
    .summary('read exported records into a store')
    .argument('<file>', 'file of records, one line of JSON each (.gz and .zst are unpacked), or -')
    .option(STORE_FLAG, 'the store to write into; made where missing (default: .coxswain/runs.db)')
    .option(...STORE_KIND)
    .option('--json', 'print the totals as a line of JSON')
    .addHelpText(
      'after',
      examples('coxswain import all.ndjson --store copy.db', 'zcat all.ndjson.gz | coxswain import -'),
    )
    .action(async (file: string, options: ImportOptions) => {
      const { importCommand } = await import('./commands/import/import-command.ts');
      onExitCode(await importCommand(file, options, terminal));
    });

  program
    .command('recover')
    .description(
      'With --to, saves what can be read of a damaged store into a new one, run by run, with gap records for what is ' +
        'lost; a run without an end gets one that says interrupted. The original is never changed; stop what writes to ' +
        'it first. Exit code 1 when something was lost. Without --to, folds the hook events that wait in spill files ' +
        'beside the store.',
    )
    .summary('save what can be read of a damaged store, or fold the hook events that wait beside one')
    .argument('<store>', 'the store')
    .option('--to <path>', 'the new store; of the same kind where nothing else is said')
    .option(...STORE_KIND)
    .option('--json', 'print one line of JSON a run, then one with the totals')
    .addHelpText(
      'after',
      examples('coxswain recover .coxswain/runs.db --to saved.db', 'coxswain recover records/ --to saved/'),
    )
    .action(async (store: string, { to, ...options }: Partial<RecoverOptions>) => {
      if (to === undefined) {
        const { foldSpillsCommand } = await import('./commands/fold-spills/fold-spills-command.ts');
        onExitCode(await foldSpillsCommand(store, options, terminal));
        return;
      }
      const { recoverCommand } = await import('./commands/recover/recover-command.ts');
      onExitCode(await recoverCommand(store, { to, ...options }, terminal));
    });

  program
    .command('gc')
    .description(
      'Deletes recorded runs that are too old or too much, the one that was active longest ago first; a run goes with its ' +
        'parents and children or not at all. Kept are runs without an end that were active in the last 24 hours, and damaged ' +
        'ones. Without --older-than and --max-size the limit is 2 GB; with --older-than alone there is none.',
    )
    .summary('delete runs that are too old, or the oldest down to a size')
    .argument('[store]', 'the store (default: .coxswain/runs.db)')
    .option('--older-than <span>', 'delete runs whose last record is so old, such as 30d, 12h or 2w')
    .option('--max-size <size>', 'delete the oldest runs until the store takes no more, such as 500MB or 2GB')
    .option('--dry-run', 'only say what would be deleted')
    .option('--json', 'print one line of JSON a run, then one with the totals')
    .addHelpText(
      'after',
      examples('coxswain gc', 'coxswain gc --older-than 30d --dry-run', 'coxswain gc records/ --max-size 500MB --json'),
    )
    .action(async (store: string | undefined, options: GcCommandOptions) => {
      const { gcCommand } = await import('./commands/gc/gc-command.ts');
      onExitCode(await gcCommand(store, options, terminal));
    });
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
