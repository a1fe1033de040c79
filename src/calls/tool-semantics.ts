import type { Mutable } from '../base/mutable.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { LruMap } from '../base/lru-map.ts';
import {
  asksForPage,
  databaseChange,
  isRemark,
  isShellLine,
  kindOfArguments,
  namesThing,
  opensWithProgram,
  stringAt,
  argumentText,
  writtenState,
  type Arguments,
} from './argument-shape.ts';
import { patchedFile } from './patch-text.ts';
import { readShellCommand } from './shell-command.ts';
import type { ToolKind } from './tool-kind.ts';

/** What an MCP server says of a tool. Hints, as the protocol calls them: what is absent says nothing here. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
}

/** What a host declares of a tool, by an adapter or in the configuration. Declared beats guessed. */
export interface ToolDeclaration {
  readonly kind?: ToolKind;
  /**
   * Arguments that say what a call is about, as names or paths (`filter.id`): calls equal in these count as equal,
   * whatever a comment, a cursor or a request id beside them says. Default: all arguments.
   */
  readonly loopKey?: readonly string[];
  /**
   * Fields of a JSON answer that show progress, as names or paths: answers equal in these count as equal, whatever else
   * they say. Default: the whole answer, masked.
   */
  readonly progressKey?: readonly string[];
  /** What the tool's MCP server says; `kind` beats it. */
  readonly annotations?: ToolAnnotations;
}

/** Declarations by tool name. */
export type ToolDeclarations = Readonly<Record<string, ToolDeclaration>>;

/** What is known of a call before its result. */
export interface CallSemantics {
  readonly kind: ToolKind;
  /** The tool, or for a shell call the program it runs: what `repeated tool` should speak of. */
  readonly program: string;
  /** The file or page the call is about, where an argument names one. */
  readonly target?: string;
  /** For a write of a whole content: that content. */
  readonly content?: string;
  /** For a replacement: the text before and after. */
  readonly replaces?: { readonly before: string; readonly after: string };
  /** A text is the only argument. */
  readonly remark?: boolean;
  /** It asks about a thing by its name: `{domain: 'larkspur.com'}`. */
  readonly names?: boolean;
  /** It asks for a further page of something. */
  readonly pages?: boolean;
  /** True for a shell call. */
  readonly shell: boolean;
  /** A shell call that changes a file and then runs a program. */
  readonly editsAndRuns?: true;
  /** A shell call whose exit code is that of its last program only. */
  readonly piped?: true;
}

/** Names of shells, alone or behind a sign. */
const SHELL_NAME =
  /(?:^|[_.:-])(?:bash|shell|sh|exec|terminal|run|cmd|powershell|run_command|execute_command|exec_command|run_terminal_cmd|ipython_run_cell)$/i;
const COMMAND_KEYS = ['command', 'cmd', 'script', 'input', 'commands', 'argv'] as const;
const PATH_KEYS = [
  'path',
  'file_path',
  'filePath',
  'filename',
  'file',
  'notebook_path',
  'target_file',
  'uri',
  'url',
  'dir',
  'directory',
];
const PATCH_KEYS = ['patch', 'diff', 'input', 'patch_text', 'patchText'];
const FOLDER_KEYS = ['cwd', 'workdir', 'working_dir', 'working_directory'];
/** `old_string`, `oldText`, `search`; and what takes its place. */
const BEFORE = /^(?:old(?:_?(?:str|string|text|value|code))?|search(?:_text)?|find)$/i;
const AFTER = /^(?:new(?:_?(?:str|string|text|value|code))?|replace(?:ment|_with)?|with)$/i;

/** Words of a tool's name, in the order in which they decide. */
const NAME_KINDS: readonly (readonly [ToolKind, ReadonlySet<string>])[] = [
  ['note', words('think thought thinking todo todos scratchpad')],
  ['wait', words('wait sleep pause')],
  [
    'ui',
    words(
      `click tap key keypress press type scroll swipe drag hover screenshot mouse cursor move navigate
       step tick advance jog rotate`,
    ),
  ],
  [
    'write',
    words(
      `write edit create delete remove update apply insert append patch set put post send rename copy upload save
       replace commit push deploy install add cancel book modify transfer submit undo redo revert restore toggle
       buy pay charge reserve assign enroll grant revoke approve`,
    ),
  ],
  ['poll', words('poll status output progress monitor stdin task tasks process')],
  [
    'read',
    words(
      `read get list ls search find grep glob view open cat show fetch query lookup describe inspect browse look head
       tail stat retrieve calculate job jobs sql`,
    ),
  ],
  ['execute', words('run execute exec python bash shell test build compile ipython jupyter eval code')],
];

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/**
 * What a call is, from declarations first, then from a shell command's syntax tree, the shape of its arguments
 * and the words of its name. A tool that nothing tells about is `unknown`.
 */
