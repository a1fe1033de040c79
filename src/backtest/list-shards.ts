import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { hashText } from '../base/hash.ts';
import { findSources } from '../formats/find-sources.ts';
import { segmentsIn } from '../store/jsonl/jsonl-names.ts';
import { jsonlStore } from '../store/jsonl/jsonl-store.ts';
import { isRunFolderName } from '../store/jsonl/run-folder-name.ts';
import type { RunSummary } from '../store/run-summary.ts';
import { openSqliteReader } from '../store/sqlite/sqlite-reader.ts';
import type { TrajectoryStore } from '../store/trajectory-store.ts';

/** Part of the input that one worker reads at a time. Plain JSON. */
export type Shard =
  | { readonly kind: 'file'; readonly path: string; readonly named: boolean; readonly bytes: number }
  | {
      readonly kind: 'store';
      readonly path: string;
      readonly storeKind: StoreKind;
      readonly runs: readonly string[];
      /** Fingerprint of how far these runs are: it changes when one of them goes on. */
      readonly state: string;
    };

/** A kind of store that lies at a path. */
export type StoreKind = 'sqlite' | 'jsonl';

const RUNS_A_SHARD = 64;
const PAGE_RUNS = 1000;
const SQLITE_MAGIC = 'SQLite format 3\0';

/**
 * What to read, in a fixed order: stores in pieces of 64 runs, the last one that started first; anything else file by file.
 *
 * @param paths stores (a SQLite file, a folder of a jsonl store), files, folders, globs, or `-`
 * @throws CoxswainError as opening and listing a store
 */
export async function listShards(paths: readonly string[]): Promise<readonly Shard[]> {
  const shards: Shard[] = [];
  for (const path of paths) {
    const storeKind = await storeKindAt(path);
    if (storeKind !== undefined) shards.push(...(await storeShards(path, storeKind)));
    else shards.push(...(await fileShards(path)));
  }
  return shards;
}

/** Opens the store at this path for reading only: nothing in its folder moves. */
export function openStoreAt(path: string, kind: StoreKind): Pick<TrajectoryStore, 'listRuns' | 'readRun' | 'close'> {
  return kind === 'jsonl' ? jsonlStore(path) : openSqliteReader(path);
}

async function fileShards(path: string): Promise<readonly Shard[]> {
  const shards: Shard[] = [];
  for await (const found of findSources([path])) {
    // A pipe or device met in a folder would be waited for.
    if (!found.named && found.sizeBytes === undefined) continue;
    const storeKind = found.path === '-' ? undefined : await storeKindAt(found.path);
    if (storeKind !== undefined) shards.push(...(await storeShards(found.path, storeKind)));
    else shards.push({ kind: 'file', path: found.path, named: found.named, bytes: found.sizeBytes ?? 0 });
  }
  return shards;
}

async function storeShards(path: string, storeKind: StoreKind): Promise<readonly Shard[]> {
  const store = openStoreAt(path, storeKind);
  const runs: RunSummary[] = [];
  try {
    let after: string | undefined;
    do {
      const page = await store.listRuns(after === undefined ? { limit: PAGE_RUNS } : { limit: PAGE_RUNS, after });
      runs.push(...page.runs);
      after = page.next;
    } while (after !== undefined);
  } finally {
    await store.close();
  }
  const shards: Shard[] = [];
  for (let from = 0; from < runs.length; from += RUNS_A_SHARD) {
    const some = runs.slice(from, from + RUNS_A_SHARD);
    shards.push({ kind: 'store', path, storeKind, runs: some.map(({ runId }) => runId), state: stateOf(some) });
  }
  return shards;
}

function stateOf(runs: readonly RunSummary[]): string {
  return hashText(
    JSON.stringify(runs.map(({ lastAtMs, lastSeq, records, runId }) => [runId, records, lastSeq, lastAtMs])),
  );
}

/** The kind of the store at a path; undefined where none is. */
export async function storeKindAt(path: string): Promise<StoreKind | undefined> {
  if (path === '-') return undefined;
  try {
    const names = await readdir(path);
    const folder = names.find(isRunFolderName);
    if (folder === undefined) return undefined;
    return segmentsIn(await readdir(join(path, folder))).length > 0 ? 'jsonl' : undefined;
  } catch {
    return (await beginsAsSqlite(path)) ? 'sqlite' : undefined;
  }
}

async function beginsAsSqlite(path: string): Promise<boolean> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE_MAGIC.length), 0, SQLITE_MAGIC.length, 0);
      return buffer.toString('latin1', 0, bytesRead) === SQLITE_MAGIC;
    } finally {
      await file.close();
    }
  } catch {
    // Reading it as a file tells the reason.
    return false;
  }
}
