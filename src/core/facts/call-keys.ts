import { forEachChild, type SyntaxNode } from 'unbash';
import { readShell, hidingCommands } from '../base/shell-tree.ts';
import { hashNumber, hashText } from '../base/hash.ts';
import { withoutWorkTree } from '../base/work-tree.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { checkCommandsOf, commandLineOf } from './check-command.ts';
import { SETUP_PROGRAMS } from '../detect/calls/shell-program.ts';

/** What a lesson is about: the exact call, one command of a chain, or a name that the error and the call have in common. */
export type KeyKind = 'call' | 'command' | 'name';

export interface CallKey {
  readonly kind: KeyKind;
  /** Masked: quoted texts, addresses, digests and numbers that are no part of a name do not distinguish two keys. */
  readonly text: string;
}

const MAX_LINE = 4_000;
const MAX_COMMANDS = 12;
const MAX_NAMES = 40;
const KEY_CHARS = 200;
/** Arguments that carry content, which no two calls have in common. */
export const CONTENT: RegExp =
  /^(?:content|script|code|old_string|new_string|new_str|old_str|file_text|edits|todos|prompt|description|patch)$/;
const PATH =
  /^(?:[\w.@~+-]*\/)+[\w.@+-]+$|^[\w-]+\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|md|json|ya?ml|toml|sh|sql|css|html)$/;