export function readCall(tool: string, args: Json, declarations: ToolDeclarations = {}): CallSemantics {
  const object = isJsonObject(args) ? args : {};
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const declared = declaration?.kind;
  const command = commandOf(tool, args, object);
  if (command !== undefined) return shellSemantics(tool, command, declared);
  const path = stringAt(object, PATH_KEYS);
  const before = stringNamed(object, BEFORE);
  const after = before === undefined ? undefined : stringNamed(object, AFTER);
  const given = stringAt(object, PATCH_KEYS);
  const patch = given === undefined ? undefined : patchedFile(given);
  const change = databaseChange(object);
  const isTold = change !== undefined || after !== undefined || patch !== undefined;
  const written = isTold ? undefined : writtenState(tool, object, path);
  const target = patch?.target ?? written?.target ?? path ?? change ?? stringAt(object, FOLDER_KEYS);
  const writes =
    change !== undefined ||
    patch !== undefined ||
    after !== undefined ||
    (path !== undefined && argumentText(object) !== undefined);
  const semantics: Mutable<CallSemantics> = {
    kind: declared ?? annotated(kindOf(tool, object, writes), declaration?.annotations),
    program: tool,
    shell: false,
  };
  if (target !== undefined) semantics.target = target;
  if (written !== undefined) semantics.content = written.content;
  if (patch !== undefined) semantics.replaces = patch.replaces;
  else if (before !== undefined && after !== undefined) semantics.replaces = { before, after };
  if (isRemark(object)) semantics.remark = true;
  if (namesThing(object)) semantics.names = true;
  if (asksForPage(object)) semantics.pages = true;
  return semantics;
}

/** The kind with what annotations add: they tell reading from changing, and leave what is finer than that. */
function annotated(guessed: ToolKind, annotations: ToolAnnotations | undefined): ToolKind {
  if (annotations?.readOnlyHint === true) {
    return guessed === 'write' || guessed === 'execute' || guessed === 'unknown' ? 'read' : guessed;
  }
  const changes = annotations?.readOnlyHint === false || annotations?.destructiveHint === true;
  return changes && (guessed === 'read' || guessed === 'unknown') ? 'write' : guessed;
}

function shellSemantics(tool: string, command: string, declared: ToolKind | undefined): CallSemantics {
  const read = readShellCommand(command);
  // An empty line sent to a terminal asks whether the running command has said more.
  const kind = command.trim() === '' ? 'poll' : read.kind;
  const target = read.state?.target ?? read.writes[0] ?? read.reads;
  const semantics: Mutable<CallSemantics> = {
    kind: declared ?? kind,
    program: read.program === '' ? tool : read.program,
    shell: true,
  };
  if (target !== undefined) semantics.target = target;
  if (read.state?.content !== undefined) semantics.content = read.state.content;
  if (read.state?.replaces !== undefined) semantics.replaces = read.state.replaces;
  if (read.editsAndRuns === true) semantics.editsAndRuns = true;
  if (read.piped === true) semantics.piped = true;
  return semantics;
}

/** The command line of a call that looks like a shell call: by its tool's name, or by a lone `command` argument. */
function commandOf(tool: string, args: Json, object: Arguments): string | undefined {
  if (!SHELL_NAME.test(tool)) return commandLike(object);
  if (typeof args === 'string') return args;
  for (const key of COMMAND_KEYS) {
    const value = object[key];
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return lineOf(value);
  }
  return undefined;
}

/** `['bash', '-lc', LINE]`, or a program and its arguments one by one. */
function lineOf(given: readonly string[]): string {
  return given.length === 1 || asksShell(given) ? (given.at(-1) ?? '') : given.join(' ');
}

