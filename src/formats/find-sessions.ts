import { glob, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { FormatName } from './import-item.ts';

/** What says where the agent programs of a user keep their sessions. */
export interface SessionPlaces {
  /** The user's home folder. */
  readonly home: string;
  /** The environment: each program has a variable that moves its folder. An empty one counts as none. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An agent program, and where it keeps its sessions. */
interface SessionHost {
  readonly format: FormatName;
  readonly title: string;
  /** Its folder. */
  readonly folder: (places: SessionPlaces) => string;
  /** Where in it sessions lie. */
  readonly sessions: readonly string[];
}

/** Every agent program whose sessions are found. Folders, names and variables are those of the programs as of November 2026. */
const SESSION_HOSTS: readonly SessionHost[] = [
  {
    format: 'claude-code',
    title: 'Claude Code',
    folder: ({ home, env }) => env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'),
    sessions: ['projects/*/*.jsonl'],
  },
  {
    format: 'codex',
    title: 'Codex',
    folder: ({ home, env }) => env['CODEX_HOME'] || join(home, '.codex'),
    sessions: ['sessions/**/rollout-*.jsonl{,.zst}', 'archived_sessions/**/rollout-*.jsonl{,.zst}'],
  },
  {
    format: 'copilot',
    title: 'Copilot CLI',
    folder: ({ home, env }) => env['COPILOT_HOME'] || join(home, '.copilot'),
    sessions: ['session-state/*/events.jsonl'],
  },
  {
    format: 'gemini',
    title: 'Gemini CLI',
    folder: ({ home, env }) => join(env['GEMINI_CLI_HOME'] || home, '.gemini'),
    sessions: ['tmp/*/chats/**/*.{json,jsonl}'],
  },
  {
    format: 'opencode',
    title: 'opencode',
    folder: ({ home, env }) => join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode'),
    sessions: ['opencode*.db', 'storage/session/*/ses_*.json'],
  },
  {
    format: 'pi',
    title: 'pi',
    folder: ({ home, env }) => env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent'),
    sessions: ['sessions/**/*.jsonl'],
  },
];

/** The folder where an agent program keeps its own files; that of the user for a program that is not known. */
export function hostFolder(format: string, places: SessionPlaces): string {
  return SESSION_HOSTS.find((host) => host.format === format)?.folder(places) ?? places.home;
}

/** What an agent program is called; a program that is not known by the name it was given. */
export function hostTitle(format: string): string {
  return SESSION_HOSTS.find((host) => host.format === format)?.title ?? format;
}

/** A file with sessions of one agent program. */
export interface FoundSession {
  readonly path: string;
  readonly modifiedAtMs: number;
}

/** What was found of one agent program. */
export interface HostSessions {
  readonly format: FormatName;
  /** The program's name. */
  readonly title: string;
  /** The folder that was looked at. */
  readonly folder: string;
  readonly sessions: readonly FoundSession[];
}

/**
 * Finds the session files of every known agent program, the newest of each first. A program that is not installed has none.
 *
 * Cost: lists the folders, and one `stat` a session.
 */
export async function findSessions(places: SessionPlaces): Promise<readonly HostSessions[]> {
  return Promise.all(
    SESSION_HOSTS.map(async ({ format, title, folder, sessions }) => {
      const root = folder(places);
      return { format, title, folder: root, sessions: await sessionsIn(root, sessions) };
    }),
  );
}

async function sessionsIn(folder: string, patterns: readonly string[]): Promise<readonly FoundSession[]> {
  const found: FoundSession[] = [];
  for await (const name of glob([...patterns], { cwd: folder })) {
    const path = join(folder, name);
    // A file that was deleted meanwhile, or a link to nothing.
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    // A database is written to its log first.
    const log = name.endsWith('.db') ? await stat(`${path}-wal`).catch(() => undefined) : undefined;
    found.push({ path, modifiedAtMs: Math.max(stats.mtimeMs, log?.mtimeMs ?? 0) });
  }
  return found.sort((a, b) => b.modifiedAtMs - a.modifiedAtMs);
}
