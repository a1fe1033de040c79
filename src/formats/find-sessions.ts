import { existsSync, readdirSync, statSync, type Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';

import { AIDER_HISTORY } from './aider/aider.ts';
import { subagentFile, subagentFolder } from './claude-code/claude-code-entry.ts';
import { findSources, type FoundSource } from './find-sources.ts';
import type { FormatName } from './importer.ts';

export interface SessionPlaces {
  readonly home: string;
  /** Environment variables. Each program has a variable that changes its folder. An empty value is ignored. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of a project, for programs that keep their sessions in it. Default: `home`. */
  readonly project?: string;
}

interface SessionHost {
  readonly format: FormatName;
  readonly title: string;
  readonly folder: (places: SessionPlaces) => string;
  readonly sessions: readonly string[];
  /** Glob of the file that has one session, and grows while the session runs. */
  readonly session?: (id: string, env: SessionPlaces['env']) => string;
  /** The file of a subagent. Absent if the file of the session has it. */
  readonly agent?: (sessionFile: string, agentId: string) => string;
}

/** Agent programs whose sessions can be found. Folders, names and variables are those of November 2026. */
const SESSION_HOSTS: readonly SessionHost[] = [
  {
    format: 'claude-code',
    title: 'Claude Code',
    folder: ({ home, env }) => env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'),
    sessions: ['projects/*/*.jsonl'],
    session: (id) => `projects/*/${id}.jsonl`,
    agent: subagentFile,
  },
  {
    format: 'codex',
    title: 'Codex',
    folder: ({ home, env }) => env['CODEX_HOME'] || join(home, '.codex'),
    sessions: ['{sessions,archived_sessions}/**/*.jsonl{,.zst}'],
    session: (id) => `sessions/**/rollout-*${id}.jsonl`,
    agent: (sessionFile, agentId) => {
      const cwd = dirname(sessionFile);
      const [path] = SESSION_ID.test(agentId) ? pathsLike(cwd, [`rollout-*${agentId}.jsonl`]) : [];
      return path ?? join(cwd, `rollout-${basename(agentId)}.jsonl`);
    },
  },
  {
    format: 'copilot',
    title: 'Copilot CLI',
    folder: ({ home, env }) => env['COPILOT_HOME'] || join(home, '.copilot'),
    // Versions of 2025 write a file without a folder.
    sessions: ['session-state/*/events.jsonl', 'session-state/*.jsonl'],
    session: (id) => `session-state/${id}/events.jsonl`,
  },
  {
    format: 'gemini',
    title: 'Gemini CLI',
    folder: ({ home, env }) => join(env['GEMINI_CLI_HOME'] || home, '.gemini'),
    sessions: ['tmp/*/chats/**/*.{json,jsonl}'],
    session: (id) => `tmp/*/chats/session-*${id.slice(0, 8)}.jsonl`,
  },
  {
    format: 'opencode',
    title: 'opencode',
    folder: ({ home, env }) => join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode'),
    sessions: ['opencode*.db', 'storage/session/*/ses_*.json'],
    session: (_id, env) => env['OPENCODE_DB'] || 'opencode*.db',
  },
  {
    format: 'pi',
    title: 'pi',
    folder: ({ home, env }) => env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent'),
    sessions: ['sessions/**/*.jsonl'],
    session: (id) => `sessions/*/*_${id}.jsonl`,
  },
  {
    format: 'qwen-code',
    title: 'Qwen Code',
    folder: ({ home, env }) => env['QWEN_RUNTIME_DIR'] || env['QWEN_HOME'] || join(home, '.qwen'),
    sessions: ['projects/*/chats/*.jsonl', 'projects/*/subagents/*/agent-*.jsonl', 'tmp/*/chats/*.jsonl'],
    session: (id) => `projects/*/chats/${id}.jsonl`,
    agent: (sessionFile, agentId) =>
      join(
        dirname(dirname(sessionFile)),
        'subagents',
        basename(sessionFile, '.jsonl'),
        `agent-${basename(agentId)}.jsonl`,
      ),
  },
  {
    format: 'kimi',
    title: 'Kimi CLI',
    folder: ({ home, env }) => env['KIMI_SHARE_DIR'] || join(home, '.kimi'),
    sessions: ['sessions/*/*/wire.jsonl'],
  },
  {
    format: 'kimi-code',
    title: 'Kimi Code',
    folder: ({ home, env }) => env['KIMI_CODE_HOME'] || join(home, '.kimi-code'),
    sessions: ['sessions/*/*/agents/*/wire.jsonl'],
  },
  {
    format: 'goose',
    title: 'goose',
    folder: ({ home, env }) => join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'goose'),
    sessions: ['sessions/sessions.db', 'sessions/*.jsonl'],
  },
  {
    format: 'aider',
    title: 'Aider',
    folder: ({ home, project }) => project ?? home,
    sessions: [AIDER_HISTORY],
  },
];

