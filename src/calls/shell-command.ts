import { type Command, forEachChild, parse, type Redirect, type SyntaxNode } from 'unbash';
import { RecentTexts } from '../base/recent-texts.ts';
import { kindOfProgram, SCENERY } from './shell-program.ts';
import type { ToolKind } from './tool-kind.ts';
import { patchedFile } from './patch-text.ts';

/** What a shell command line does, read from its syntax tree. */
export interface ShellCommand {
  /** The first program that is more than scene-setting (`cd`, `export`, `echo`), such as `grep`; empty if none. */
  readonly program: string;
  readonly kind: ToolKind;
  /** Files named by redirections and by programs that write; at most 8. */
  readonly writes: readonly string[];
  /** The last file that the first program which reads is given, where one is. */
  readonly reads?: string;
  /** It changes a file and then runs a program. */
  readonly editsAndRuns?: true;
  /** Programs hand on to each other what they print, so the exit code is that of the last one only. */
  readonly piped?: true;
  /** What the line leaves the one file in that it writes, where its text tells. */
  readonly state?: ShellState;
}

/** Longest command that is parsed; a longer one counts as executing something unknown. */
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

/** Longer lines are read anew: they seldom come again. */
const REMEMBERED_CHARS = 4_096;
/** Equal commands are common in the runs that matter. */
const known = new RecentTexts(512, readTree);

/**
 * Reads what a command line does with a real shell parser. Of several commands the most consequential one decides
 * the kind (a write before an execution before a read). An empty or comment-only line is a `note`.
 * Pure: what is remembered only saves work.
 *
 * Cost: a few microseconds for a new line of 100 characters, a comparison for one of the last 512.
 */
export function readShellCommand(line: string): ShellCommand {
  return line.length > REMEMBERED_CHARS ? readTree(line) : known.get(line);
}

interface Reading {
  program: string;
  kind: ToolKind;
  writes: string[];
  states: ShellState[];
  reads: string | undefined;
  /** A pause was seen, and nothing but pauses and looks. */
  waits: boolean;
  edits: boolean;
  editsAndRuns: boolean;
  piped: boolean;
  seen: boolean;
  movesOnly: boolean;
  /** Shells within shells that were opened. */
  depth: number;
}

function readTree(line: string): ShellCommand {
  if (line.length > MAX_COMMAND_CHARS) return { program: '', kind: 'execute', writes: [] };
  const reading: Reading = {
    program: '',
    kind: 'note',
    writes: [],
    states: [],
    reads: undefined,
    waits: false,
    edits: false,
    editsAndRuns: false,
    piped: false,
    seen: false,
    movesOnly: false,
    depth: 0,
  };
  try {
    visit(parse(line), reading);
  } catch {
    // The parser gives a partial tree for broken input; whatever it still refuses is a command nobody can read.
    return { program: '', kind: 'execute', writes: [] };
  }
  // A `cd` alone moves the shell; in front of another command it only says where that one runs.
  if (reading.movesOnly) return { program: 'cd', kind: 'write', writes: [] };
  // Who pauses and then looks asks whether something has changed.
  const kind = reading.waits && reading.kind === 'read' ? 'poll' : reading.kind;
  const [state] = reading.states;
  const writes = reading.writes.slice(0, 8);
  // Of several writes none tells the state of all.
  return {
    program: reading.program,
    kind,
    writes,
    ...(reading.reads === undefined ? {} : { reads: reading.reads }),
    ...(reading.editsAndRuns ? { editsAndRuns: true } : {}),
    ...(reading.piped ? { piped: true } : {}),
    ...(state === undefined || reading.states.length > 1 ? {} : { state }),
  };
}

const MOVERS = new Set(['cd', 'pushd', 'popd']);
/** What other shells call them. */
const MOVES: ReadonlyMap<string, string> = new Map([
  ['chdir', 'cd'],
  ['set-location', 'cd'],
]);

function visit(root: SyntaxNode, reading: Reading): void {
  const walk = (node: SyntaxNode): void => {
    if (node.type === 'Command') visitCommand(node, reading);
    if (node.type === 'Redirect') visitRedirect(node, reading);
    if (node.type === 'Pipeline' && node.commands.length > 1) reading.piped = true;
    forEachChild(node, walk);
  };
  walk(root);
}

function visitRedirect(node: Redirect, reading: Reading): void {
  if (!node.operator.includes('>')) return;
  const target = node.target?.value;
  if (target === undefined || target.startsWith('/dev/') || /^\d+$|^-$/.test(target)) return;
  raise(reading, 'write');
  reading.writes.push(target);
}

