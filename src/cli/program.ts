import { readFileSync } from 'node:fs';

import { Command } from 'commander';

import type { AnalyzeOptions } from './commands/analyze/analyze-command.ts';
import { addClaudeCodeCommands } from './add-claude-code-commands.ts';
import { addBacktestCommands } from './add-backtest-commands.ts';
import { addConfigCommands } from './add-config-commands.ts';
import { addEffectCommands } from './add-effect-commands.ts';
import { addReportCommands } from './add-report-commands.ts';
import { addStoreCommands } from './add-store-commands.ts';
import { addViewCommand } from './add-view-command.ts';
import type { DemoOptions } from './commands/demo/demo-command.ts';
import { examples } from './examples.ts';
import type { RunsOptions } from './commands/runs/runs-command.ts';
import type { ShowOptions } from './commands/show/show-command.ts';
import type { Terminal } from './terminal/terminal.ts';
import type { WatchOptions } from './commands/watch/watch-options.ts';

/** What the program writes by itself, and what it does with the exit code of a command. */
export interface ProgramSetup {
  readonly terminal: Terminal;
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
  readonly onExitCode: (code: number) => void;
}

const STORE_FLAG = '--store <path>';
const STORE_KIND = ['--store-kind <kind>', 'make a new store as sqlite (a file) or jsonl (a folder)'] as const;

/**
 * The command line: names, options, help. What a command does is loaded when it runs.
 *
 * `parseAsync` throws commander's `CommanderError` instead of leaving the process.
 */
