import type { CommanderError } from 'commander';

/** Removed commands (`NAME`), subcommands (`NAME INNER`) and options (`NAME --OPTION`), with what to use instead. */
const REMOVED: Readonly<Record<string, string>> = {
  'config suggest': 'coxswain backtest PATH marks the patterns and advice that are no better than chance',
  explain: 'use coxswain show RUN --call N; coxswain analyze FILE --store STORE records the runs of a file',
  label: 'coxswain view labels moments of runs, with the keys of its page',
};

/** The message for a removed command or option; undefined for any other mistake. */
export function removedMessage(error: CommanderError, args: readonly string[]): string | undefined {
  if (error.code !== 'commander.unknownCommand' && error.code !== 'commander.unknownOption') return undefined;
  const [command = '', ...rest] = args;
  const names = [command, ...rest.map((arg) => `${command} ${arg.replace(/=.*/s, '')}`)];
  const name = names.find((one) => Object.hasOwn(REMOVED, one));
  return name === undefined ? undefined : `${name} was removed; ${REMOVED[name]}`;
}
