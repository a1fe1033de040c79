import { forEachChild, type SyntaxNode } from 'unbash';
import { commandWords } from '../detect/calls/shell-command.ts';
import { leadingFolder } from './last-act.ts';
import { readShell } from '../base/shell-tree.ts';

const MAX_SCRIPT_CHARS = 20_000;

/** What a command does to files: `created` ones may have been there, `moved` and `copied` have the old name and the new one, `stashedAll` includes files that git does not have, `.` stands for all files. */
export interface ShellChange {
  readonly kind:
    | 'created'
    | 'written'
    | 'removed'
    | 'untracked'
    | 'moved'
    | 'copied'
    | 'restored'
    | 'stashed'
    | 'stashedAll'
    | 'unstashed'
    | 'dropped'
    | 'cleaned';
  readonly files: readonly string[];
}

/** Words of which one is in every command that this module reads. Only such a command is parsed. */
const HINT = /\b(?:sed|perl|mv|cp|rm|touch|tee|restore|checkout|reset|stash|clean)\b|>\s*(?!\/dev\/)[^&\s>]/;
/** A device, and another descriptor. */
const NO_TARGET = /^(?:\/dev\/.*|\d+|-)$/;
const MAX_CHARS = 20_000;
const EVERYTHING = ['.'];
const NAMES_FILE = /\.[A-Za-z]\w*$/;

/** Returns the changes of a command line, in order. Words that are no names of files are among them. */
export function shellChangesOf(line: string): readonly ShellChange[] {
  return line.length > MAX_CHARS || !HINT.test(line) ? [] : readShell(line, [], changesUnder);
}