export function hostFolder(format: string, places: SessionPlaces): string {
  return SESSION_HOSTS.find((host) => host.format === format)?.folder(places) ?? places.home;
}

export function hostTitle(format: string): string {
  return SESSION_HOSTS.find((host) => host.format === format)?.title ?? format;
}

/** Ids of sessions contain no mark of a glob and no path. */
const SESSION_ID = /^[\w-]+$/;

export function sessionFileOf(format: string, sessionId: string, places: SessionPlaces): string | undefined {
  const host = SESSION_HOSTS.find((one) => one.format === format);
  if (host?.session === undefined || !SESSION_ID.test(sessionId)) return undefined;
  const cwd = host.folder(places);
  const pattern = host.session(sessionId, places.env);
  const [path] = pattern.includes('*') ? pathsLike(cwd, pattern.split('/')) : [resolve(cwd, pattern)];
  return path;
}

/** As `sessionFileOf`, for many sessions: lists the files of each program once. */
export function sessionFinder(places: SessionPlaces): (format: string, sessionId: string) => string | undefined {
  const filesOf = new Map<string, readonly string[]>();
  return (format, sessionId) => {
    const host = SESSION_HOSTS.find((one) => one.format === format);
    const pattern = host?.session?.('*', places.env) ?? '';
    // One file for all sessions.
    if (host === undefined || !pattern.includes('/')) return sessionFileOf(format, sessionId, places);
    const files = filesOf.get(format) ?? [...pathsLike(host.folder(places), pattern.split('/'))];
    filesOf.set(format, files);
    const mark = sessionId.slice(0, 8);
    return files.find((file) => file.includes(mark) && isSessionFile(format, sessionId, file));
  };
}

export function agentFileOf(format: string, sessionFile: string, agentId: string): string {
  return SESSION_HOSTS.find((one) => one.format === format)?.agent?.(sessionFile, agentId) ?? sessionFile;
}

/** Returns true if a path has the name of the file of this session, wherever its folder is. */
export function isSessionFile(format: string, sessionId: string, path: string): boolean {
  const pattern = SESSION_HOSTS.find((one) => one.format === format)?.session?.(sessionId, {});
  if (pattern === undefined || !SESSION_ID.test(sessionId)) return false;
  const [folder = '', name = ''] = pattern.split('/').slice(-2);
  const [folderIn = '', nameIn = ''] = path.split(/[\\/]/).slice(-2);
  return isMatch(folder, folderIn) && isMatch(name, nameIn);
}

function isMatch(pattern: string, name: string): boolean {
  const [start = '', ...ends] = pattern.split(/\*+/);
  const end = ends.at(-1);
  return end === undefined ? name === start : name.startsWith(start) && name.endsWith(end);
}

export interface FoundSession {
  readonly path: string;
  readonly modifiedAtMs: number;
  /** Format of the program. Its folder is read in no other form: a file there may come from somebody else. */
  readonly format: FormatName;
}

export interface HostSessions {
  readonly format: FormatName;
  readonly title: string;
  readonly folder: string;
  readonly sessions: readonly FoundSession[];
}

/** Newest first. Cost: lists the folders, and makes one `stat` call per session. */
export function findSessions(places: SessionPlaces): readonly HostSessions[] {
  return SESSION_HOSTS.map(({ format, title, folder, sessions }) => {
    const root = folder(places);
    const found = filesIn(root, sessions).map(({ modifiedAtMs, path }) => ({ format, path, modifiedAtMs }));
    return { format, title, folder: root, sessions: found };
  });
}

