import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sourceTimeMs } from '../parts/source-content.ts';
import { LruMap } from '../../core/base/lru-map.ts';

const HEAD_BYTES = 262_144;
const AGENT_HEAD_BYTES = 32_768;
const CHUNK_BYTES = 1_048_576;
const UUID_MEMBER = '"uuid":"';
const MAX_UUID_CHARS = 64;
const SESSION_FILE = /^(?!agent-).+\.jsonl$/;
/** An agent for a compaction or a side question, whose file begins with a copy of its session: `agent-acompact-f2bf321a.jsonl`. */
const FORKED_AGENT = /^agent-a[a-z_]+-[\da-f]+\.jsonl$/;

interface Head {
  readonly session: string;
  readonly firstEntry: string;
  /** When the file was made: a copy keeps the times of its entries, but the lines before them are new. */
  readonly madeAtMs: number;
}

/** The first lines of a file never change. */
const heads = new LruMap<Head>(10_000);

/**
 * The ids of all entries that stand in an earlier session too. A session that is resumed under a new id begins with
 * the entries of the session before, under the new session's id (seen in Claude Code 2.1.205 to 2.1.219). No entry
 * names the old one, so they are known by their ids only. Empty unless the file was made after its first entry. Cost
 * then: the first 256 kB of the folder's session files that were written later, once per process, and the earlier
 * sessions whole. The file of a forked agent begins with the entries of its session, which is read whole too.
 *
 * @param firstMs  time of the first entry, in Unix milliseconds
 */
export function earlierEntries(path: string, firstMs: number): ReadonlySet<string> {
  const entries = new Set<string>();
  try {
    if (FORKED_AGENT.test(basename(path))) addEntries(`${dirname(dirname(path))}.jsonl`, entries);
    if (!SESSION_FILE.test(basename(path))) return entries;
    const own = headOf(path);
    if (own === undefined || own.madeAtMs <= firstMs) return entries;
    for (const name of readdirSync(dirname(path))) {
      const file = join(dirname(path), name);
      if (name === basename(path) || !SESSION_FILE.test(name)) continue;
      if (statSync(file).mtimeMs < firstMs) continue;
      const head = headOf(file);
      if (head?.firstEntry !== own.firstEntry || head.session === own.session) continue;
      if (head.madeAtMs < own.madeAtMs) addEntries(file, entries);
    }
  } catch {
    // A file that cannot be read holds nothing that could be known from it.
  }
  return entries;
}

/**
 * Leaves out the files of which another one holds all entries: a subagent of a team that is resumed gets a new file, which
 * begins with those of the file before. Cost: the first 32 kB of each file, and those that begin alike whole.
 */
export function withoutCopies(files: readonly string[]): readonly string[] {
  if (files.length < 2) return files;
  const copies = new Set<string>();
  for (const [first, same] of Map.groupBy(files, firstEntryOf)) {
    if (first === undefined || same.length < 2) continue;
    const entries = new Map(same.map((file) => [file, new Set<string>()]));
    try {
      for (const [file, own] of entries) addEntries(file, own);
    } catch {
      // One that is gone meanwhile holds nothing.
    }
    for (const [file, own] of entries) if ([...entries.values()].some((other) => isPart(own, other))) copies.add(file);
  }
  return files.filter((file) => !copies.has(file));
}

function isPart(own: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return own.size < other.size && [...own].every((entry) => other.has(entry));
}

function firstEntryOf(path: string): string | undefined {
  try {
    const [first] = chunksOf(path, AGENT_HEAD_BYTES);
    return /"uuid":"([^"]{1,64})"/.exec(first?.toString('latin1') ?? '')?.[1];
  } catch {
    return undefined;
  }
}

function headOf(path: string): Head | undefined {
  const known = heads.get(path);
  if (known !== undefined) return known;
  const [first] = chunksOf(path, HEAD_BYTES);
  const text = first?.toString('utf8') ?? '';
  const [, firstEntry] = /"uuid":"([^"]{1,64})"/.exec(text) ?? [];
  const [, session] = /"sessionId":"([^"]{1,64})"/.exec(text) ?? [];
  const madeAtMs = sourceTimeMs(/"timestamp":"([^"]{1,64})"/.exec(text)?.[1]);
  if (firstEntry === undefined || session === undefined || madeAtMs === undefined) return undefined;
  const head = { firstEntry, session, madeAtMs };
  heads.set(path, head);
  return head;
}

function addEntries(path: string, entries: Set<string>): void {
  for (const chunk of chunksOf(path, CHUNK_BYTES)) {
    for (let at = chunk.indexOf(UUID_MEMBER); at !== -1; at = chunk.indexOf(UUID_MEMBER, at + 1)) {
      const from = at + UUID_MEMBER.length;
      const end = chunk.indexOf('"', from);
      // Decoded from the bytes: a part of a long text would keep the text in memory.
      if (end > from && end - from <= MAX_UUID_CHARS) entries.add(chunk.toString('latin1', from, end));
    }
  }
}

/** Each chunk begins with the end of the one before, so that an id between two is found. */
function* chunksOf(path: string, bytes: number): Generator<Buffer> {
  const overlap = UUID_MEMBER.length + MAX_UUID_CHARS + 1;
  const file = openSync(path, 'r');
  try {
    for (let position = 0; ; position += bytes - overlap) {
      const buffer = Buffer.alloc(bytes);
      const length = readSync(file, buffer, 0, bytes, position);
      yield buffer.subarray(0, length);
      if (length < bytes) return;
    }
  } finally {
    closeSync(file);
  }
}
