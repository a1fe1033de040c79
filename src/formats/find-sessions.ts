import { globSync } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';

import { subagentFile } from './claude-code/claude-code-entry.ts';
import { findSources, type FoundSource } from './find-sources.ts';
import type { FormatName } from './import-item.ts';

export interface SessionPlaces {
  readonly home: string;
  /** Environment variables. Each program has a variable that changes its folder. An empty value is ignored. */
  readonly env: Readonly<Record<string, string | undefined>>;
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
    sessions: ['sessions/**/rollout-*.jsonl{,.zst}', 'archived_sessions/**/rollout-*.jsonl{,.zst}'],
    session: (id) => `sessions/**/rollout-*${id}.jsonl`,
    agent: (sessionFile, agentId) => {
      const cwd = dirname(sessionFile);
      const [name] = SESSION_ID.test(agentId) ? globSync(`rollout-*${agentId}.jsonl`, { cwd }) : [];
      return join(cwd, name ?? `rollout-${basename(agentId)}.jsonl`);
    },
  },
  {
    format: 'copilot',
    title: 'Copilot CLI',
    folder: ({ home, env }) => env['COPILOT_HOME'] || join(home, '.copilot'),
    sessions: ['session-state/*/events.jsonl'],
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
    sessions: ['projects/*/chats/*.jsonl', 'tmp/*/chats/*.jsonl'],
  },
  {
    format: 'kimi',
    title: 'Kimi CLI',
    folder: ({ home, env }) => env['KIMI_SHARE_DIR'] || join(home, '.kimi'),
    sessions: ['sessions/*/*/wire.jsonl'],
  },
  {
    format: 'goose',
    title: 'goose',
    folder: ({ home, env }) => join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'goose'),
    sessions: ['sessions/sessions.db', 'sessions/*.jsonl'],
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
  const [name] = pattern.includes('*') ? globSync(pattern, { cwd }) : [pattern];
  return name === undefined ? undefined : resolve(cwd, name);
}

/** As `sessionFileOf`, for many sessions: lists the files of each program once. */
export function sessionFinder(places: SessionPlaces): (format: string, sessionId: string) => string | undefined {
  const filesOf = new Map<string, readonly string[]>();
  return (format, sessionId) => {
    const host = SESSION_HOSTS.find((one) => one.format === format);
    const pattern = host?.session?.('*', places.env) ?? '';
    // One file for all sessions.
    if (host === undefined || !pattern.includes('/')) return sessionFileOf(format, sessionId, places);
    const cwd = host.folder(places);
    const files = filesOf.get(format) ?? globSync(pattern, { cwd });
    filesOf.set(format, files);
    const mark = sessionId.slice(0, 8);
    const name = files.find((file) => file.includes(mark) && isSessionFile(format, sessionId, file));
    return name === undefined ? undefined : resolve(cwd, name);
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
export async function findSessions(places: SessionPlaces): Promise<readonly HostSessions[]> {
  return Promise.all(
    SESSION_HOSTS.map(async ({ format, title, folder, sessions }) => {
      const root = folder(places);
      return { format, title, folder: root, sessions: await sessionsIn(root, format, sessions) };
    }),
  );
}

/** Programs whose session files coxswain does not read. The files of Aider are in the project. */
const UNREAD_HOSTS: readonly Pick<SessionHost, 'title' | 'folder' | 'sessions'>[] = [
  {
    title: 'Cursor CLI',
    folder: ({ home, env }) => env['CURSOR_DATA_DIR'] || join(home, '.cursor'),
    sessions: ['chats/*/*/store.db'],
  },
  {
    title: 'Kimi Code',
    folder: ({ home, env }) => env['KIMI_CODE_HOME'] || join(home, '.kimi-code'),
    sessions: ['sessions/**/*.jsonl'],
  },
];

/** Session files that are found and not read, by the title of their program. */
export async function findUnread(
  places: SessionPlaces & { readonly project: string },
): Promise<readonly { readonly title: string; readonly sessions: readonly Omit<FoundSession, 'format'>[] }[]> {
  const aider = { title: 'Aider', folder: () => places.project, sessions: ['.aider.chat.history.md'] };
  return Promise.all(
    [...UNREAD_HOSTS, aider].map(async ({ folder, sessions, title }) => ({
      title,
      sessions: await filesIn(folder(places), sessions),
    })),
  );
}

async function sessionsIn(
  folder: string,
  format: FormatName,
  patterns: readonly string[],
): Promise<readonly FoundSession[]> {
  const files = await filesIn(folder, patterns);
  return files.map(({ modifiedAtMs, path }) => ({ format, path, modifiedAtMs }));
}

async function filesIn(folder: string, patterns: readonly string[]): Promise<readonly Omit<FoundSession, 'format'>[]> {
  const sessions: Omit<FoundSession, 'format'>[] = [];
  for await (const name of glob([...patterns], { cwd: folder })) {
    const path = join(folder, name);
    // Skip deleted files and links without a target.
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    // SQLite writes changes to the write-ahead log first, so its time counts too.
    const log = name.endsWith('.db') ? await stat(`${path}-wal`).catch(() => undefined) : undefined;
    sessions.push({ path, modifiedAtMs: Math.max(stats.mtimeMs, log?.mtimeMs ?? 0) });
  }
  return sessions.sort((a, b) => b.modifiedAtMs - a.modifiedAtMs);
}

/** Yields the files of sessions, and those of their subagents that changed since `sinceMs`. */
export async function* filesOfSessions(
  sessions: readonly FoundSession[],
  sinceMs: number,
): AsyncGenerator<FoundSource, void, void> {
  for (const session of sessions) {
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
