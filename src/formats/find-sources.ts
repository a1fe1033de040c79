import { glob, open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve, win32 } from 'node:path';
import { createHash } from 'node:crypto';
import { constants, gunzipSync } from 'node:zlib';
import { codeOf } from '../core/base/error.ts';
import { AIDER_HISTORY } from './aider/aider.ts';
import { subagentFolder } from './claude-code/claude-code-entry.ts';
import { withoutCopies } from './claude-code/earlier-entries.ts';
import { withoutNumber } from '../core/facts/task-title.ts';
import type { FormatName } from './importer.ts';
import { opencodeDatabase } from './opencode/opencode-database.ts';
import { isJsonObject, jsonOf, textOrUndefined } from '../core/base/json.ts';

/** Numbers of bytes read. Programs write the working folder in the first entries. */
const HEAD_BYTES = [16_384, 262_144];
const MAX_UNPACKED = 16_777_216;

/** A session file of opencode, and its export, begin with what they know of the session. */
const EXPORTED_FOLDER =
  /^\s*\{\s*(?:"info":\s*\{|"id":\s*"ses_)[^{}]{0,2000}?"directory":\s*"((?:\/|[A-Za-z]:\\)(?:[^"\\]|\\.)*)"/;

/** Copilot CLI of 2025 has its folder only in what it tells its model. */
const TOLD_FOLDER =
  /(?:"type":"system\.message".*?\* Current working directory: |"text":"<environment_context>\\n\s*(?:<cwd>|Current working directory: ))((?:[^"\\<]|\\[^n])+)(?:\\n|<\/cwd>)/;

/**
 * Claude Code, Codex, Copilot CLI, pi and an export of opencode have it, Gemini CLI beside it or as a hash; gzip is unpacked. Undefined for an unreadable
 * file, and for a run of a database of which only the database is known.
 * Cost: reads the first 16 kB, and the first 256 kB if these do not have it.
 */
export async function sessionFolder(path: string, runId?: string): Promise<string | undefined> {
  if (path.endsWith('.db')) return runId === undefined ? undefined : folderInDatabase(path, withoutNumber(runId));
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    let head = '';
    for (const bytes of HEAD_BYTES) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
      head = unpackedHead(buffer.subarray(0, bytesRead)).toString('utf8');
      const exported = EXPORTED_FOLDER.exec(head)?.[1];
      if (exported !== undefined) return textOrUndefined(jsonOf(`"${exported}"`));
      for (const line of head.split('\n')) {
        const folder = folderIn(line);
        if (folder !== undefined) return folder;
      }
      if (bytesRead < bytes) break;
    }
    return await chatFolder(path, head);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

function folderInDatabase(path: string, sessionId: string): string | undefined {
  try {
    return opencodeDatabase.folder(path, sessionId);
  } catch {
    // A database of another program, or one that cannot be read.
    return undefined;
  }
}

function unpackedHead(head: Buffer): Buffer {
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  // The head of a file ends within a block.
  return isGzip ? gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_UNPACKED }) : head;
}

/** The folder of a chat of Gemini CLI, which has it in a file of its own; else a path in this chat, or another one beside it, that has its hash. */
async function chatFolder(path: string, head: string): Promise<string | undefined> {
  const chats = dirname(path);
  if (basename(chats) !== 'chats') return undefined;
  const text = await readFile(join(dirname(chats), '.project_root'), 'utf8').catch(() => '');
  if (isAnyAbsolute(text)) return text.trim();
  const hash = PROJECT_HASH.exec(head)?.[1];
  if (hash === undefined) return undefined;
  const own = hashedFolder(head, hash);
  if (own !== undefined) return own;
  const others = (await readdir(chats)).filter((name) => name.includes('.json')).toSorted();
  for (const name of others.slice(0, MAX_CHATS)) {
    const found = hashedFolder(await headOf(join(chats, name)), hash);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MAX_CHATS = 16;
const MAX_HASHED = 4_000;
const PROJECT_HASH = /"projectHash":\s*"([\da-f]{64})"/;
const PATHS = /(?:\b[A-Za-z]:\\|(?<![\w.])\/)[^"'`<>|*?:;,()\r\n]+/g;

/** The first path in a text, or folder of one, whose hash this is. */
function hashedFolder(text: string, hash: string): string | undefined {
  const tried = new Set<string>();
  // The text is JSON: `\n` ends a line, `\\` is one character.
  for (const [path] of text
    .replaceAll(/(?<!\\)\\[nrt]/g, '\n')
    .replaceAll(/\\{2,}/g, '\\')
    .matchAll(PATHS))
    for (const { index } of `${path} `.matchAll(/[\\/\s]/g)) {
      const folder = path.slice(0, index);
      if (tried.has(folder)) continue;
      if (tried.size >= MAX_HASHED) return undefined;
      tried.add(folder);
      if (createHash('sha256').update(folder).digest('hex') === hash) return folder;
    }
  return undefined;
}

async function headOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const bytes = Math.max(...HEAD_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The folder that stands for the project of a file without one: that of Gemini CLI and Qwen Code has its chats in a folder of its own. */
export function folderOfFile(path: string): string {
  const folder = dirname(resolve(path));
  return basename(folder) === 'chats' ? dirname(folder) : folder;
}

/** The file may come from another system. */
function isAnyAbsolute(path: string): boolean {
  return posix.isAbsolute(path) || win32.isAbsolute(path);
}

function folderIn(line: string): string | undefined {
  const told = TOLD_FOLDER.exec(line)?.[1];
  if (told !== undefined) return textOrUndefined(jsonOf(`"${told}"`));
  if (!line.includes('"cwd"')) return undefined;
  // The last line of the bytes read is usually truncated.
  const entry = jsonOf(line);
  if (!isJsonObject(entry)) return undefined;
  const { data, payload } = entry;
  const context = isJsonObject(data) ? data['context'] : undefined;
  for (const place of [entry, payload, context]) {
    if (isJsonObject(place) && typeof place['cwd'] === 'string' && isAnyAbsolute(place['cwd'])) return place['cwd'];
  }
  return undefined;
}

export interface FoundSource {
  /** Path, or `-` for standard input. */
  readonly path: string;
  /** True for a file that the user named, or a glob, and its companions. Else an unknown format (`format-unknown`) needs no report. */
  readonly named: boolean;
  /** File size. Absent for standard input and for anything that is not a regular file. */
  readonly sizeBytes?: number;
  /** Format of every file of this place, such as the folder of an agent program. Default: detected from the content. */
  readonly format?: FormatName;
}

/** Hidden folders in which agent programs store sessions, and the folders of sessions in them: a saved home has them. */
const PROGRAM_FOLDERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['.claude', ['projects']],
  ['.codex', ['sessions', 'archived_sessions']],
  ['.copilot', ['session-state']],
  ['.gemini', ['tmp']],
  ['.pi', ['agent']],
  ['.qwen', ['projects', 'tmp']],
  ['.kimi', ['sessions']],
  ['.kimi-code', ['sessions']],
  ['.local', ['share']],
]);
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '.git']);
const GLOB_MARKS = /[*?[{]/;

/**
 * Lists the files to import in order. Each real file is listed once.
 *
 * - file: the file, then the subagent files of a Claude Code session (`X.jsonl` → `X/subagents/agent-*.jsonl`)
 * - folder: its files, then its folders, each sorted by name; hidden entries, `node_modules` and linked folders are skipped,
 *   linked files are not
 * - glob, if no file has that name: the matches, files first
 * - `-`: standard input
 *
 * A path that does not exist or cannot be listed is yielded as a named file, so that opening it reports the reason.
 *
 * Cost: one `stat` and one `realpath` call per file; keeps the real path of every file yielded.
 */
export async function* findSources(paths: Iterable<string>): AsyncGenerator<FoundSource> {
  const search = new Search();
  for (const path of paths) yield* search.argument(path);
}

class Search {
  readonly #seenPaths = new Set<string>();

  async *argument(path: string): AsyncGenerator<FoundSource> {
    const kind = await kindOf(path);
    if (path === '-' || kind !== 'missing') {
      yield* this.#namedSources(path, kind);
      return;
    }
    const matches = GLOB_MARKS.test(path) ? await globMatches(path) : [];
    if (matches.length === 0) yield { path, named: true };
    const kinds = await Promise.all(matches.map(async (match) => ({ match, kind: await kindOf(match) })));
    for (const isFolder of [false, true]) {
      for (const found of kinds) {
        if ((found.kind === 'folder') === isFolder) yield* this.#namedSources(found.match, found.kind);
      }
    }
  }

  async *#namedSources(path: string, kind: Kind): AsyncGenerator<FoundSource> {
    if (path === '-') yield { path, named: true };
    else if (kind === 'folder') yield* this.#folderSources(path);
    else yield* this.#fileSources(path, true);
  }

  async *#folderSources(folder: string): AsyncGenerator<FoundSource> {
    let names: { readonly name: string; readonly isFolder: boolean; readonly isFile: boolean }[];
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      names = entries.map((entry) => ({
        name: entry.name,
        isFolder: entry.isDirectory(),
        isFile: entry.isFile() || entry.isSymbolicLink(),
      }));
    } catch {
      // Opening the folder as a file fails with the same reason, and the consumer reports that error.
      yield { path: folder, named: true };
      return;
    }
    const inside = PROGRAM_FOLDERS.get(basename(folder));
    const visibleNames = names.filter(({ isFolder, name }) =>
      inside === undefined
        ? (!name.startsWith('.') || (isFolder ? PROGRAM_FOLDERS.has(name) : name === AIDER_HISTORY)) &&
          !SKIPPED_FOLDERS.has(name)
        : isFolder && inside.includes(name),
    );
    visibleNames.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { name, isFile } of visibleNames) {
      if (isFile && (await kindOf(join(folder, name))) !== 'folder')
        yield* this.#fileSources(join(folder, name), false);
    }
    // The state of a conversation of the OpenHands SDK stands for its events, one file each.
    const isConversation = names.some(({ name }) => name === 'base_state.json');
    for (const { name, isFolder } of visibleNames)
      if (isFolder && !(isConversation && name === 'events')) yield* this.#folderSources(join(folder, name));
  }

  async *#fileSources(path: string, isNamed: boolean): AsyncGenerator<FoundSource> {
    const realPath = await realpath(path).catch(() => path);
    if (!this.#seenPaths.has(realPath)) {
      this.#seenPaths.add(realPath);
      const stats = await stat(path).catch(() => undefined);
      yield { path, named: isNamed, ...(stats?.isFile() === true ? { sizeBytes: stats.size } : {}) };
    }
    for (const companion of await subagentFiles(path)) yield* this.#fileSources(companion, isNamed);
  }
}

type Kind = 'file' | 'folder' | 'missing';

async function kindOf(path: string): Promise<Kind> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? 'missing' : 'file';
  }
}

async function globMatches(pattern: string): Promise<readonly string[]> {
  const matches: string[] = [];
  for await (const match of glob(pattern, { exclude: (name) => SKIPPED_FOLDERS.has(basename(name)) }))
    matches.push(match);
  return matches.sort();
}

async function subagentFiles(session: string): Promise<readonly string[]> {
  if (!session.endsWith('.jsonl')) return [];
  const folder = subagentFolder(session);
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const agents = names.filter((name) => basename(name).startsWith('agent-') && name.endsWith('.jsonl'));
  return withoutCopies(agents.sort().map((name) => join(folder, name)));
}
