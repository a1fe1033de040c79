import { type Command, forEachChild, type Redirect, type SyntaxNode } from 'unbash';
import { readShell, shellTree } from '../../base/shell-tree.ts';
import { present } from '../../base/json.ts';
import { RecentTexts } from '../../base/recent-texts.ts';
import { answerCodes, exitingCommands, type Exiting } from './shell-answer.ts';
import { patchedFile } from './patch-text.ts';
import { isMultiPurpose, kindOfProgram, PROJECT_SCRIPT, SETUP_PROGRAMS } from './shell-program.ts';
import type { ToolKind } from './tool-kind.ts';

export interface ShellCommand {
  /** It does more than prepare another program (unlike `cd`, `export`, `echo`); or an empty string. */
  readonly program: string;
  readonly kind: ToolKind;
  /** Files that are the targets of redirections or of programs that write; at most 8. */
  readonly writes: readonly string[];
  readonly reads?: string;
  /** True if the line changes a file and then runs a program. */
  readonly editsAndRuns?: true;
  /** True if the exit code is only that of the last program of a pipeline. */
  readonly piped?: true;
  /** The new content of the file that the line writes. Present only if the line writes one file and contains its content. */
  readonly state?: ShellState;
}

interface ShellState {
  readonly target: string;
  readonly content?: string;
  readonly replaces?: { readonly before: string; readonly after: string };
}

const MAX_COMMAND_CHARS = 20_000;
const RANK: Readonly<Record<ToolKind, number>> = {
  note: 0,
  wait: 1,
  read: 2,
  poll: 3,
  ui: 3,
  unknown: 4,
  execute: 4,
  write: 5,
};

/** Lines with more characters rarely repeat. */
const REMEMBERED_CHARS = 4_096;
const recent = new RecentTexts(512, parseCommand);

/** The greatest effect decides the kind: write, execution, read. Empty or only a comment: `note`. 512 lines are cached. */
export function readShellCommand(line: string): ShellCommand {
  return line.length > REMEMBERED_CHARS ? parseCommand(line) : recent.get(line);
}

const START = {
  program: '',
  waits: false,
  edits: false,
  editsAndRuns: false,
  piped: false,
  isEmpty: true,
  /** True if the line only contains `cd`. */
  movesOnly: false,
};

type Reading = typeof START & { kind: ToolKind; writes: string[]; states: ShellState[]; reads: string | undefined };

function parseCommand(line: string): ShellCommand {
  const fallback: ShellCommand = { program: '', kind: 'execute', writes: [] };
  if (line.length > MAX_COMMAND_CHARS) return fallback;
  const reading: Reading = { ...START, kind: 'note', writes: [], states: [], reads: undefined };
  const isRead = readShell(line, false, (tree) => {
    visit(tree, reading);
    return true;
  });
  if (!isRead) return fallback;
  // `cd` alone changes the state of the shell. Before another command it only sets the working folder of that command.
  if (reading.movesOnly) return { program: 'cd', kind: 'write', writes: [] };
  return {
    program: reading.program,
    // A read after a pause polls for a status.
    kind: reading.waits && reading.kind === 'read' ? 'poll' : reading.kind,
    writes: reading.writes.slice(0, 8),
    ...present({ reads: reading.reads, state: reading.states.length === 1 ? reading.states[0] : undefined }),
    ...(reading.editsAndRuns ? { editsAndRuns: true } : {}),
    ...(reading.piped ? { piped: true } : {}),
  };
}

/** Such as 1 of `grep`. None if another command may have failed with such a code. */
export function answerCodesOf(line: string): readonly number[] {
  if (line.length > MAX_COMMAND_CHARS || line.includes('pipefail')) return [];
  return readShell(line, [], (tree) => codesOf(exitingCommands(tree)));
}

function codesOf(exiting: readonly Exiting[]): readonly number[] {
  const codes = new Set<number>();
  for (const command of exiting) {
    const own = command === 'condition' ? [1] : command === 'unknown' ? [] : commandCodes(command);
    const [name = '', ...args] = typeof command === 'string' ? [] : wordsOf(command);
    const isRead = typeof command !== 'string' && kindOfProgram(name, args) === 'read';
    if (own.length === 0 && !isRead) return [];
    for (const code of own) codes.add(code);
  }
  return [...codes];
}

function commandCodes(command: Command): readonly number[] {
  const words = commandWords(command);
  const innerLine = shellLineOf(words);
  return innerLine === undefined ? answerCodes(words) : answerCodesOf(innerLine);
}

const SHELL = /^(?:\S*[\\/])?(?:(?:ba|z|da)?sh|powershell|pwsh|cmd)(?:\.exe)?$/i;
const SHELL_LINE_NEXT = /^[-/](?:\w*c|command)$/i;

/** Returns the line that a shell is called with, as in `bash -lc LINE`. */
export function shellLineOf([program = '', ...args]: readonly string[]): string | undefined {
  const at = SHELL.test(program) ? args.findIndex((word) => SHELL_LINE_NEXT.test(word)) : -1;
  return at === -1 ? undefined : args[at + 1];
}

function visit(node: SyntaxNode, reading: Reading): void {
  if (node.type === 'Command') visitCommand(node, reading);
  if (node.type === 'Redirect') visitRedirect(node, reading);
  if (node.type === 'Pipeline' && node.commands.length > 1) reading.piped = true;
  forEachChild(node, (child) => visit(child, reading));
}

