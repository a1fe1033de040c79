import { CommanderError } from 'commander';

import { CoxswainError, messageOf } from '../core/base/error.ts';
import { printableCut } from '../core/base/printable.ts';
import { runProgram } from './program.ts';
import { removedMessage } from './terminal/removed-commands.ts';
import { Terminal } from './terminal/terminal.ts';

const USAGE = 2;

/**
 * Runs the command line of this process and sets its exit code: 0 for success, 1 if something could not be read, 2 for wrong
 * usage. Never throws: an error is printed as one line on standard error.
 */
export async function main(): Promise<void> {
  const { stdout, stderr } = process;
  const terminal = new Terminal({ stdout, stderr });
  handleExits(terminal);
  process.exitCode = await exitCodeOf(process.argv.slice(2), terminal);
}

async function exitCodeOf(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  try {
    await runProgram(args, {
      terminal,
      writeOut: (text) => process.stdout.write(text),
      writeErr: (text) => process.stderr.write(text),
      onExitCode: (code) => (exitCode = code),
    });
    return exitCode;
  } catch (error) {
    return reportError(error, args, terminal);
  }
}

function reportError(error: unknown, args: readonly string[], terminal: Terminal): number {
  const [command = ''] = args;
  const message = printableCut(messageOf(error).replaceAll('\n', ' '), 500);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // If a command only has subcommands, commander has already printed the help.
    if (error.code !== 'commander.help') {
      const isKnown = error.code !== 'commander.unknownCommand' && /^\w/.test(command);
      const help = isKnown ? `coxswain ${command} --help` : 'coxswain --help';
      terminal.complain(
        `coxswain: ${removedMessage(error, args) ?? message.replace(/^error: |\.$/g, '')}; see ${help}`,
      );
    }
    return USAGE;
  }
  terminal.complain(`coxswain: ${message}`);
  return error instanceof CoxswainError && error.code === 'invalid-argument' ? USAGE : 1;
}

/** Handles a closed pipe and Ctrl-C, which are not errors. */
function handleExits(terminal: Terminal): void {
  process.stdout.on('error', (error) => {
    const isClosed = 'code' in error && error.code === 'EPIPE';
    if (!isClosed) terminal.complain(`coxswain: standard output: ${printableCut(error.message, 200)}`);
    process.exit(isClosed ? 0 : 1);
  });
  process.stderr.on('error', () => {});
  process.on('SIGINT', () => {
    if (terminal.interrupt()) return;
    terminal.status('');
    process.exit(130);
  });
}