/** Whether a line is handed to a shell to be read. */
function asksShell([program = '', option = '']: readonly string[]): boolean {
  return /^(?:\S*\/)?(?:ba|z|da|k)?sh$|^(?:cmd|powershell|pwsh)(?:\.exe)?$/i.test(program) && /^[-/]\w/.test(option);
}

/**
 * What reads like a command line where the tool's name tells nothing. Editors also call an argument `command` (`view`,
 * `create`), and so do games.
 */
function commandLike(object: Arguments): string | undefined {
  const command = object['command'];
  if (typeof command === 'string') return isShellLine(command) ? command : undefined;
  const other = object['cmd'] ?? object['input'] ?? object['script'] ?? object['argv'] ?? command;
  if (typeof other === 'string') return opensWithProgram(other) ? other : undefined;
  if (!Array.isArray(other) || !other.every((item) => typeof item === 'string')) return undefined;
  const line = lineOf(other);
  return asksShell(other) || opensWithProgram(line) ? line : undefined;
}

function kindOf(tool: string, args: Arguments, writes: boolean): ToolKind {
  const action = actionOf(args);
  if (/^(?:poll|status|wait)$/i.test(action)) return 'poll';
  if (args['chars'] === '' || args['input'] === '') return 'poll';
  if (writes) return 'write';
  // A subagent that is sent off does work of unknown effect, whatever its tool's name holds.
  if (typeof args['prompt'] === 'string' && /^(?:task|agent)$/i.test(tool)) return 'execute';
  // An editor that is asked for a part of a file shows it.
  if (args['view_range'] !== undefined && typeof args['old_str'] !== 'string' && action === '') return 'read';
  // A tool of several actions is what the action's first word says, whatever else its name holds.
  const byAction = action === '' ? 'unknown' : kindOfWords(wordsOf(action.trimStart().split(/\s/, 1)[0] ?? ''));
  const named = byAction === 'unknown' ? kindOfName(tool) : byAction;
  return named === 'unknown' ? kindOfArguments(args) : named;
}

/** What a tool of several actions is to do: `{action: 'view'}`, `{action: {type: 'click'}}`, `{command: 'view'}`. */
function actionOf({ action, command }: Arguments): string {
  const told = isJsonObject(action) ? action['type'] : action;
  if (typeof told === 'string') return told;
  return typeof command === 'string' ? command : '';
}

/** Words of a remark, where the rest of the name says no more than that it is made: `update_plan`, but not `route_plan`. */
const REMARK_WORDS = words('plan reason reflect note notes memo');
const MAKING_WORDS = words('update write make set create add take save edit exit enter mode my agent');

/** What is moved from one place to another, and no pointer or figure that moves itself. */
const MOVED_THINGS = words(
  'file files folder folders directory dir path email emails mail message messages card cards issue issues item items row rows page pages document documents record records task tasks event events object objects ticket tickets',
);

function kindOfWords(named: readonly string[]): ToolKind {
  const hasRemark = named.some((word) => REMARK_WORDS.has(word));
  if (hasRemark && named.every((word) => REMARK_WORDS.has(word) || MAKING_WORDS.has(word))) return 'note';
  if (named.includes('move') && named.some((word) => MOVED_THINGS.has(word))) return 'write';
  for (const [kind, names] of NAME_KINDS) if (named.some((word) => names.has(word))) return kind;
  return 'unknown';
}

/** Names come again at every call; the cache only saves work. */
const kinds = new LruMap<ToolKind>(512);

function kindOfName(tool: string): ToolKind {
  const known = kinds.get(tool);
  if (known !== undefined) return known;
  const name = lastSegment(tool);
  // Our own tool, with which advice is answered: no step of the work.
  const kind = name === 'acknowledge_advice' ? 'note' : kindOfWords(wordsOf(name));
  kinds.set(tool, kind);
  return kind;
}

function stringNamed(args: Arguments, names: RegExp): string | undefined {
  for (const name in args) {
    const value = args[name];
    if (typeof value === 'string' && names.test(name)) return value;
  }
  return undefined;
}

/** MCP tools are named `mcp__server__tool`; the server says nothing of what the tool does. */
function lastSegment(tool: string): string {
  return tool.slice(tool.lastIndexOf('__') + 1).replace(/^_/, '');
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
