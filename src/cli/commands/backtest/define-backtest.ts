import type { CommandDefinition } from '../command-definition.ts';

export const backtestDefinition: CommandDefinition = {
  name: 'backtest',
  summary: 'try a steering on recorded runs before switching it on',
  description:
    'Replays recorded runs under a steering configuration and reports its advice: in how many runs, ' +
    'where, and how it relates to the outcomes. Takes stores, files of any format, folders, globs and -. ' +
    'Without --config: the standard steering. It shows only the advice: a recording does not show how the ' +
    'agent would have reacted. Exit code 1 on a read error, a failed gate, or a difference found by --verify.',
  arguments: { '[paths...]': 'stores, files, folders, globs, or - (default: the store of this project)' },
  options: {
    '--config <file>': 'the configuration to try, or standard (default: standard)',
    '--compare <files...>': 'compare two configurations, each a file or standard; paths follow',
    '--sweep <field=values>': 'try a number at several values: field=2..6, field=0..1/0.25 or field=2,4,8',
    '--signal <name>': 'the signal of the sweep: a provider, a kind of pattern, or advice',
    '--labels <file>': 'judge runs by these labels instead of their outcomes: a CSV of id,target,split,note',
    '--split <name=share>': 'measure two parts that share no task, such as dev=0.7; the rest is test',
    '--max-false-rate <share>': 'gate: fail if a larger share of successful runs gets advice',
    '--min-recall <share>': 'gate: fail if a smaller share of failed runs gets advice',
    '--max-advice-per-100-calls <number>': 'gate: fail if there are more pieces of advice per 100 calls',
    '--workers <number>': 'threads, 1 to 256 (default: the cores of the machine)',
    '--resume <file>': 'store finished work in this file and continue from there',
    '--queue <address>':
      'share the work with other machines that run the same command, through a queue at postgres://USER@HOST/DATABASE (needs pg-boss)',
    '--stop-early': 'measure the savings and lost successes of stopping a run after a stuck warning',
    '--verify': 'replay runs of stores under their own configuration and compare every derived record',
    '--lessons': 'judge what keeps failing: each session by the sessions before it; each of several paths is a project',
    '--details': 'also print each provider by pattern and decision point',
    '--json': 'print the report as one line of JSON',
  },
  examples: [
    'coxswain backtest runs/',
    'coxswain backtest --config coxswain.config.json',
    'coxswain backtest --compare standard stricter.json runs/',
    'coxswain backtest runs/ --split dev=0.7 --sweep doomLoop.maxRepetitions=2..6',
    'coxswain backtest runs/ --max-false-rate 0.1 --min-recall 0.4',
    'coxswain backtest postgres://USER@HOST/runs --queue postgres://USER@HOST/runs    on each machine',
    'coxswain backtest runs/ --stop-early',
    'coxswain backtest --verify',
    'coxswain backtest --lessons sessions/*/',
  ],
  load: async () => (await import('./backtest-command.ts')).backtestCommand,
};