/** A word that zsh replaces by the path of the program after its first character. */
const EXPANDED = /^==+$/;
const IMPORTED = /\bimport ([a-z_]\w*)|\bfrom ([a-z_]\w*) import\b/gi;
/** An interpreter or another machine that is given a text to run: two such lines have only the program in common. */
const CARRIES_CODE =
  /(?:^|[\s/])(?:python[\d.]*|node|bun|deno|ruby|perl|php|bash|sh|zsh|psql|sqlite3)\s[^|;&\n]*?(?:<<|(?<=\s)-{1,2}(?:c|e|p|eval)\b)|(?:^|\s)ssh\s[^|;&\n]*["']/;
const TAKES_NAME = /skill|command|agent|task/i;
const LETTERS = /^-[a-z]{2,}$/i;
const FLAG = /^--?[a-z][\w-]*/i;

interface SimpleCommand {
  readonly key: CallKey;
  readonly names: readonly string[];
  readonly text: string;
  /** True if exit code 0 of the call proves that it worked. */
  readonly isProved: boolean;
}

export interface CallKeys {
  readonly call: CallKey;
  readonly commands: readonly SimpleCommand[];
  readonly names: readonly string[];
}

export function keysOf(tool: string, args: Json): CallKeys {
  const line = commandLineOf(args);
  if (line === undefined) {
    const names = [
      tool,
      ...Object.values(isJsonObject(args) ? args : {}).flatMap((value) => nameIn(value, TAKES_NAME.test(tool))),
    ];
    return {
      call: { kind: 'call', text: `${tool} ${argsText(args)}`.trim() },
      commands: [],
      names: names.slice(0, MAX_NAMES),
    };
  }
  const commands = commandsIn(line);
  const names = new Set(commands.flatMap((command) => command.names));
  const whole = commands.find(({ text }) => text === line)?.key.text ?? lineText(line, line);
  return { call: { kind: 'call', text: whole }, commands, names: [...names].slice(0, MAX_NAMES) };
}

export function keyNumber({ kind, text }: CallKey): number {
  return hashNumber(`${kind} ${text}`);
}

/**
 * The call; the command of its line that the error names, or the only one; the names that the error and the call have
 * in common.
 */
export function failedKeysOf({ call, commands, names }: CallKeys, cause: string): readonly CallKey[] {
  // `cat: illegal option -- A` names the flag `-A`.
  const homed = withoutHome(cause).replace(/(?<=option -)- '?(?=\w\b)/, '');
  const named = names.filter((name) => isNamed(name, homed));
  const most = named.filter((name) => !named.some((longer) => longer !== name && longer.startsWith(`${name} `)));
  const failed = commands.filter((command) => command.names.some((name) => most.includes(name)));
  const one = failed.length > 0 ? failed : commands.length === 1 ? commands : [];
  const missing = commands.length === 0 && IS_MISSING.test(cause) ? names.slice(1) : [];
  return [
    call,
    ...one.map(({ key }) => key).filter(({ text }) => text !== ''),
    ...[...new Set([...most.filter((name) => !reports(name, homed)), ...missing])].map((text): CallKey => ({
      kind: 'name',
      text,
    })),
  ];
}

/** Not of a text that a file does not contain. */
export const IS_MISSING: RegExp =
  /^(?!.*\b(?:string|text|pattern|lines?)\b.* not found).*(?:does not exist|no such file|not found|ENOENT)/i;
export const IS_INVOCATION: RegExp =
  /command not found|: not found|no such file|unrecognized|unrecognised|unknown (?:option|command|argument|flag|skill|tool)|(?:un|not )supported|missing script|permission denied|ENOENT|is not installed|requires? .*version|not recognized|no such tool|(?:illegal|invalid) (?:option|flag|argument)|unexpected argument|usage:/i;

const IS_CONFLICT = /automatic merge failed|^CONFLICT|merge conflict/i;
/** Commands that exit with the result of checks elsewhere. */
const ASKS_CHECKS = /\bgh (?:pr checks|run (?:watch|view))\b/;

/** A script of the project that is named for the tests that it runs. */
const RUNS_TESTS = /(?:^|[\s/])(?:(?:run|watch)[_-]?tests?|tests?[_-]?runner)\.(?:[cm]?[jt]s|py|rb|sh)(?=\s|$)/i;

/** True if the failure is that of a test, a linter or a compiler: the work is not done yet, and no knowledge avoids it. */
export function isCheckFailure(args: Json, cause: string): boolean {
  if (IS_CONFLICT.test(cause) || ASKS_CHECKS.test(commandLineOf(args) ?? '')) return true;
  if (IS_INVOCATION.test(cause)) return false;
  return RUNS_TESTS.test(commandLineOf(args) ?? '') || checkCommandsOf(args).some(({ purpose }) => purpose !== 'task');
}

/** Lists or looks for files, so that "no such file" is its answer. */
const LOOKS = /^(?:cd \S+ && )?(?:ls|stat|find|file|du|wc|readlink|realpath)(?: [^|;&]*)?$/;
/** The host did not run a call whose arguments could not be read. */
const UNREAD_INPUT = /^__unparsed/;

/** Returns true for a failure that says nothing about the next call of the same kind. */
export function teachesNothing(args: Json, cause: string): boolean {
  if (isJsonObject(args) && Object.keys(args).some((name) => UNREAD_INPUT.test(name))) return true;
  return IS_MISSING.test(cause) && LOOKS.test((commandLineOf(args) ?? '').replace(/ 2>&1$/, '').trim());
}

export function hidesExitCode(line: string): boolean {
  return /\|\s*(?:tail|head|grep|tee|cat|sed|awk|sort|wc|jq|less|cut)\b|\|\|\s*(?:true|:|echo)|;\s*(?:echo|true)\b/.test(
    line,
  );
}

function isNamed(name: string, cause: string): boolean {
  // zsh names the program that it looked for, which is the word without its first character.
  const word = EXPANDED.test(name) ? name.slice(1) : name.slice(name.lastIndexOf(' ') + 1);
  // Some programs read `-name` as `-n -a -m -e`.
  return hasWord(cause, word) || (LETTERS.test(word) && hasWord(cause, word.slice(0, 2)));
}

function hasWord(cause: string, word: string): boolean {
  if (word.length < 2) return false;
  for (let at = cause.indexOf(word); at >= 0; at = cause.indexOf(word, at + 1)) {
    const [before, after] = [cause[at - 1] ?? ' ', cause[at + word.length] ?? ' '];
    if (!/[\w/=-]/.test(before) && !/[\w/=-]/.test(after)) return true;
  }
  return false;
}

/** Returns true for a program that only says what is wrong with something else: `rm: cannot remove 'a'`. */
function reports(name: string, cause: string): boolean {
  return cause.startsWith(`${name}: `) && !IS_INVOCATION_OF_NAME.test(cause.slice(name.length));
}

const IS_INVOCATION_OF_NAME = /^: (?:command )?not found|not recognized|version|not installed/i;

/** @param isAny  a plain word is a name too; else only a path */
function nameIn(value: Json, isAny: boolean): readonly string[] {
  const isName = isAny ? /^[\w:@./~+-]{2,}$/ : /^[\w:@./~+-]*[/.][\w:@./~+-]*$/;
  return typeof value === 'string' && value.length <= KEY_CHARS && value.length > 1 && isName.test(value)
    ? [withoutHome(value)]
    : [];
}

function argsText(args: Json): string {
  if (!isJsonObject(args)) return '';
  const parts = Object.entries(args).map(([name, value]) => {
    if (CONTENT.test(name)) return `${name}=${hashText(JSON.stringify(value))}`;
    if (typeof value === 'string') return `${name}=${masked(value)}`;
    return typeof value === 'number' ? `${name}=#` : `${name}=${masked(JSON.stringify(value))}`;
  });
  return parts
    .toSorted()
    .join(' ')
    .slice(0, 2 * KEY_CHARS);
}

function commandsIn(whole: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  const line = whole.slice(0, MAX_LINE);
  readShell(line, undefined, (tree) => {
    const proved = new Set<number>();
    if (whole.length <= MAX_LINE) addProved(tree, line, proved);
    visit(tree, line, commands, proved);
  });
  return commands.slice(0, MAX_COMMANDS);
}

function visit(node: SyntaxNode, line: string, commands: SimpleCommand[], proved: ReadonlySet<number>): void {
  if (node.type === 'Command') {
    const words = [node.name, ...node.suffix.filter((part) => part.type === 'Word')].flatMap(
      (word) => word?.value ?? [],
    );
    const [path = '', ...args] = words;
    const program = path.slice(path.lastIndexOf('/') + 1);
    const isSetup = SETUP_PROGRAMS.has(program) && program !== 'source' && program !== 'sudo';
    const text = isSetup ? '' : line.slice(node.pos, node.end);
    const names = isSetup ? args.filter((word) => EXPANDED.test(word)) : namesIn(path, args);
    const key: CallKey = { kind: 'command', text: lineText(text, line) };
    if (program !== '' && (text !== '' || names.length > 0))
      commands.push({ key, names, text, isProved: proved.has(node.pos) });
    return;
  }
  forEachChild(node, (child) => visit(child, line, commands, proved));
}

/**
 * Adds the positions of the simple commands that exit code 0 of the line proves to have worked. After a pipe, `;`, a
 * line end or `||` the exit code is that of another command; a loop or a condition may not run its commands at all.
 */
function addProved(node: SyntaxNode, line: string, found: Set<number>): void {
  switch (node.type) {
    case 'Command':
      found.add(node.pos);
      return;
    case 'Statement':
      if (node.background !== true) addProved(node.command, line, found);
      return;
    case 'Subshell':
    case 'BraceGroup':
      addProved(node.body, line, found);
      return;
    case 'Redirected':
      addProved(node.command, line, found);
      return;
    case 'Pipeline':
    case 'Script':
    case 'CompoundList':
    case 'AndOr':
      if (node.type === 'Pipeline' && node.prefixes.some(({ type }) => type === 'Negation')) return;
      for (const [index, command] of node.commands.entries())
        if (hidingCommands(node, index + 1, line).length === 0) addProved(command, line, found);
      return;
    default:
  }
}

function namesIn(path: string, args: readonly string[]): readonly string[] {
  const program = path.includes('/') ? withoutHome(path) : path;
  const [first = ''] = args;
  const subcommands = /^[a-z][\w:.-]*$/i.test(first) ? [`${program} ${first}`] : [];
  const flags = args
    .filter((word) => FLAG.test(word))
    .flatMap((word) => [program, ...subcommands].map((start) => `${start} ${word.replace(/=.*$/s, '')}`));
  const paths = args.filter((word) => word.length <= KEY_CHARS && PATH.test(word)).map(withoutHome);
  const imports = args
    .filter((word) => /\s/.test(word))
    .flatMap((word) =>
      [...word.slice(0, MAX_LINE).matchAll(IMPORTED)].map(([, name, from]) => `import ${name ?? from ?? ''}`),
    );
  return [program, ...imports, ...subcommands, ...flags, ...paths];
}

function withoutHome(text: string): string {
  return withoutWorkTree(text).replaceAll(/(?<![\w/.])(?:\/home|\/Users)\/[^/\s]+/g, '~');
}

/** @param whole  the line, which has the text of a here-document */
function lineText(text: string, whole: string): string {
  return CARRIES_CODE.test(text) ? `${masked(text)} ${hashText(whole)}` : masked(text);
}

function masked(text: string): string {
  const line = text
    .slice(0, MAX_LINE)
    .replaceAll(/(["'`])(?:(?!\1)[\s\S]){3,2000}\1/g, '$1…$1')
    .replaceAll(/https?:\/\/\S+/g, 'URL');
  // The search for an address reads a word again from each of its characters.
  return (line.includes('@') ? line.replaceAll(/[\w.+-]+@[\w-]+\.[\w.]+/g, 'ADDRESS') : line)
    .replaceAll(/(?:\/home|\/Users)\/[^/\s]+/g, '~')
    .replaceAll(/\b[\da-f]{7,40}\b/g, 'HASH')
    .replaceAll(/\b\d+\b/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 2 * KEY_CHARS)
    .toWellFormed();
}

const CAUSE_CHARS = 120;

/** Names, paths and numbers are shown as such: `PATH` alone would read like the variable of the shell. */
export function maskedCause(text: string): string {
  return text
    .replaceAll(/<\/?\w+>/g, '')
    .replaceAll(/[\u2500-\u257F]+/g, ' ')
    .replaceAll(/https?:\/\/[^\s'"`]+/g, '<url>')
    .replaceAll(/(["'`])(?:(?!\1).){3,200}\1/g, '$1…$1')
    .replaceAll(
      /(?<![\w.@~/-])(?!and\/or\b|Node\.js\b)(?:(?:[\w.@~-]*\/)+[\w.@-]+|[\w.@~-]{1,200}\.(?:[cm]?[jt]sx?|py|go|rs|java|md|json|ya?ml|toml|css|html|sh)\b)/g,
      '<path>',
    )
    .replaceAll(/\b[\da-f]{7,40}\b/g, '<hash>')
    .replaceAll(/\b\d+\b/g, '<n>')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, CAUSE_CHARS)
    .toWellFormed();
}
