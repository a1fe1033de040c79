import { present } from '../core/base/json.ts';
import { CoxswainError, messageOf } from '../core/base/error.ts';
import type { TrajectoryRecord } from '../core/records/trajectory-record.ts';
import { importGroups } from '../formats/import-source.ts';
import { readRunGroups, type ReadRunsItem } from '../formats/read-runs.ts';
import { RunIds } from '../formats/run-ids.ts';
import { openStoreReader } from '../stores/registry/open-store.ts';
import { shownSource, type Shard } from './list-shards.ts';
import type { ShardProblem } from './run-row.ts';

/** Receives read errors. Reading continues with the rest of the input. */
export type OnReadProblem = (problem: ShardProblem) => void;

/** What takes the runs of a shard. The records of one run are in order. A file may interleave several runs. */
export interface ShardReader {
  record(run: string, record: TrajectoryRecord): void;
  end(run: string): void;
  problem: OnReadProblem;
}

/** @param ids  counts the runs with the id of an earlier run; such a run gets a suffix */
export async function readShard(shard: Shard, reader: ShardReader, ids: RunIds = new RunIds()): Promise<void> {
  const path = shownSource(shard);
  const fail = (error: unknown, run?: string): void => {
    const { line } = error instanceof CoxswainError ? error.details : {};
    const text = messageOf(error);
    // The errors of importers already contain the path.
    const message = text.startsWith(`${path}: `) ? text.slice(path.length + 2) : text;
    reader.problem({
      path,
      message: run === undefined ? message : `run ${run}: ${message}`,
      ...(typeof line === 'number' ? { line } : {}),
    });
  };
  try {
    if (shard.kind === 'store') await readStored(shard, { reader, ids, fail });
    else
      for await (const items of readRunGroups(importGroups(shard.path), { source: shard.path, ids }))
        takeItems(items, reader, path);
  } catch (error) {
    // A file in a folder that is not a trajectory is not a problem.
    const isForeign = error instanceof CoxswainError && error.code === 'format-unknown';
    if (!isForeign || shard.kind === 'store' || shard.named) fail(error);
  }
}

async function readStored(
  { address, runs }: Extract<Shard, { readonly kind: 'store' }>,
  {
    fail,
    ids,
    reader,
  }: { readonly reader: ShardReader; readonly ids: RunIds; readonly fail: (error: unknown, run: string) => void },
): Promise<void> {
  const store = await openStoreReader(address);
  try {
    for (const id of runs) {
      const run = ids.take(id);
      try {
        for await (const record of store.readRun(id)) reader.record(run, record);
      } catch (error) {
        fail(error, id);
      }
      reader.end(run);
    }
  } finally {
    await store.close();
  }
}

/** A separate function because V8 would deoptimise the loop at every await. */
function takeItems(items: Iterable<ReadRunsItem>, reader: ShardReader, path: string): void {
  for (const item of items) {
    if (item.type === 'record') reader.record(item.run.id, item.record);
    else if (item.type === 'end') reader.end(item.run.id);
    else if (item.diagnostic.severity === 'error') {
      const { line, message } = item.diagnostic;
      reader.problem({ path, message, ...present({ line }) });
    }
  }
}
