import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject } from '../base/json.ts';
import type { ToolKind } from './tool-kind.ts';

/** The arguments of a call as an object. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A state that a write leaves something in. */
interface WrittenState {
  /** What was written: a file, a place within it, a setting, a database object. */
  readonly target: string;
  readonly content: string;
}

const CONTENT_KEYS = [
  'content',
  'contents',
  'file_text',
  'text',
  'new_content',
  'code_edit',
  'body',
  'new_source',
] as const;
/** Arguments that place a text within a file: what is written is a part, not the whole. */
const PLACE_KEYS = [
  'cell_id',
  'cell_number',
  'cell_index',
  'line',
  'line_number',
  'start_line',
  'range',
  'position',
  'offset',
] as const;
/** Arguments that name a setting beside its `value`. */
const SETTING_KEYS = ['key', 'name', 'setting', 'option', 'field', 'property', 'flag', 'variable', 'parameter', 'cell'];
/** Arguments that hold the whole state of something, or what of it changes. */
const STATE_KEYS = ['body', 'data', 'payload', 'properties', 'settings', 'config', 'values', 'fields', 'patch', 'spec'];
/** What adds to what is there leaves it in no state that its arguments tell. */
const ADDS = /create|append|insert|post|add/i;
const SQL_KEYS = ['query', 'sql', 'statement'] as const;
/** The shape of a statement, not a word alone: searches have queries too. */
const SQL_CHANGE =
  /^\s*(?:insert\s+into\s+[\w."`]+|update\s+\S+\s+set|delete\s+from\s+[\w."`]+|truncate\s+table|(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:table|index|view|database|schema|function|procedure|trigger))\b/i;
/** A definition that takes the place of the one before. */
const SQL_REPLACES =
  /^\s*create\s+or\s+replace\s+(?:\w+\s+)*?(?:view|function|procedure|trigger|macro)\s+([\w."$[\]]+)/i;
const TARGET_CHARS = 80;
/** Shorter than this a text is a name or a word. */
const MIN_TEXT_CHARS = 12;

/** A question or a change that is put to a database in its own language. */
const SQL_BEGIN =
  /^\s*(?:select|with|insert\s+into|update|delete\s+from|explain|pragma|show|describe|create|alter|drop|merge\s+into)\s/i;

/** Whether a call carries a statement for a database. */
export function isStatement(args: unknown): boolean {
  return isJsonObject(args) && SQL_BEGIN.test(stringAt(args, SQL_KEYS) ?? '');
}

/** The text that a call carries where an argument is named for one. */
export function textOf(args: Arguments): string | undefined {
  return stringAt(args, CONTENT_KEYS);
}

/** What a statement changes in a database, as `update users`; undefined where there is no such statement. */
export function databaseChange(args: Arguments): string | undefined {
  const found = SQL_CHANGE.exec(stringAt(args, SQL_KEYS) ?? '');
  return found === null ? undefined : found[0].trim().replace(/\s+/g, ' ').toLowerCase().slice(0, TARGET_CHARS);
}

/**
 * What a call leaves in what state, as far as its arguments tell: a text under a path, or at a place within it; a text
 * with other arguments that say where it goes; a value under a name; a definition in a database. An insertion adds to
 * what is there, so its arguments do not tell the state.
 */
export function writtenState(tool: string, args: Arguments, path: string | undefined): WrittenState | undefined {
  const text = textOf(args);
  if (text !== undefined) {
    if (args['insert_line'] !== undefined || /append|insert/i.test(tool)) return undefined;
    const place = PLACE_KEYS.find((key) => args[key] !== undefined);
    if (path !== undefined) {
      return { target: place === undefined ? path : `${path}:${String(args[place])}`, content: text };
    }
    const where = placeOf(args, text);
    return where === '' ? undefined : { target: where, content: text };
  }
  const state = STATE_KEYS.find((key) => isJsonObject(args[key]) || Array.isArray(args[key]));
  if (state !== undefined && !ADDS.test(tool) && !ADDS.test(stringAt(args, ['action']) ?? '')) {
    const where = placeOf(args, args[state]);
    return where === '' ? undefined : { target: where, content: canonicalJson(args[state]) };
  }
  const value = args['value'];
  const name = value === undefined ? undefined : stringAt(args, SETTING_KEYS);
  if (name !== undefined) return { target: placeOf(args, value), content: textOfValue(value) };
  const statement = stringAt(args, SQL_KEYS);
  const defined = statement === undefined ? undefined : SQL_REPLACES.exec(statement)?.[1];
  return statement === undefined || defined === undefined ? undefined : { target: defined, content: statement };
}

/** The state where no name tells: the longest text that is more than a name, under what stands beside it. */
export function longestText(args: Arguments): WrittenState | undefined {
  let longest = '';
  for (const value of Object.values(args)) {
    if (typeof value === 'string' && value.length > longest.length) longest = value;
  }
  if (longest.length < MIN_TEXT_CHARS || !/\s/.test(longest)) return undefined;
  const target = placeOf(args, longest);
  return target === '' ? undefined : { target, content: longest };
}

/** The short arguments beside the text, which say where it goes, in whatever order they came. */
function placeOf(args: Arguments, text: unknown): string {
  const places: string[] = [];
  for (const name of Object.keys(args).sort()) {
    const value = args[name];
    if (value === text || (typeof value !== 'string' && typeof value !== 'number')) continue;
    places.push(String(value).slice(0, TARGET_CHARS));
  }
  return places.join(' ').slice(0, TARGET_CHARS);
}

function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

const THOUGHTS = new Set(['thought', 'thoughts', 'thinking', 'reasoning', 'reflection']);
const PAUSES = new Set([
  'seconds',
  'secs',
  'ms',
  'time',
  'wait_seconds',
  'duration',
  'duration_ms',
  'duration_seconds',
  'delay',
  'delay_ms',
]);
const CODES = new Set(['code', 'source', 'script', 'program', 'snippet']);
const REMARKS = new Set(['text', 'note', 'message', 'comment', 'content', 'remark']);
const KEYS = new Set(['key', 'keys', 'button']);
const KEY_CHARS = 20;

/** What the names of the arguments say of a call whose tool's name says nothing. */
export function kindOfArguments(args: Arguments): ToolKind {
  const names = Object.keys(args);
  const [name = ''] = names;
  if (typeof args['x'] === 'number' && typeof args['y'] === 'number') return 'ui';
  if (Array.isArray(args['coordinate'])) return 'ui';
  if (names.length !== 1) return 'unknown';
  const value = args[name];
  if (THOUGHTS.has(name) && typeof value === 'string') return 'note';
  if (typeof value === 'string' && (CODES.has(name) || (name === 'input' && value.includes('\n')))) return 'execute';
  if (PAUSES.has(name) && typeof value === 'number') return 'wait';
  return KEYS.has(name) && typeof value === 'string' && value.length <= KEY_CHARS ? 'ui' : 'unknown';
}

/** Whether a text is all that a call carries. */
export function isRemark(args: Arguments): boolean {
  let count = 0;
  for (const name in args) {
    count += 1;
    if (count > 1 || !REMARKS.has(name)) return false;
  }
  return count === 1;
}

/** Programs whose names are no words of plain language. */
const PROGRAMS = new Set(
  `ls cat grep egrep rg ag stat wc diff cmp whoami id env printenv uname hostname df du ps lsof netstat ss jq awk uniq
   xxd pwd git gh glab kubectl oc docker docker-compose podman npm npx pnpm yarn pip pip3 apt apt-get uv poetry conda
   brew cargo systemctl journalctl squeue sacct qstat sed perl curl wget rm mv cp mkdir rmdir chmod chown dd tar unzip
   gzip rsync bash sh zsh python python3 node deno bun rustc cmake ninja gcc clang java javac mvn gradle pytest jest
   vitest tox ruby php dotnet terraform tofu terragrunt pulumi ansible helm psql mysql sqlite3 duckdb aws gcloud az ffmpeg mix ssh scp gdb make
   echo cd export tsc eslint ruff mypy go`.split(/\s+/),
);
const SHELL_SIGN = /[|;&<>$`\\\n]|(?:^|\s)-{1,2}[a-z]|(?:^|\s)\.{0,2}\/\S|\w=\S|\w\.\w{1,5}(?:\s|$)|^sleep \d/i;
const PLAIN_GO = /^go (?:to|back|north|south|east|west|up|down|in|out)\b/i;

/** Whether a text reads like a command line: orders to a game or a robot are texts too. */
export function isShellLine(command: string): boolean {
  if (command.trim() === '') return true;
  if (PLAIN_GO.test(command)) return false;
  return opensWithProgram(command) || SHELL_SIGN.test(command);
}

/** Whether the first word is a program and no word of plain language. */
export function opensWithProgram(command: string): boolean {
  return PROGRAMS.has(command.trimStart().split(/\s/, 1)[0] ?? '');
}

/** The first argument of these names that holds a text. */
export function stringAt(args: Arguments, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

const PAGES = new Set(
  'page page_token pageToken next_token nextToken cursor start_cursor startCursor offset skip continuation_token scroll_id marker'.split(
    ' ',
  ),
);

/** Whether the call asks for a further page of something. */
export function asksForPage(args: Arguments): boolean {
  for (const name in args) if (PAGES.has(name)) return true;
  return false;
}

const QUESTIONS = new Set(
  'q query search keyword keywords term terms pattern regex glob text prompt question filter'.split(' '),
);
const NAME = /^[\w.@:/-]{2,64}$/;
const MAX_NAMING = 3;

/** Whether nothing but a thing is named, in no words: an address, a product, a domain. What is sought is no name. */
export function namesThing(args: Arguments): boolean {
  let named = 0;
  let count = 0;
  for (const name in args) {
    count += 1;
    const value = args[name];
    if (count > MAX_NAMING || QUESTIONS.has(name) || (typeof value === 'object' && value !== null)) return false;
    if (typeof value !== 'string') continue;
    if (!NAME.test(value)) return false;
    named += 1;
  }
  return named > 0;
}
