import { wordSet } from '../../base/word-set.ts';
import { isJsonObject, type Json, present } from '../../base/json.ts';
import { LruMap } from '../../base/lru-map.ts';
import { patchedFile } from './patch-text.ts';
import { answerCodesOf, readShellCommand, shellLineOf } from './shell-command.ts';
import { isProgram } from './shell-program.ts';
import type { ToolKind } from './tool-kind.ts';

/** Annotations of a tool from an MCP server. An absent annotation implies nothing. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
}

/** A declaration of a tool by an adapter or in the configuration. It takes precedence over inferred properties. */
export interface ToolDeclaration {
  readonly kind?: ToolKind;
  /** Arguments used to compare calls, as names or paths (`filter.id`). Default: all arguments. */
  readonly loopKey?: readonly string[];
  /** Fields of a JSON result used to compare results, as names or paths. Default: the whole masked result. */
  readonly progressKey?: readonly string[];
  /** Annotations of the tool from its MCP server. `kind` takes precedence. */
  readonly annotations?: ToolAnnotations;
}

export type ToolDeclarations = Readonly<Record<string, ToolDeclaration>>;

export interface CallSemantics {
  readonly kind: ToolKind;
  /** The tool name. For a shell call, the program that the command runs. */
  readonly program: string;
  /** The file, page or folder that the call reads or changes. */
  readonly target?: string;
  /** For a write of a whole file: the content. */
  readonly content?: string;
  /** For a replacement: the old text and the new text. */
  readonly replaces?: { readonly before: string; readonly after: string };
  readonly shell: boolean;
  /** True for a shell call that changes a file and then runs a program. */
  readonly editsAndRuns?: true;
  /** True for a shell call whose exit code is only that of the last program of a pipeline. */
  readonly piped?: true;
}

type Arguments = Readonly<Record<string, unknown>>;

const SHELL_NAME =
  /(?:^|[_.:-])(?:bash|shell|sh|exec|terminal|run|cmd|powershell|(?:run|execute|exec)(?:_shell)?_command|run_terminal_cmd)$/i;
const COMMAND_KEYS = wordSet('command cmd script input commands argv');
const PATH_KEYS = wordSet(
  'path file_path filePath relative_path absolute_path filename file notebook_path target_file uri url dir',
);
const PATCH_KEYS = ['patch', 'input', 'patchText'];
const CONTENT_KEYS = wordSet('content contents file_text text new_content code_edit body new_source');
const PLACE_KEYS = ['cell_id', 'cell_number', 'line_number', 'start_line', 'range'];
const BEFORE_KEYS = wordSet('old_string old_str oldString oldText old_text old search');
const AFTER_KEYS = wordSet('new_string new_str newString newText new_text new replace replacement');

/** Words in tool names, by kind. The first match determines the kind. */
const NAME_KINDS: readonly (readonly [ToolKind, ReadonlySet<string>])[] = [
  ['note', wordSet('think thought thoughts thinking reasoning todo todos plan')],
  ['wait', wordSet('wait sleep pause')],
  ['ui', wordSet('click tap key keys keypress press type scroll swipe drag hover screenshot mouse move navigate step')],
  [
    'write',
    wordSet(
      `write edit create delete remove update apply insert append patch set put post send submit rename copy upload save replace
       commit push deploy install add cancel undo revert`,
    ),
  ],
  ['poll', wordSet('poll status output progress monitor stdin task tasks process')],
  [
    'read',
    wordSet(
      'read get list ls search find grep glob view open cat show fetch query lookup describe inspect browse job jobs sql',
    ),
  ],
  ['execute', wordSet('run execute exec python bash shell test build compile code script')],
];

