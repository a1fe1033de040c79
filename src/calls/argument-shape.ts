import { isJsonObject } from '../base/json.ts';
import { isProgram } from './shell-program.ts';
import type { ToolKind } from './tool-kind.ts';

/** The arguments of a call as an object. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A state that a write leaves something in. */
interface WrittenState {
  /** What was written: a file, a place within it, or what stands beside the text. */
  readonly target: string;
  readonly content: string;
}

const CONTENT_KEYS = ['content', 'contents', 'file_text', 'text', 'new_content', 'code_edit', 'body', 'new_source'];
/** Arguments that place a text within a file: what is written is a part, not the whole. */
const PLACE_KEYS = ['cell_id', 'cell_number', 'line', 'line_number', 'start_line', 'range', 'position', 'offset'];
const SQL_KEYS = ['query', 'sql', 'statement'];
/** The shape of a statement, not a word alone: searches have queries too. */
const SQL_CHANGE =
  /^\s*(?:insert\s+into\s+[\w."`]+|update\s+\S+\s+set|delete\s+from\s+[\w."`]+|truncate\s+table|(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:table|index|view|database|schema|function|procedure|trigger))\b/i;
const TARGET_CHARS = 80;
/** Shorter than this a text is a name or a word. */
const MIN_TEXT_CHARS = 12;

/** The text that a call carries where an argument is named for one. */
export function argumentText(args: Arguments): string | undefined {
  return stringAt(args, CONTENT_KEYS);
}

/** What a statement changes in a database, as `update users`; undefined where there is no such statement. */
export function databaseChange(args: Arguments): string | undefined {
  const found = SQL_CHANGE.exec(stringAt(args, SQL_KEYS) ?? '');
  return found === null ? undefined : found[0].trim().replace(/\s+/g, ' ').toLowerCase().slice(0, TARGET_CHARS);
}

/**
 * What a call leaves in what state, as far as its arguments tell: a text under a path, at a place within it, or under the other
 * arguments. An insertion adds to what is there, so its arguments do not tell the state.
 */
export function writtenState(tool: string, args: Arguments, path: string | undefined): WrittenState | undefined {
  const text = argumentText(args) ?? (path === undefined ? longestText(args) : undefined) ?? valueText(args);
  if (text === undefined || args['insert_line'] !== undefined || /append|insert/i.test(tool)) return undefined;
  const place = PLACE_KEYS.find((key) => args[key] !== undefined);
  const target =
    path === undefined ? besides(args, text) : place === undefined ? path : `${path}:${String(args[place])}`;
  return target === '' ? undefined : { target, content: text };
}

/** The longest text that is more than a name. */
function longestText(args: Arguments): string | undefined {
  const texts = Object.values(args).filter((value) => typeof value === 'string');
  const longest = texts.reduce((one, other) => (other.length > one.length ? other : one), '');
  return longest.length < MIN_TEXT_CHARS || !/\s/.test(longest) ? undefined : longest;
}

/** What a setting is set to. */
function valueText({ value }: Arguments): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** The short arguments beside a text, which say where it goes, in whatever order they came. */
function besides(args: Arguments, text: string): string {
  const places = Object.keys(args)
    .sort()
    .map((name) => args[name])
    .filter((value) => String(value) !== text && (typeof value === 'string' || typeof value === 'number'));
  return places
    .map((value) => String(value).slice(0, TARGET_CHARS))
    .join(' ')
    .slice(0, TARGET_CHARS);
}

/** The kind of a call by the name of its only argument, where the tool's name says nothing. */
const LONE_ARGUMENTS: readonly (readonly [RegExp, 'string' | 'number', ToolKind])[] = [
  [/^(?:thoughts?|thinking|reasoning|reflection)$/, 'string', 'note'],
  [/^(?:code|source|script|program)$/, 'string', 'execute'],
  [/^(?:(?:wait_)?seconds|secs|ms|time|duration(?:_\w+)?|delay(?:_ms)?)$/, 'number', 'wait'],
  [/^(?:keys?|button)$/, 'string', 'ui'],
];

/** What the names of the arguments say of a call whose tool's name says nothing. */
export function kindOfArguments(args: Arguments): ToolKind {
  if ((typeof args['x'] === 'number' && typeof args['y'] === 'number') || Array.isArray(args['coordinate']))
    return 'ui';
  const [name = '', ...others] = Object.keys(args);
  if (others.length > 0) return 'unknown';
  const found = LONE_ARGUMENTS.find(([names, type]) => names.test(name) && typeof args[name] === type);
  return found?.[2] ?? 'unknown';
}

const SHELL_SIGN = /[|;&<>$`\\\n]|(?:^|\s)-{1,2}[a-z]|(?:^|\s)\.{0,2}\/\S|\w=\S|\w\.\w{1,5}(?:\s|$)|^sleep \d/i;
const PLAIN_GO = /^go (?:to|back|north|south|east|west|up|down|in|out)\b/i;

/** Whether a text reads like a command line: orders to a game or a robot are texts too. */
export function isShellLine(command: string): boolean {
  if (command.trim() === '') return true;
  return !PLAIN_GO.test(command) && (opensWithProgram(command) || SHELL_SIGN.test(command));
}

/** Whether the first word is a program and no word of plain language. */
export function opensWithProgram(command: string): boolean {
  return isProgram(command.trimStart().split(/\s/, 1)[0] ?? '');
}

/** The first argument of these names that holds a text. */
export function stringAt(args: Arguments, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

const REMARK = /^(?:text|note|message|comment|content|remark)$/;
const PAGE = /^(?:page|page_?token|next_?token|(?:start_?)?cursor|offset|skip|marker)$/i;
const QUESTION = /^(?:q|query|search|keywords?|terms?|pattern|regex|glob|text|prompt|question|filter)$/;
const NAME = /^[\w.@:/-]{2,64}$/;
const MAX_NAMING = 3;

/** Whether a text is all that a call carries. */
export function isRemark(args: Arguments): boolean {
  const [name = '', ...others] = Object.keys(args);
  return others.length === 0 && REMARK.test(name);
}

/** Whether the call asks for a further page of something. */
export function asksForPage(args: Arguments): boolean {
  return Object.keys(args).some((name) => PAGE.test(name));
}

/** Whether nothing but a thing is named, in no words: an address, a product, a domain. What is sought is no name. */
export function namesThing(args: Arguments): boolean {
  const entries = Object.entries(args);
  if (entries.length > MAX_NAMING || entries.some(([name]) => QUESTION.test(name))) return false;
  const values = entries.map(([, value]) => value);
  const named = values.filter((value) => typeof value === 'string');
  return (
    named.length > 0 &&
    named.every((value) => NAME.test(value)) &&
    !values.some((value) => isJsonObject(value) || Array.isArray(value))
  );
}