function visitRedirect(node: Redirect, reading: Reading): void {
  // `2>&1` repeats a stream.
  if (!node.operator.includes('>') || node.operator === '>&') return;
  const target = node.target?.value;
  if (target === undefined || target.startsWith('/dev/')) return;
  raiseKind(reading, 'write');
  reading.writes.push(target);
}

const FILE = /^[\w.~/-]*[/.]\w[\w./-]*$/;

/** The words of a command, without programs that run the rest, such as `sudo` and `env A=1`. */
export function commandWords(node: Command): readonly string[] {
  const words = wordsOf(node);
  const wrappers = WRAPPERS.exec(words.map((word) => word.replaceAll(/\s/g, '_')).join(' '));
  return wrappers === null ? words : words.slice(wrappers[0].split(' ').length - 1);
}

function visitCommand(node: Command, reading: Reading): void {
  const words = commandWords(node);
  const innerLine = shellLineOf(words);
  if (innerLine !== undefined) {
    visit(shellTree(innerLine), reading);
    return;
  }
  const [name = '', ...args] = words;
  const program = name.slice(name.lastIndexOf('/') + 1);
  if (program === '') return;
  const programKind = kindOfProgram(program, args);
  const kind = programKind === 'read' && PROJECT_SCRIPT.test(name) ? 'execute' : programKind;
  if (kind === 'wait') reading.waits = true;
  if (kind === 'read') reading.reads ??= args.findLast((word) => FILE.test(word));
  const state = writtenState(node, program, args);
  if (state !== undefined) reading.states.push(state);
  reading.movesOnly = program === 'cd' && (reading.isEmpty || reading.movesOnly);
  if (kind === 'write' || state !== undefined) reading.edits = true;
  else if (kind === 'execute' && reading.edits) reading.editsAndRuns = true;
  const isFirst = reading.program === '' || kindOfProgram(reading.program, []) === 'wait';
  if (isFirst && (!SETUP_PROGRAMS.has(program) || args.length === 0)) reading.program = program;
  raiseKind(reading, kind);
  if (kind === 'write') reading.writes.push(...findWrittenFiles(program, args));
}

/** Programs that write other things than the files among their arguments: processes, folders. */
const NO_FILES = /^(?:p?kill|mkdir|rmdir|apply_patch)$/;
/** Programs whose last argument is the written file. The arguments before it are sources, modes or expressions. */
const LAST_ONLY = /^(?:cp|ln|chmod|chown|install|rsync|scp|sed|perl)$/;

/** Returns the files among the arguments of a program that writes; at most 2. */
function findWrittenFiles(program: string, args: readonly string[]): readonly string[] {
  if (NO_FILES.test(program)) return [];
  const words = args.filter((word) => !word.startsWith('-') && !word.startsWith('$'));
  if (!isMultiPurpose(program)) return words.slice(LAST_ONLY.test(program) ? -1 : -2);
  if (program !== 'git') return [];
  const [subcommand = '', ...names] = words;
  if (subcommand === 'rm' || subcommand === 'mv') return names.slice(-2);
  const isRestore = args.includes('--') && (subcommand === 'checkout' || subcommand === 'restore');
  return isRestore ? args.slice(args.indexOf('--') + 1).slice(-2) : [];
}

/** Programs that run the rest of the line, such as `sudo -u root`, `env A=1`, `timeout 60`, `npx`, `python -m`. */
const WRAPPERS =
  /^(?:(?:sudo|env|time|nohup|command(?! -[vV])|exec|timeout)(?: -[ugnk] \S+| -\S+| \w+=\S*| [\d.]+[smhd]?)* |npx (?!-)|(?:uv|poetry) run |\S*python[\d.]* -m )+(?=\S)/;

function raiseKind(reading: Reading, kind: ToolKind): void {
  if (reading.isEmpty || RANK[kind] > RANK[reading.kind]) reading.kind = kind;
  reading.isEmpty = false;
}

function wordsOf(node: Command): readonly string[] {
  const words: string[] = [];
  if (node.name !== undefined) words.push(node.name.value);
  for (const part of node.suffix) if (part.type === 'Word') words.push(part.value);
  return words;
}

const PRINTERS = new Set(['cat', 'tee', 'echo', 'printf']);
/** By a patch, a here-document, or `echo` or `printf` with a redirection. Undefined for appended text. */
function writtenState(node: Command, program: string, args: readonly string[]): ShellState | undefined {
  if (!PRINTERS.has(program) && program !== 'apply_patch') return undefined;
  let target: string | undefined;
  let hereText: string | undefined;
  for (const redirect of node.redirects) {
    if (redirect.operator === '>>') return undefined;
    if (redirect.type === 'Redirect' && redirect.operator.startsWith('>')) target = redirect.target?.value;
    if (redirect.type === 'HereDoc') hereText = redirect.body?.text;
    if (redirect.type === 'HereString') hereText = redirect.target?.value;
  }
  if (program === 'apply_patch') return patchedFile(args[0] ?? hereText ?? '');
  if (program === 'tee' && !args.some((word) => word.startsWith('-'))) target ??= args[0];
  const content = program === 'cat' || program === 'tee' ? hereText : args.join(' ');
  return target === undefined || content === undefined ? undefined : { target, content };
}
