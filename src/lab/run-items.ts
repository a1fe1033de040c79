import { present } from '../core/base/json.ts';
import { CoxswainError, messageOf } from '../core/base/error.ts';
import type { TrajectoryRecord } from '../core/records/trajectory-record.ts';
import { importSource } from '../formats/import-source.ts';
import { readRuns } from '../formats/read-runs.ts';
import { RunIds } from '../formats/run-ids.ts';
import { openStoreReader } from '../stores/registry/open-store.ts';
import { listShards, shownSource, type Shard } from './list-shards.ts';
import type { ShardProblem } from './run-row.ts';

/** The next record of a run, or its end. The records of one run are in order. A file may interleave several runs. */
export type RunItem =
  | { readonly type: 'record'; readonly run: string; readonly record: TrajectoryRecord }
  | { readonly type: 'end'; readonly run: string };

/** Receives read errors. Reading continues with the rest of the input. */
export type OnReadProblem = (problem: ShardProblem) => void;

/** @param ids  counts the runs with the id of an earlier run; such a run gets a suffix */
export async function* runItems(
  paths: readonly string[],
  onProblem: OnReadProblem,
  ids: RunIds = new RunIds(),
): AsyncGenerator<RunItem, void, void> {
  for (const shard of await listShards(paths)) {
    try {
      yield* shard.kind === 'store' ? storeItems(shard, ids, onProblem) : fileItems(shard, ids, onProblem);
    } catch (error) {
      const { code, details = {} } = error instanceof CoxswainError ? error : {};
      // A file in a folder that is not a trajectory is not a problem.
      if (code === 'format-unknown' && shard.kind === 'file' && !shard.named) continue;
      const line = details['line'];
      const position = typeof line === 'number' ? { line } : {};
      const path = shownSource(shard);
      onProblem({ path, ...position, message: withoutPath(messageOf(error), path) });
    }
  }
}

async function* storeItems(
  shard: Extract<Shard, { readonly kind: 'store' }>,
  ids: RunIds,
  onProblem: OnReadProblem,
): AsyncGenerator<RunItem, void, void> {
  const { address, runs } = shard;
  const path = shownSource(shard);
  const store = await openStoreReader(address);
  try {
    for (const storedId of runs) {
      const run = ids.take(storedId);
      try {
        for await (const record of store.readRun(storedId)) yield { type: 'record', run, record };
      } catch (error) {
        onProblem({ path, message: `run ${storedId}: ${messageOf(error)}` });
      }
      yield { type: 'end', run };
    }
  } finally {
    await store.close();
  }
}

async function* fileItems(
  { path }: Extract<Shard, { readonly kind: 'file' }>,
  ids: RunIds,
  onProblem: OnReadProblem,
): AsyncGenerator<RunItem, void, void> {
  for await (const item of readRuns(importSource(path), { source: path, ids })) {
    if (item.type === 'diagnostic') {
      const { severity, message, line } = item.diagnostic;
      if (severity === 'error') onProblem({ path, message, ...present({ line }) });
    } else if (item.type === 'end') yield { type: 'end', run: item.run.id };
    else yield { type: 'record', run: item.run.id, record: item.record };
  }
}

/** Removes the path from a message, because the errors of importers already contain it. */
export function withoutPath(message: string, path: string): string {
  return message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}