/** By declarations, then the syntax of a shell command, names and types of arguments, and words in the tool's name. */
export function readCall(tool: string, args: Json, declarations: ToolDeclarations = {}): CallSemantics {
  const object = isJsonObject(args) ? args : {};
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const command = commandOf(tool, args, object);
  if (command !== undefined) return shellSemantics(tool, command, declaration?.kind);
  const path = findString(object, PATH_KEYS);
  const before = findString(object, BEFORE_KEYS);
  const after = before === undefined ? undefined : findString(object, AFTER_KEYS);
  const patch = patchedFile(findString(object, PATCH_KEYS) ?? '');
  const replaces = patch?.replaces ?? (before === undefined || after === undefined ? undefined : { before, after });
  const text = path === undefined ? undefined : findString(object, CONTENT_KEYS);
  // An inserted text is not the whole content of the file.
  const isWholeContent =
    object['insert_line'] === undefined && !['append', 'insert'].some((word) => tool.toLowerCase().includes(word));
  const position = PLACE_KEYS.map((key) => object[key]).find((at) => typeof at === 'string' || typeof at === 'number');
  const kind = kindOf(tool, object, replaces !== undefined || text !== undefined);
  return {
    kind: declaration?.kind ?? correctByAnnotations(kind, declaration?.annotations),
    program: tool,
    shell: false,
    ...present({
      target: patch?.target ?? (text === undefined || position === undefined ? path : `${path}:${position}`),
      content: replaces === undefined && isWholeContent ? text : undefined,
      replaces,
    }),
  };
}

/** Returns true if the program of a shell call answers a question by this exit code, which is then no failure. */
export function isAnswerCode(tool: string, args: Json, exitCode: number): boolean {
  const command = commandOf(tool, args, isJsonObject(args) ? args : {});
  return command !== undefined && answerCodesOf(command).includes(exitCode);
}

function correctByAnnotations(inferredKind: ToolKind, annotations: ToolAnnotations | undefined): ToolKind {
  if (annotations?.readOnlyHint === true) {
    return inferredKind === 'write' || inferredKind === 'execute' || inferredKind === 'unknown' ? 'read' : inferredKind;
  }
  const isChange = annotations?.readOnlyHint === false || annotations?.destructiveHint === true;
  return isChange && (inferredKind === 'read' || inferredKind === 'unknown') ? 'write' : inferredKind;
}

function shellSemantics(tool: string, command: string, declaredKind: ToolKind | undefined): CallSemantics {
  const { kind, program, state, writes, reads, editsAndRuns, piped } = readShellCommand(command);
  return {
    // An empty line sent to a terminal polls for new output.
    kind: declaredKind ?? (command.trim() === '' ? 'poll' : kind),
    program: program === '' ? tool : program,
    shell: true,
    ...present({
      target: state?.target ?? writes[0] ?? (kind === 'write' ? undefined : reads),
      content: state?.content,
      replaces: state?.replaces,
      editsAndRuns,
      piped,
    }),
  };
}

function commandOf(tool: string, args: Json, object: Arguments): string | undefined {
  if (!SHELL_NAME.test(tool)) return findCommandLine(object);
  if (typeof args === 'string') return args;
  for (const key of COMMAND_KEYS) {
    const value = object[key];
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return commandLineOf(value);
  }
  return undefined;
}

function commandLineOf(words: readonly string[]): string {
  return (words.length === 1 ? words[0] : shellLineOf(words)) ?? words.join(' ');
}

