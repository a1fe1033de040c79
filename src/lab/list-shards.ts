import { allRuns } from '../core/store/run-page.ts';
import { hashText } from '../core/base/hash.ts';
import { findSources } from '../formats/find-sources.ts';
import { openStoreReader, storeKindAt } from '../stores/registry/open-store.ts';
import { shownAddress } from '../stores/store-address.ts';
import type { RunSummary } from '../core/facts/run-summary.ts';

/** A part of the input that one worker reads. Plain JSON. */
export type Shard =
  | { readonly kind: 'file'; readonly path: string; readonly named: boolean; readonly bytes: number }
  | {
      readonly kind: 'store';
      /** The address of the store, including its password, if any. */
      readonly address: string;
      readonly runs: readonly string[];
      /** A fingerprint of the runs' progress. It changes when a run continues. */
      readonly state: string;
    };

export function shownSource(shard: Shard): string {
  return shard.kind === 'file' ? shard.path : shownAddress(shard.address);
}

const RUNS_A_SHARD = 64;

/** Runs of a store by 64, latest first; else a shard per file. Throws CoxswainError as opening and listing a store. */
export async function listShards(paths: readonly string[]): Promise<readonly Shard[]> {
  const shards: Shard[] = [];
  for (const path of paths) {
    if ((await storeKindAt(path)) !== undefined) shards.push(...(await storeShards(path)));
    else shards.push(...(await fileShards(path)));
  }
  return shards;
}

async function fileShards(path: string): Promise<readonly Shard[]> {
  const shards: Shard[] = [];
  for await (const source of findSources([path])) {
    // Opening a pipe or device in a folder would block.
    if (!source.named && source.sizeBytes === undefined) continue;
    if ((await storeKindAt(source.path)) !== undefined) shards.push(...(await storeShards(source.path)));
    else shards.push({ kind: 'file', path: source.path, named: source.named, bytes: source.sizeBytes ?? 0 });
  }
  return shards;
}

async function storeShards(address: string): Promise<readonly Shard[]> {
  const store = await openStoreReader(address);
  const runs: RunSummary[] = [];
  try {
    for await (const run of allRuns(store)) runs.push(run);
  } finally {
    await store.close();
  }
  const shards: Shard[] = [];
  for (let start = 0; start < runs.length; start += RUNS_A_SHARD) {
    const shardRuns = runs.slice(start, start + RUNS_A_SHARD);
    shards.push({ kind: 'store', address, runs: shardRuns.map(({ runId }) => runId), state: stateOf(shardRuns) });
  }
  return shards;
}

function stateOf(runs: readonly RunSummary[]): string {
  return hashText(
    JSON.stringify(runs.map(({ lastAtMs, lastSeq, records, runId }) => [runId, records, lastSeq, lastAtMs])),
  );
}