/** How shells and plain programs say that they failed. */
const COMPLAINS =
  /(?:^|: )(?:\S*sh|\(eval\)|cd|zoxide|cat|cp|mv|rm|tee|mkdir|touch|sed|perl|chmod|printf|echo|Can't open)\b[^\n]{0,60}?:|\bTraceback\b|^\s*File "<(?:stdin|string)>"/m;
const PLAIN = /^(?:cd|cat|cp|mv|rm|tee|mkdir|touch|sed|perl|chmod|printf|echo|export|pwd|true)$/;
const ENDS_SCRIPT = /^(?:exit|return|exec)$/;

/**
 * Returns the changes that a line made for certain although it failed: those of plain commands that nothing else could keep from running,
 * and of which none complains in the result.
 */
export function certainChangesOf(line: string, result: string): readonly ShellChange[] {
  if (line.length > MAX_CHARS || !HINT.test(line) || COMPLAINS.test(result)) return [];
  return readShell(line, [], ({ commands }) => {
    const found: ShellChange[] = [];
    for (const { command } of commands) {
      const parts = command.type === 'AndOr' ? command.commands : [command];
      const or = command.type === 'AndOr' ? command.operators.indexOf('||') : -1;
      const other = parts.findIndex((part) => !isPlain(part));
      const ends = [other, or === -1 ? -1 : or + 1].filter((at) => at !== -1);
      found.push(...parts.slice(0, Math.min(parts.length, ...ends)).flatMap(changesUnder));
      if (other !== -1 && (/\bset -\w*e/.test(line) || isEnd(parts))) break;
    }
    return found;
  });
}

function isPlain(node: SyntaxNode): boolean {
  if (node.type === 'Pipeline') return node.commands.every(isPlain);
  if (node.type !== 'Command') return false;
  const hidesErrors = node.redirects.some(
    ({ operator, descriptor }) => operator.includes('&') || descriptor !== undefined,
  );
  return !hidesErrors && PLAIN.test(node.name?.value ?? '');
}

function isEnd(parts: readonly SyntaxNode[]): boolean {
  return parts.some((part) => part.type !== 'Command' || ENDS_SCRIPT.test(part.name?.value ?? ''));
}

/** Returns the number of `git commit` commands in a line; at least 1. */
export function commitCommands(line: string): number {
  const count = (node: SyntaxNode): number => {
    const [program, ...args] = node.type === 'Command' ? commandWords(node) : [];
    let below = program === 'git' && verbOf(args).verb === 'commit' ? 1 : 0;
    forEachChild(node, (child) => {
      below += count(child);
    });
    return below;
  };
  return line.length > MAX_CHARS ? 1 : Math.max(1, readShell(line, 1, count));
}

function changesUnder(node: SyntaxNode): readonly ShellChange[] {
  const below: ShellChange[] = node.type === 'Command' ? [...changesOf(commandWords(node))] : [];
  const target = node.type === 'Redirect' && node.operator.includes('>') ? node.target?.value : undefined;
  if (target !== undefined && !NO_TARGET.test(target)) below.push({ kind: 'created', files: [target] });
  forEachChild(node, (child) => {
    below.push(...changesUnder(child));
  });
  return below;
}

function changesOf([path = '', ...args]: readonly string[]): readonly ShellChange[] {
  const program = path.slice(path.lastIndexOf('/') + 1);
  const names = args.filter((word) => !word.startsWith('-'));
  switch (program) {
    case 'sed':
    case 'perl': {
      if (!args.some((word) => /^-\w*i|^--in-place/.test(word))) return [];
      // An empty word is the suffix of BSD's `-i ''`. Without `-e`, the first other word is the script.
      const rest = args.filter((word, index) => word !== '' && !word.startsWith('-') && !isScript(args[index - 1]));
      return [{ kind: 'written', files: args.some((word) => isScript(word)) ? rest : rest.slice(1) }];
    }
    case 'touch':
    case 'tee':
      return [{ kind: 'created', files: names }];
    case 'rm':
      return [{ kind: 'removed', files: names }];
    case 'cp':
      // A folder that is copied is no file.
      return args.some((word) => /^-\w*[rR]|^--recursive$/.test(word))
        ? [{ kind: 'untracked', files: names }]
        : placed(false, names);
    case 'mv':
      return placed(true, names);
    case 'git':
      return changesByGit(args);
    default:
      return [];
  }
}

/** `-pe` of perl and `-e` of sed are before a script. */
function isScript(word = ''): boolean {
  return /^-\w*e$|^--expression$/.test(word);
}

/** Files that are moved or copied to a file, or into a folder. */
function placed(isMove: boolean, names: readonly string[]): readonly ShellChange[] {
  const place = names.at(-1) ?? '';
  return names.slice(0, -1).map((name): ShellChange => {
    const base = name.slice(name.lastIndexOf('/') + 1);
    const isNamed = /\.\w+$/.test(place) || base.startsWith(`${place.slice(place.lastIndexOf('/') + 1)}.`);
    const isFolder = names.length > 2 || place.endsWith('/') || (base.includes('.') && !isNamed);
    const to = isFolder ? `${place.replace(/\/$/, '')}/${base}` : place;
    return { kind: isMove ? 'moved' : 'copied', files: [name, to] };
  });
}

function verbOf(args: readonly string[]): { readonly verb: string; readonly rest: readonly string[] } {
  const at = args.findIndex((word, index) => !word.startsWith('-') && !/^-[Cc]$/.test(args[index - 1] ?? ''));
  return { verb: args[at] ?? '', rest: args.slice(at + 1) };
}

function changesByGit(args: readonly string[]): readonly ShellChange[] {
  const { rest, verb } = verbOf(args);
  const names = rest.filter((word) => !word.startsWith('-'));
  const separator = rest.indexOf('--');
  const after = separator === -1 ? names : rest.slice(separator + 1);
  switch (verb) {
    case 'rm':
      return [{ kind: rest.includes('--cached') ? 'untracked' : 'removed', files: names }];
    case 'mv':
      return placed(true, names);
    case 'restore':
      return rest.some((word) => /^(?:--staged|-S)$/.test(word)) && !rest.includes('--worktree')
        ? []
        : takenFrom(/(?:^| )(?:--source|-s)[= ]?(\S+)/.exec(rest.join(' '))?.[1], after);
    case 'checkout':
      return changesOfCheckout(rest, names, separator === -1 ? undefined : after);
    case 'reset':
      return rest.includes('--hard') ? [{ kind: 'restored', files: EVERYTHING }] : [];
    case 'clean':
      return rest.some((word) => /^-\w*f/.test(word)) ? [{ kind: 'cleaned', files: EVERYTHING }] : [];
    case 'stash':
      return changesOfStash(names[0] ?? 'push', rest, separator === -1 ? EVERYTHING : after);
    default:
      return [];
  }
}

/** Without `--`, the words that look like files are files, and one before them is a commit. */
function changesOfCheckout(
  rest: readonly string[],
  names: readonly string[],
  after: readonly string[] | undefined,
): readonly ShellChange[] {
  if (rest.some((word) => /^--(?:ours|theirs|merge)$/.test(word))) return [];
  if (after !== undefined) return takenFrom(names.length > after.length ? names[0] : undefined, after);
  const first = names.findIndex((name) => name === '.' || NAMES_FILE.test(name));
  return first === 0 || (first === 1 && !rest.some((word) => /^-[bB]$|^--orphan$/.test(word)))
    ? takenFrom(first === 0 ? undefined : names[0], names.slice(first))
    : [];
}

/** Files of the last commit are put back, those of another one are written. */
function takenFrom(commit: string | undefined, files: readonly string[]): readonly ShellChange[] {
  return [{ kind: commit === undefined || /^(?:HEAD|@)$/.test(commit) ? 'restored' : 'written', files }];
}

function changesOfStash(verb: string, rest: readonly string[], files: readonly string[]): readonly ShellChange[] {
  if (verb === 'pop' || verb === 'apply') return [{ kind: 'unstashed', files: EVERYTHING }];
  if (verb === 'drop' || verb === 'clear') return [{ kind: 'dropped', files: EVERYTHING }];
  if (verb !== 'push' && verb !== 'save') return [];
  const isAll = rest.some((word) => /^-\w*[ua]|^--(?:include-untracked|all)/.test(word));
  return [{ kind: isAll ? 'stashedAll' : 'stashed', files }];
}

/** A file that a script in a command line opens to write: by its name, or by a variable that holds the name. */
const OPENED =
  /\bopen\(\s*(?:(["'])([^"'\n]+)\1|(\w+))\s*,\s*["'][wax]b?\+?["']|\b(?:writeFile|appendFile)(?:Sync)?\(\s*["'`]([^"'`\n]+)["'`]|\bPath\(\s*["']([^"'\n]+)["']\)\.write_/g;
/** The same of PowerShell. */
const SET =
  /\b(?:(?:Set|Add)-Content|Out-File)(?:\s+-(?:Encoding\s+\w+|NoNewline|Force|Append))*\s+(?:-(?:Literal|File)?Path\s+)?(?:(["'])([^"'\n]+)\1|\$(\w+)|([^-\s"'$;|&)][^\s"';|&)]*))/g;

/** What a here-document and a here-string contain, unless a shell runs it. */
const DOCUMENT =
  /(?<!\b(?:ba|z)?sh\b[^\n;&|]*)(<<-?\s*(['"]?)(\w+)\2[^\n]*)\n[^]*?\n\s*\3(?=\s|$)|@(['"])\r?\n[^]*?\n\4@/g;

export function withoutDocuments(line: string): string {
  return line.replaceAll(DOCUMENT, (_whole, opening = '', _quote, end = '') =>
    opening === '' ? "''" : `${opening}\n${end}`,
  );
}

/** The path of a file that a command line names after it has entered a folder: `cd /w/app && touch a.ts`. */
export function placeOf(command: string, file: string): string {
  const folder = leadingFolder({ command }) ?? '';
  const isWhole = !/^(?:\/|[A-Za-z]:)[^$]*$/.test(folder) || /^(?:[/~$]|[A-Za-z]:[\\/])/.test(file);
  return isWhole ? file : `${folder.replace(/\/$/, '')}/${file.replace(/^\.\//, '')}`;
}

export function filesWrittenIn(command: string): readonly string[] {
  const script = command.slice(0, MAX_SCRIPT_CHARS);
  return [...script.matchAll(OPENED), ...script.matchAll(SET)].flatMap(([whole, , named, variable, ...others]) => {
    const value = variable && new RegExp(`\\b${variable}\\s*=\\s*r?["']([^"'\\n]+)["']`).exec(command)?.[1];
    const file = named ?? value ?? others.find((other) => other !== undefined);
    if (file === undefined) return [];
    return whole.startsWith('open') || file.includes('/') ? file : file.replaceAll('\\', '/');
  });
}