const SHELL_SYNTAX = /[|;&<>$`\\\n]|(?:^|\s)-{1,2}[a-z]|(?:^|\s)\.{0,2}\/\S|\w=\S|\w\.\w{1,5}(?:\s|$)|^sleep \d/i;

/** Editors and games also have an argument `command` (`view`, `go north`). */
function findCommandLine(object: Arguments): string | undefined {
  const { command } = object;
  if (typeof command === 'string') {
    return command.trim() === '' || isProgram(firstWord(command)) || SHELL_SYNTAX.test(command) ? command : undefined;
  }
  const candidate = object['cmd'] ?? object['input'] ?? object['script'] ?? object['argv'] ?? command;
  if (typeof candidate === 'string') return isProgram(firstWord(candidate)) ? candidate : undefined;
  if (!Array.isArray(candidate) || !candidate.every((item) => typeof item === 'string')) return undefined;
  const line = commandLineOf(candidate);
  return shellLineOf(candidate) !== undefined || isProgram(firstWord(line)) ? line : undefined;
}

function firstWord(text: string): string {
  return text.trimStart().split(/\s/, 1)[0] ?? '';
}

/** Matches an SQL statement that changes data. A single word is not enough, because searches also have queries. */
const SQL_CHANGE =
  /^\s*(?:insert\s+into|update\s+\S+\s+set|delete\s+from|truncate\s+table|(?:create|alter|drop)\s+(?:table|index|view))\b/i;

function kindOf(tool: string, args: Arguments, writes: boolean): ToolKind {
  const action = actionOf(args);
  if (['poll', 'status', 'wait'].includes(action.toLowerCase()) || args['chars'] === '' || args['input'] === '')
    return 'poll';
  if (writes || SQL_CHANGE.test(findString(args, ['query', 'sql', 'statement']) ?? '')) return 'write';
  // A subagent call has an unknown effect.
  if (typeof args['prompt'] === 'string' && ['task', 'agent'].includes(tool.toLowerCase())) return 'execute';
  // An editor call with a range displays that range.
  if (action === '' && args['view_range'] !== undefined && typeof args['old_str'] !== 'string') return 'read';
  // If a tool has several actions, the action determines the kind.
  const actionKind = kindOfWords(firstWord(action));
  const nameKind = actionKind === 'unknown' ? kindOfName(tool) : actionKind;
  return nameKind === 'unknown' ? kindOfArguments(args) : nameKind;
}

/** Returns the action of a tool with several actions: `{action: 'view'}`, `{action: {type: 'click'}}`, `{command: 'view'}`. */
function actionOf({ action, command }: Arguments): string {
  const type = isJsonObject(action) ? action['type'] : action;
  if (typeof type === 'string') return type;
  return typeof command === 'string' ? command : '';
}

/** Kinds that the name of the only argument shows: `{thought: '…'}`, `{code: '…'}`, `{key: 'Down'}`. */
const LONE_KINDS: ReadonlySet<ToolKind> = new Set<ToolKind>(['note', 'execute', 'ui']);

function kindOfArguments(args: Arguments): ToolKind {
  if (typeof args['x'] === 'number' && typeof args['y'] === 'number') return 'ui';
  if (Array.isArray(args['coordinate'])) return 'ui';
  const [name = '', ...others] = Object.keys(args);
  if (others.length > 0) return 'unknown';
  if (typeof args[name] === 'number')
    return ['seconds', 'ms'].includes(name) || name.startsWith('duration') ? 'wait' : 'unknown';
  const kind = typeof args[name] === 'string' ? kindOfWords(name) : 'unknown';
  return LONE_KINDS.has(kind) ? kind : 'unknown';
}

function kindOfWords(name: string): ToolKind {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return NAME_KINDS.find(([, kindWords]) => words.some((word) => kindWords.has(word)))?.[0] ?? 'unknown';
}

/** Claude Code's list of the agent's own tasks: a note like `TodoWrite`, not a change of the project. */
const NAMED_STATUS = /(?:deploy(?:ment)?|commit|push|install|upload)[_-]?(?:status|progress|output)$/i;
const OWN_TASKS = new Set(['TaskCreate', 'TaskUpdate']);

const recentKinds = new LruMap<ToolKind>(512);

/** Returns the kind from the tool name. In MCP names (`mcp__server__tool`) the server name is ignored. */
function kindOfName(tool: string): ToolKind {
  const cachedKind = recentKinds.get(tool);
  if (cachedKind !== undefined) return cachedKind;
  const name = tool.slice(tool.lastIndexOf('__') + 1);
  // Coxswain provides this tool for responses to advice. Hosts put the server name before it in different ways.
  const isNote = name.endsWith('acknowledge_advice') || OWN_TASKS.has(tool);
  const kind = isNote ? 'note' : NAMED_STATUS.test(name) ? 'poll' : kindOfWords(name);
  recentKinds.set(tool, kind);
  return kind;
}

function findString(args: Arguments, keys: Iterable<string>): string | undefined {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

/** A tool in the list of an MCP server. Other fields are ignored. */
export interface McpTool {
  readonly name: string;
  readonly annotations?: ToolAnnotations;
}

/** Declarations for the option `tools` from the list of an MCP server. `prefix`: that of the host, such as `mcp__github__`. */
export function declareMcpTools(tools: readonly McpTool[], prefix: string = ''): ToolDeclarations {
  return Object.fromEntries(
    tools.flatMap(({ name, annotations }): readonly (readonly [string, ToolDeclaration])[] =>
      annotations === undefined ? [] : [[`${prefix}${name}`, { annotations }]],
    ),
  );
}
