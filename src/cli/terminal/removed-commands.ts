import type { CommanderError } from 'commander';

const REMOVED: Readonly<Record<string, string>> = {
  '--format inspect-json': 'use --format atif or otlp; coxswain still reads logs of Inspect',
  '--format intercode': 'convert the file to the form calls or steps of docs/formats.md',
  '--to mailto:': 'give a webhook, or send the text: coxswain report --markdown | mail -s coxswain YOU@HOST',
  'analyze --parquet': 'use --csv, which DuckDB and pandas convert to Parquet',
  'backtest --details': 'use --json, which has each provider by pattern and decision point',
  'backtest --html': 'use the table or --json',
  'backtest --signal': 'use --sweep, which plots the provider that changes most',
  'config suggest': 'coxswain backtest PATH marks the patterns and advice that are no better than chance',
  explain: 'use coxswain show RUN --call N; coxswain analyze FILE --store STORE records the runs of a file',
  'init --http': 'coxswain init claude-code starts one hook process a turn; a port can be taken by others',
  'init --port': 'coxswain init sets up no server',
  label: 'coxswain view labels moments of runs, with the keys of its page',
  'serve --idle': 'coxswain serve otlp runs until it is interrupted',
  'serve --json': 'coxswain doctor --json shows whether sessions are recorded',
  'serve run': 'hooks need no server: run coxswain init; coxswain serve otlp receives OpenTelemetry',
  'serve start': 'hooks need no server: run coxswain init; coxswain serve otlp receives OpenTelemetry',
  'serve status': 'hooks need no server: coxswain doctor shows whether sessions are recorded',
  'serve stop': 'hooks need no server: a server of an earlier version ends by itself after coxswain init',
  'view --config': 'coxswain backtest --config replays runs with a configuration',
  'view --report': 'coxswain backtest prints the report',
};

export function removedMessage(error: CommanderError, args: readonly string[]): string | undefined {
  if (error.code !== 'commander.unknownCommand' && error.code !== 'commander.unknownOption') return undefined;
  const [command = '', ...rest] = args;
  const names = [command, ...rest.map((arg) => `${command} ${arg.replace(/=.*/s, '')}`)];
  return names.map(removedOptionText).find((text) => text !== undefined);
}

export function removedOptionText(name: string): string | undefined {
  return Object.hasOwn(REMOVED, name) ? `${name} was removed; ${REMOVED[name]}` : undefined;
}
