import type { CommandDefinition } from '../command-definition.ts';

/** `coxswain backtest`. */
export const backtestDefinition: CommandDefinition = {
  name: 'backtest',
  summary: 'try a steering on recorded runs before it is switched on',
  description:
    'Replays recorded runs under a steering configuration and reports what it would have said, in how many runs and ' +
    'where, and how that goes with how the runs ended. Takes stores, files of any format, folders, globs and -. ' +
    'Without --config: the standard steering. It shows only what would have been said: how the agent would have ' +
    'reacted is not in a recording. Exit code 1 when something could not be read, a gate was not kept, or ' +
    '--verify found a difference.',
  arguments: { '[paths...]': 'stores, files, folders, globs, or -' },
  options: {
    '--config <file>': 'the configuration to try, or standard (default: standard)',
    '--compare <files...>': 'compare two configurations, each a file or standard; what follows them are paths',
    '--sweep <field=values>': 'try a number at several values: field=2..6, field=0..1/0.25 or field=2,4,8',
    '--signal <name>': 'what the sweep is about: a provider, a kind of pattern, or advice',
    '--labels <file>': 'truth about runs, a CSV of id,target,split,note, in place of their outcomes',
    '--split <name=share>': 'measure two parts that share no task, such as dev=0.7; the rest is test',
    '--max-false-rate <share>': 'gate: most of the runs that went well in which something may be said',
    '--min-recall <share>': 'gate: least of the runs that went wrong in which something must be said',
    '--max-advice-per-100-calls <number>': 'gate: most pieces of advice for 100 calls',
    '--workers <number>': 'threads, 1 to 256 (default: the cores of the machine)',
    '--resume <file>': 'remember in this file what is done, and go on from there',
    '--queue <address>':
      'share the work with other machines that run the same command, through a queue at postgres://USER@HOST/DATABASE (needs pg-boss)',
    '--stop-early': 'what stopping a run after a stuck warning would have saved, and the successes it would have lost',
    '--verify': 'replay runs of stores under their own configuration and compare every derived record',
    '--details': 'print also each provider by pattern and decision point',
    '--html <file>': 'write the report as one page too',
    '--json': 'print the report as one line of JSON',
  },
  examples: [
    'coxswain backtest runs/',
    'coxswain backtest .coxswain/runs.db --config coxswain.config.json',
    'coxswain backtest --compare standard stricter.json runs/',
    'coxswain backtest runs/ --split dev=0.7 --sweep doomLoop.maxRepetitions=2..6',
    'coxswain backtest runs/ --max-false-rate 0.1 --min-recall 0.4',
    'coxswain backtest postgres://USER@HOST/runs --queue postgres://USER@HOST/runs    on each machine',
    'coxswain backtest runs/ --stop-early',
    'coxswain backtest .coxswain/runs.db --verify',
  ],
  load: async () => (await import('./backtest-command.ts')).backtestCommand,
};