export function createProgram({ terminal, writeOut, writeErr, onExitCode }: ProgramSetup): Command {
  const program = new Command('coxswain')
    .description('Records what unattended AI agents do, notices where they get stuck, and says so softly.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut, writeErr, outputError: () => {} })
    .addHelpText(
      'after',
      examples(
        'coxswain demo                          play a sample run that gets stuck, and record it',
        "coxswain analyze 'runs/**/*.jsonl'     a report of each run, and totals",
        'coxswain analyze runs/ --json          a line of JSON a run',
        'coxswain watch session.jsonl           what would be said to a running agent',
        'coxswain runs                          what is recorded in .coxswain/runs.db',
        'coxswain init claude-code              record and steer Claude Code sessions',
        'coxswain report --since 12h            what the agents did all night',
        "coxswain backtest 'runs/**/*.jsonl'    what a steering would have said, and how often it is wrong",
      ) + '\nExit codes: 0 done, 1 something could not be read or is damaged, 2 wrong usage.\n',
    );

  program
    .command('analyze')
    .description(
      'Reads recorded runs and reports where the agents got stuck. Takes files, folders, globs and - for standard ' +
        'input; the format is told by the content, gzip and zstd are unpacked. Calls are numbered from 0.',
    )
    .summary('report where the agents of recorded runs got stuck')
    .argument('<paths...>', 'files, folders, globs, or -')
    .option('--json', 'print one line of JSON a run')
    .option('--stuck', 'report only runs that got stuck')
    .option('--hints', 'report patterns too that never got beyond a hint, which no record holds (implies --recompute)')
    .option('--recompute', 'find the patterns of a steered run again instead of showing those on its record')
    .option('--summary', 'print the totals only')
    .option('--all', 'print every run, however many')
    .option('--format <name>', 'read everything as this format')
    .option(STORE_FLAG, 'record the runs into this store too: a SQLite file, or a folder/ of JSON lines')
    .option(...STORE_KIND)
    .option('--verbose', 'say also what was repaired or left out while reading')
    .addHelpText(
      'after',
      examples(
        'coxswain analyze session.jsonl',
        "coxswain analyze 'runs/**/*.traj' --stuck",
        'coxswain analyze results/ --json > reports.ndjson',
        'zcat big.jsonl.gz | coxswain analyze - --summary',
        'coxswain analyze runs/ --store .coxswain/runs.db',
      ),
    )
    .action(async (paths: readonly string[], options: AnalyzeOptions) => {
      const { analyzeCommand } = await import('./commands/analyze/analyze-command.ts');
      onExitCode(await analyzeCommand(paths, options, terminal));
    });

  program
    .command('hook')
    .description(
      'Takes one event of Claude Code from standard input, records it and answers with advice, if any. Settings call ' +
        'dist/hook.cjs instead, which does the same and starts sooner. Always ends with exit code 0.',
    )
    .summary('take one event of Claude Code (for its settings)')
    .addHelpText('after', examples('coxswain hook < event.json', 'COXSWAIN_DISABLE=1 coxswain hook    does nothing'))
    .action(async () => {
      const { hookCommand } = await import('./commands/hook/hook-command.ts');
      await hookCommand();
    });

  program
    .command('runs')
    .description('list the recorded runs, the one that started last first')
    .option(STORE_FLAG, 'the store to read (default: .coxswain/runs.db)')
    .option('--json', 'print one line of JSON a run')
    .option('--limit <number>', 'runs to list, 1 to 1000 (default: 50)')
    .option('--after <cursor>', 'go on after an earlier list')
    .addHelpText('after', examples('coxswain runs', 'coxswain runs --limit 10 --json'))
    .action(async (options: RunsOptions) => {
      const { runsCommand } = await import('./commands/runs/runs-command.ts');
      onExitCode(await runsCommand(options, terminal));
    });

  program
    .command('show')
    .description('report on one recorded run')
    .argument('<run>', 'id of the run, or the beginning of it')
    .option(STORE_FLAG, 'the store to read (default: .coxswain/runs.db)')
    .option('--json', 'print its records as they are stored, one a line')
    .option('--hints', 'report patterns too that never got beyond a hint, which no record holds (implies --recompute)')
    .option('--recompute', 'find the patterns of a steered run again instead of showing those on its record')
    .addHelpText('after', examples('coxswain show retry-storm', 'coxswain show retry-storm --json > run.jsonl'))
    .action(async (run: string, options: ShowOptions) => {
      const { showCommand } = await import('./commands/show/show-command.ts');
      onExitCode(await showCommand(run, options, terminal));
    });

  program
    .command('watch')
    .description(
      'Follows a transcript while an agent writes it (Claude Code, or any format of one JSON value a line) and prints ' +
        'calls, patterns, and the advice that the standard steering would give. It only prints: nothing reaches the ' +
        'agent. A Claude Code call is shown when the next answer begins, because its answers come in several lines. ' +
        'Ctrl-C ends it.',
    )
    .summary('print live what the steering would say to a running agent')
    .argument('<file>', 'the growing file; it is waited for where it is not there yet')
    .option('--deadline <span>', 'by when the run should be done, from its first record, such as 45m or 1h30m')
    .option('--from-start', 'print everything that is there already, not only the last ten calls')
    .option('--until-end', 'leave when the record says that the run has ended')
    .option('--no-wait', 'fail where the file is not there')
    .option('--json', 'print one line of JSON an event')
    .option('--interval <ms>', 'milliseconds between two looks at the file, 10 to 60000 (default: 250)')
    .addHelpText(
      'after',
      examples(
        'coxswain watch ~/.claude/projects/my-app/SESSION.jsonl',
        'coxswain watch run.jsonl --deadline 45m',
        'coxswain watch run.jsonl --json --until-end > events.ndjson',
      ),
    )
    .action(async (file: string, options: WatchOptions) => {
      const { watchCommand } = await import('./commands/watch/watch-command.ts');
      onExitCode(await watchCommand(file, options, terminal));
    });

  program
    .command('demo')
    .description(
      'Plays a sample run of an agent that gets stuck through a live, steered run at speed, shows the patterns, ' +
        'feedback and guidance as they happen, and records it. Repeating it changes nothing.',
    )
    .summary('play a sample run that gets stuck, steered, and record it')
    .option(STORE_FLAG, 'the store to record into (default: .coxswain/runs.db)')
    .option(...STORE_KIND)
    .option('--fast', 'do not pause between the calls (as without a terminal)')
    .addHelpText('after', examples('coxswain demo', 'coxswain demo --fast', 'coxswain demo --store sample.db'))
    .action(async (options: DemoOptions) => {
      const { demoCommand } = await import('./commands/demo/demo-command.ts');
      onExitCode(await demoCommand(options, terminal));
    });

  addClaudeCodeCommands(program, { terminal, onExitCode });
  addViewCommand(program, { terminal, onExitCode });
  addReportCommands(program, { terminal, onExitCode });
  addStoreCommands(program, { terminal, onExitCode });
  addConfigCommands(program, { terminal, onExitCode });
  addBacktestCommands(program, { terminal, onExitCode });
  addEffectCommands(program, { terminal, onExitCode });
  return program;
}

function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  // Our own file.
  return (JSON.parse(text) as { readonly version: string }).version;
}
