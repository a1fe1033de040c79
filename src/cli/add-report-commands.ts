import type { Command } from 'commander';

import type { CommandSetup } from './add-store-commands.ts';
import type { DoctorOptions } from './commands/doctor/doctor-command.ts';
import { examples } from './examples.ts';
import type { ReportOptions } from './commands/report/report-command.ts';
import type { StatusOptions } from './commands/status/status-main.ts';

/** Adds the commands that say how it goes: doctor, report, status. */
export function addReportCommands(program: Command, { terminal, onExitCode }: CommandSetup): void {
  program
    .command('doctor')
    .description(
      'Looks whether the hook is alive in this project and what stands in its way, a line each: pass, fail, or unknown ' +
        'where nothing proves either. Sends one event through the hook command of the settings and deletes what it recorded; ' +
        'changes nothing else. Exit code 1 when a check fails.',
    )
    .summary('look whether the hooks are alive and what stands in their way')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', examples('coxswain doctor', 'coxswain doctor --json'))
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import('./commands/doctor/doctor-command.ts');
      onExitCode(await doctorCommand(options, terminal));
    });

  program
    .command('report')
    .description(
      'What the agents did: runs and how they ended, time, calls, tokens and cost, patterns, advice and what came of it, faults, ' +
        'and the five moments most worth a look. Takes a store, or transcripts as analyze does; without an argument the ' +
        'store of this project. Runs count by their last record. Tokens and cost are those that the hosts told.',
    )
    .summary('say what the agents did all night')
    .argument('[paths...]', 'a store, or files, folders, globs of transcripts')
    .option(
      '--since <span>',
      'runs at work in this time, such as 12h or 7d, or all (default: 12h of a store, all of files)',
    )
    .option('--json', 'print one line of JSON a run, then one with what they add up to')
    .option('--html <file>', 'write one page that needs nothing else')
    .addHelpText(
      'after',
      examples(
        'coxswain report',
        'coxswain report --since 7d --html week.html',
        "coxswain report 'runs/**/*.jsonl' --json",
      ),
    )
    .action(async (paths: readonly string[], options: ReportOptions) => {
      const { reportCommand } = await import('./commands/report/report-command.ts');
      onExitCode(await reportCommand(paths, options, terminal));
    });

  program
    .command('status')
    .description(
      'One line about the run of this project that was at work last: calls, errors, the pattern it is in, time left. For a ' +
        'shell, and for the statusLine of Claude Code, whose session it shows then. Always exit code 0. A template may hold ' +
        '{calls}, {errors}, {turns}, {pattern}, {level}, {left}, {outcome}, {run} and {task}.',
    )
    .summary('one line about the current run, for a status line')
    .option('--json', 'print one line of JSON; null without a run')
    .option('--format <template>', 'print this, with names in braces replaced')
    .addHelpText('after', examples('coxswain status', "coxswain status --format '{calls} calls {pattern} {left}'"))
    .action(async (options: StatusOptions) => {
      const { statusMain } = await import('./commands/status/status-main.ts');
      await statusMain(options);
    });
}