/** Files that are found and not read, by a title. */
export function findUnread({
  env,
  home,
  project,
}: SessionPlaces): readonly { readonly title: string; readonly sessions: readonly Omit<FoundSession, 'format'>[] }[] {
  const folder = env['CURSOR_DATA_DIR'] || join(home, '.cursor');
  return [
    { title: 'Cursor CLI', sessions: filesIn(folder, ['chats/*/*/store.db']) },
    // It has the time and text of each request, and neither tokens nor results; Aider writes it only if it is told to.
    { title: 'the request logs of Aider', sessions: filesIn(project ?? home, ['.aider.llm.history']) },
  ];
}

/** A glob of Node takes 15 times the time for thousands of sessions, and the watch looks again and again. */
function filesIn(folder: string, patterns: readonly string[]): readonly Omit<FoundSession, 'format'>[] {
  const sessions: Omit<FoundSession, 'format'>[] = [];
  for (const pattern of patterns) {
    for (const path of pathsLike(folder, pattern.split('/'))) {
      const state = stateOfSession(path);
      // Skips deleted files, links without a target, and folders.
      if (state?.isFile === true) sessions.push({ path, modifiedAtMs: state.modifiedAtMs });
    }
  }
  return sessions.sort((a, b) => b.modifiedAtMs - a.modifiedAtMs);
}

interface SessionState {
  readonly isFile: boolean;
  readonly modifiedAtMs: number;
  readonly bytes: number;
}

/** Returns undefined if there is no such file. SQLite writes changes to the write-ahead log first, so its time and size count too. */
export function stateOfSession(path: string): SessionState | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return undefined;
  const log = path.endsWith('.db') ? statSync(`${path}-wal`, { throwIfNoEntry: false }) : undefined;
  return {
    isFile: file.isFile(),
    modifiedAtMs: Math.max(file.mtimeMs, log?.mtimeMs ?? 0),
    bytes: file.size + (log?.size ?? 0),
  };
}

/** The paths below a folder that match the parts of a pattern: names with `*` and `{a,b}`, or `**` for any number of folders. */
function* pathsLike(folder: string, [part = '', ...rest]: readonly string[]): Generator<string> {
  if (part === '**') yield* pathsLike(folder, rest);
  else if (!/[*{]/.test(part)) {
    const path = join(folder, part);
    if (rest.length > 0) yield* pathsLike(path, rest);
    else yield path;
    return;
  }
  const isLike = part === '**' ? undefined : partPattern(part);
  for (const entry of entriesIn(folder)) {
    const path = `${folder}/${entry.name}`;
    const mayBeFolder = entry.isDirectory() || (entry.isSymbolicLink() && isLike !== undefined);
    if (isLike?.test(entry.name) === false) continue;
    if (isLike !== undefined && rest.length === 0) yield path;
    else if (mayBeFolder) yield* pathsLike(path, isLike === undefined ? [part, ...rest] : rest);
  }
}

function partPattern(part: string): RegExp {
  const text = part.replaceAll('.', String.raw`\.`).replaceAll('*', '.*');
  return new RegExp(
    `^${text.replaceAll(/\{(.*?)\}/g, (_, choices: string) => `(?:${choices.replaceAll(',', '|')})`)}$`,
  );
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // A program that is not installed has no folder.
    return [];
  }
}

/** Yields the files of sessions, and those of their subagents that changed since `sinceMs`. */
export async function* filesOfSessions(
  sessions: readonly FoundSession[],
  sinceMs: number,
): AsyncGenerator<FoundSource, void, void> {
  for (const session of sessions) {
    if (!session.path.endsWith('.jsonl') || !existsSync(subagentFolder(session.path))) {
      const stats = statSync(session.path, { throwIfNoEntry: false });
      if (stats?.isFile() === true)
        yield { path: session.path, named: false, sizeBytes: stats.size, format: session.format };
      continue;
    }
    for await (const found of findSources([session.path])) {
      const stats = found.path === session.path ? undefined : await stat(found.path).catch(() => undefined);
      // A deleted session or a session without runs is not a problem.
      if (stats === undefined || stats.mtimeMs >= sinceMs) yield { ...found, named: false, format: session.format };
    }
  }
}

/** Returns the id of a session, with which the name of its file ends: `ID.jsonl`, `rollout-2026-01-05T02-14-00-ID.jsonl`. */
export function sessionIdOf(path: string): string {
  return basename(path, extname(path)).replace(/^.*(?=[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$)/, '');
}
