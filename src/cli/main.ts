import { CommanderError, Command } from 'commander';
import { CoxswainError, invalidArgument, messageOf } from '../core/base/error.ts';
import { printableCut } from '../core/base/printable.ts';
import { Terminal, type TerminalStreams } from './terminal/terminal.ts';
import { readFileSync } from 'node:fs';
import type { CommandDefinition, OptionDefinition } from './commands/command-definition.ts';
import { AGENT_COMMANDS } from './commands/agent-commands.ts';
import { STORE_COMMANDS } from './commands/store-commands.ts';

const USAGE = 2;

export const COMMANDS: readonly CommandDefinition[] = [...AGENT_COMMANDS, ...STORE_COMMANDS];

/** Exit code 0: success, 1: something could not be read, 2: wrong usage. Never throws: an error is one line. */
export async function main(): Promise<void> {
  const terminal = new Terminal(process);
  handleExits(terminal);
  process.exitCode = await runCommand(process.argv.slice(2), process, terminal);
}

/** Runs a command with its output to the streams; returns the exit code. */
export async function runCommand(
  args: readonly string[],
  { stdout, stderr }: TerminalStreams,
  terminal: Terminal = new Terminal({ stdout, stderr }),
): Promise<number> {
  let exitCode = 0;
  try {
    await runProgram(args, {
      terminal,
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      onExitCode: (code) => (exitCode = code),
    });
    return exitCode;
  } catch (error) {
    return reportError(error, args, terminal);
  }
}

function reportError(error: unknown, args: readonly string[], terminal: Terminal): number {
  const [command = ''] = args;
  const message = printableCut(messageOf(error).replaceAll('\n', ' '), 800);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // If a command only has subcommands, commander has already printed the help.
    if (error.code !== 'commander.help') {
      const isKnown = error.code !== 'commander.unknownCommand' && /^\w/.test(command);
      const help = isKnown ? `coxswain ${command} --help` : 'coxswain --help';
      terminal.complain(`coxswain: ${message.replace(/^error: |\.$/g, '')}; see ${help}`);
    }
    return USAGE;
  }
  terminal.complain(`coxswain: ${message}`);
  return error instanceof CoxswainError && error.code === 'invalid-argument' ? USAGE : 1;
}

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

interface ProgramSetup {
  readonly terminal: Terminal;
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
  readonly onExitCode: (code: number) => void;
}

const EXAMPLES = [
  'coxswain                               report on the agents of this machine in the last 12 hours',
  'coxswain 3                             open the third run of that report; coxswain 9ea477a8 a session by its id',
  'coxswain demo                          play a sample run that gets stuck, and record it',
  "coxswain analyze 'runs/**/*.jsonl'     report on each run, with totals",
  'coxswain analyze runs/ --json          print one line of JSON per run',
  'coxswain watch                         follow every running agent live',
  'coxswain runs                          list the recorded runs of your projects',
  'coxswain init claude-code              record and steer Claude Code sessions',
  "coxswain backtest 'runs/**/*.jsonl'    show what a steering would have said, and how often it is wrong",
];

/** Without a command: `coxswain report`, or for a run's number or id `show`. Throws commander's error instead of ending. */
async function runProgram(argv: readonly string[], setup: ProgramSetup): Promise<void> {
  const { writeOut, writeErr } = setup;
  const args = expandedArgs(argv);
  const program = new Command('coxswain')
    .description('Records what unattended AI agents do, detects when they get stuck, and advises them.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut, writeErr, outputError: () => {} })
    .addHelpText(
      'after',
      `${examplesText(EXAMPLES)}\nExit codes: 0 success, 1 something could not be read or is damaged, 2 wrong usage.\n`,
    );
  const [first = ''] = args;
  const named = COMMANDS.filter(({ name }) => name === first);
  const definitions = first === '--version' || named.length > 0 ? named : COMMANDS;
  for (const definition of definitions) addCommand(program, definition, setup);
  await program.parseAsync(args, { from: 'user' });
}

const NUMBER = /^\d{1,4}$/;
/** The start of the id of a session. No command looks like it. */
const ID_START = /^(?=.*\d)[\da-f]{4,}(?:-[\da-f-]*)?$/;

function expandedArgs(argv: readonly string[]): readonly string[] {
  const [first] = argv;
  if (first === undefined) return ['report'];
  if (NUMBER.test(first)) {
    const numbers = argv.filter((word) => NUMBER.test(word));
    if (numbers.length > 1 && argv[1] === numbers[1])
      throw invalidArgument(`a number opens one run of the last report: coxswain ${numbers.join(', or coxswain ')}`);
    return ['show', ...argv];
  }
  if (ID_START.test(first)) return ['show', ...argv];
  return first.startsWith('-') && !/^(?:-V|--version|-h|--help)$/.test(first) ? ['report', ...argv] : argv;
}

function addCommand(parent: Command, definition: CommandDefinition, setup: ProgramSetup): void {
  const { name, summary, description = summary, examples, load, commands = [] } = definition;
  const command = parent
    .command(name)
    .summary(summary)
    .description(description)
    .helpCommand(false)
    .addHelpText('after', examplesText(examples));
  for (const [argument, text] of Object.entries(definition.arguments ?? {})) command.argument(argument, text);
  for (const [flags, option] of Object.entries(definition.options ?? {})) addOption(command, flags, option);
  for (const inner of commands) addCommand(command, inner, setup);
  if (load === undefined) return;
  command.action(async (...values: unknown[]) => {
    // Commander passes the arguments and options of the definition, then its command object.
    const run = (await load()) as (...parameters: unknown[]) => Promise<number | void>;
    const code = await run(...values.slice(0, -1), setup.terminal);
    if (code !== undefined) setup.onExitCode(code);
  });
}

function addOption(command: Command, flags: string, option: OptionDefinition): void {
  const { text, isRepeatable = false } = typeof option === 'string' ? { text: option } : option;
  if (isRepeatable) {
    command.option(flags, text, (value: string, values: readonly string[] | undefined) => [...(values ?? []), value]);
  } else {
    command.option(flags, text);
  }
}

function examplesText(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  // This file belongs to the package, so its format is known.
  return (JSON.parse(text) as { readonly version: string }).version;
}