function visitCommand(node: Command, reading: Reading): void {
  const words = unwrap(wordsOf(node));
  const program = MOVES.get(words[0]?.toLowerCase() ?? '') ?? baseName(words[0] ?? '');
  if (program === '') return;
  const args = words.slice(1);
  const inner = SHELLS.has(program) ? args[args.findIndex((word) => /^-\w*c$/.test(word)) + 1] : undefined;
  if (inner !== undefined && reading.depth < MAX_NESTED_SHELLS && args[0] !== inner) {
    reading.depth += 1;
    visit(parse(inner), reading);
    return;
  }
  const kind = kindOfProgram(program, args);
  if (kind === 'wait') reading.waits = true;
  if (kind === 'read') reading.reads ??= args.findLast((word) => FILE.test(word));
  const state = stateWrittenBy(node, program, args);
  if (state !== undefined) reading.states.push(state);
  reading.movesOnly = MOVERS.has(program) && (!reading.seen || reading.movesOnly);
  if (kind === 'write' || state !== undefined) reading.edits = true;
  else if (kind === 'execute' && reading.edits) reading.editsAndRuns = true;
  if (
    (reading.program === '' || kindOfProgram(reading.program, []) === 'wait') &&
    (!SCENERY.has(program) || words.length === 1)
  )
    reading.program = program;
  raise(reading, kind);
  if (kind === 'write') reading.writes.push(...args.filter((word) => !word.startsWith('-')).slice(-2));
}

const FILE = /^[\w.~/-]*[/.]\w[\w./-]*$/;
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash']);
const MAX_NESTED_SHELLS = 3;

/** Programs that run the rest of the line, and words of theirs: `sudo -u root`, `env A=1`, `timeout 60`, `python -m`, `bundle exec`. */
const WRAPPED =
  /^(?:(?:(?:sudo|env|time|nohup|command|exec|nice|timeout|stdbuf) (?:-[ugCnksioe] \S+ |-\S+ |\w+=\S* |[\d.]+[smhd]? )*)+|(?:bundle|pnpm|npm) exec |(?:poetry|uv|pipenv|hatch) run |npx (?!-)|\S*python[\d.]* -m )+(?=\S)/;

/** The words from the program that is really run. */
function unwrap(words: readonly string[]): readonly string[] {
  const wrapped = WRAPPED.exec(words.map((word) => word.replaceAll(/\s/g, '_')).join(' '));
  return wrapped === null ? words : words.slice(wrapped[0].split(' ').length - 1);
}

function raise(reading: Reading, kind: ToolKind): void {
  if (!reading.seen || RANK[kind] > RANK[reading.kind]) reading.kind = kind;
  reading.seen = true;
}

function wordsOf(node: Command): readonly string[] {
  const words: string[] = [];
  if (node.name !== undefined) words.push(node.name.value);
  for (const part of node.suffix) if (part.type === 'Word') words.push(part.value);
  return words;
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** The state in which a command leaves a file, as far as its text tells. */
interface ShellState {
  readonly target: string;
  /** The whole content. */
  readonly content?: string;
  /** Or what is replaced by what. */
  readonly replaces?: { readonly before: string; readonly after: string };
}

const PRINTERS = new Set(['cat', 'tee', 'echo', 'printf']);
/** `s/before/after/g` with any mark that is no letter, digit or backslash. */
const SUBSTITUTION = /^s([^\w\s\\])((?:(?!\1).)*)\1((?:(?!\1).)*)\1[gimI]*$/s;

/**
 * The state of the file that a command writes: of a patch, of a here-document, `echo` or `printf` sent into it, or of a plain
 * substitution by `sed -i`. Undefined for whatever else, and for text that is added to a file.
 */
function stateWrittenBy(node: Command, program: string, args: readonly string[]): ShellState | undefined {
  if (program === 'sed') return substitutionOf(args);
  if (program === 'apply_patch') return patchedFile(args[0] ?? hereTextOf(node) ?? '');
  if (!PRINTERS.has(program)) return undefined;
  let target: string | undefined;
  let body: string | undefined;
  for (const redirect of node.redirects) {
    if (redirect.operator === '>>') return undefined;
    if (redirect.type === 'Redirect' && redirect.operator.startsWith('>')) target = redirect.target?.value;
    if (redirect.type === 'HereDoc') body = redirect.body?.text;
    if (redirect.type === 'HereString') body = redirect.target?.value;
  }
  if (program === 'tee' && !args.some((word) => word.startsWith('-'))) target ??= args[0];
  const content = program === 'cat' || program === 'tee' ? body : args.join(' ');
  return target === undefined || content === undefined ? undefined : { target, content };
}

function hereTextOf(node: Command): string | undefined {
  for (const redirect of node.redirects) if (redirect.type === 'HereDoc') return redirect.body?.text;
  return undefined;
}

function substitutionOf(args: readonly string[]): ShellState | undefined {
  if (!args.some((word) => /^-\w*i/.test(word))) return undefined;
  const words = args.filter((word) => !word.startsWith('-') && word !== '');
  const [expression = '', target] = words;
  const found = SUBSTITUTION.exec(expression);
  if (found === null || target === undefined || words.length !== 2) return undefined;
  const [, , before = '', after = ''] = found;
  return { target, replaces: { before: plainText(before.replace(/^\^|\$$/g, '')), after: plainText(after) } };
}

/** What an expression stands for where it is a text: without the marks that keep signs from meaning something. */
function plainText(expression: string): string {
  return expression.replace(/\\([^\w\s])/g, '$1');
}
