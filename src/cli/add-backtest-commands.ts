import type { Command } from 'commander';

import type { CommandSetup } from './add-store-commands.ts';
import type { BacktestCommandOptions } from './commands/backtest/backtest-command.ts';
import { examples } from './examples.ts';

/** Adds the commands that try a steering on recorded runs: backtest. */
export function addBacktestCommands(program: Command, { terminal, onExitCode }: CommandSetup): void {
  program
    .command('backtest')
    .description(
      'Replays recorded runs under a steering configuration and reports what would have been said, in how many runs and ' +
        'where, and how that goes with how the runs ended. Takes stores, files of any format, folders, globs and -. ' +
        'Without --config: the standard steering. What would have been said is all it shows: what the agent would have ' +
        'done about it is not in a recording. Exit code 1 when something could not be read, a gate was not kept, or ' +
        '--verify found a difference.',
    )
    .summary('try a steering on recorded runs before it is switched on')
    .argument('[paths...]', 'stores, files, folders, globs, or -')
    .option('--config <file>', 'the configuration to try, or standard (default: standard)')
    .option('--compare <files...>', 'compare two configurations, each a file or standard; what follows them are paths')
    .option('--sweep <field=values>', 'try a number at several values: field=2..6, field=0..1/0.25 or field=2,4,8')
    .option('--signal <name>', 'what the sweep is about: a provider, a kind of pattern, or advice')
    .option('--labels <file>', 'truth about runs, a CSV of id,target,split,note, in place of their outcomes')
    .option('--split <name=share>', 'measure two parts that share no task, such as dev=0.7; the rest is test')
    .option('--max-false-rate <share>', 'gate: most of the runs that went well in which something may be said')
    .option('--min-recall <share>', 'gate: least of the runs that went wrong in which something must be said')
    .option('--max-advice-per-100-calls <number>', 'gate: most pieces of advice for 100 calls')
    .option('--workers <number>', 'threads, 1 to 256 (default: the cores of the machine)')
    .option('--resume <file>', 'remember in this file what is done, and go on from there')
    .option('--verify', 'replay runs of stores under their own configuration and compare every derived record')
    .option('--details', 'print also each provider by pattern and decision point')
    .option('--html <file>', 'write the report as one page too')
    .option('--json', 'print the report as one line of JSON')
    .addHelpText(
      'after',
      examples(
        'coxswain backtest runs/',
        'coxswain backtest .coxswain/runs.db --config coxswain.config.json',
        'coxswain backtest --compare standard stricter.json runs/',
        'coxswain backtest runs/ --split dev=0.7 --sweep doomLoop.maxRepetitions=2..6',
        'coxswain backtest runs/ --max-false-rate 0.1 --min-recall 0.4',
        'coxswain backtest .coxswain/runs.db --verify',
      ),
    )
    .action(async (paths: readonly string[], options: BacktestCommandOptions) => {
      const { backtestCommand } = await import('./commands/backtest/backtest-command.ts');
      onExitCode(await backtestCommand(paths, options, terminal));
    });
}
