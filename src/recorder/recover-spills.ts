import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CoxswainError } from '../base/error.ts';
import { isRunning } from '../base/process-identity.ts';
import { parseRecord } from '../records/decode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { nodeFileSystem } from '../store/file-system.ts';
import { readLines } from '../store/jsonl/read-lines.ts';
import { MAX_BATCH_RECORDS, type TrajectorySink } from '../store/trajectory-store.ts';
import { expectedSeqOf } from './append-fault.ts';
import { gapFor } from './gap-record.ts';
import { leftBy } from './spill.ts';

/** What became of the files that crashed processes left. */
export interface SpillRecovery {
  readonly files: number;
  /** Records that the sink has now; some may have been there before. */
  readonly records: number;
  /** Records that the sink refused, or that were torn. */
  readonly refused: number;
}

/**
 * Stores what processes that are gone have left in spill files, and deletes the files. What a run lost before its
 * spilled records becomes a gap. A run that has gone on without them is left as it is, and they count as refused.
 *
 * @throws CoxswainError as `append`, for a fault of the medium; the files are still there then
 */
export async function recoverSpills(folder: string, sink: TrajectorySink): Promise<SpillRecovery> {
  let total: SpillRecovery = { files: 0, records: 0, refused: 0 };
  for (const path of await takeLeft(folder)) {
    const { records, refused } = await recoverFile(path, sink);
    await rm(path, { force: true });
    total = { files: total.files + 1, records: total.records + records, refused: total.refused + refused };
  }
  return total;
}

/** Of two processes that find the same file, one can rename it. */
async function takeLeft(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const taken: string[] = [];
  for (const name of names) {
    const pid = leftBy(name);
    if (pid === undefined || (pid !== process.pid && isRunning(pid))) continue;
    // Still a name that a later process takes for one that was left, should this one crash.
    const path = join(folder, name.replace(/^coxswain-spill-\d+/, `coxswain-spill-${process.pid}`));
    if (path === join(folder, name) || (await renamed(join(folder, name), path))) taken.push(path);
  }
  return taken;
}

async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch {
    return false;
  }
}

async function recoverFile(
  path: string,
  sink: TrajectorySink,
): Promise<{ readonly records: number; readonly refused: number }> {
  const waiting = new Map<string, TrajectoryRecord[]>();
  const closedRuns = new Set<string>();
  let records = 0;
  let refused = 0;
  const write = async (runId: string): Promise<void> => {
    const batch = waiting.get(runId) ?? [];
    waiting.delete(runId);
    if (batch.length > 0 && !closedRuns.has(runId) && (await appended(sink, batch))) records += batch.length;
    else {
      closedRuns.add(runId);
      refused += batch.length;
    }
  };
  for await (const record of recordsIn(path)) {
    if (record === undefined) {
      refused += 1;
      continue;
    }
    const runId = record.run_id ?? '';
    const batch = waiting.get(runId) ?? [];
    const last = batch.at(-1);
    if (last !== undefined && last.seq >= record.seq) continue;
    batch.push(record);
    waiting.set(runId, batch);
    if (batch.length >= MAX_BATCH_RECORDS) await write(runId);
    else if (waiting.size > MAX_BATCH_RECORDS) for (const id of waiting.keys()) await write(id);
  }
  for (const runId of waiting.keys()) await write(runId);
  return { records, refused };
}

/** The record of each line; undefined for a line that holds none. */
async function* recordsIn(path: string): AsyncGenerator<TrajectoryRecord | undefined, void, void> {
  // Not `node:readline`: it also ends a line at characters that stand in the texts of records.
  for await (const lines of readLines(nodeFileSystem.read(path, 0), 0))
    for (const { bytes } of lines) yield recordIn(bytes.toString());
}

function recordIn(line: string): TrajectoryRecord | undefined {
  try {
    return parseRecord(line);
  } catch {
    return undefined;
  }
}

/** @returns false when the sink holds something else there, or refuses the records as such */
async function appended(sink: TrajectorySink, batch: readonly TrajectoryRecord[]): Promise<boolean> {
  try {
    await sink.append(batch);
    return true;
  } catch (error) {
    const first = batch[0];
    const expected = expectedSeqOf(error);
    if (first !== undefined && expected !== undefined && expected < first.seq) {
      await sink.append([gapFor(first, 'lost in a crash', { fromSeq: expected, throughSeq: first.seq - 1 })]);
      return appended(sink, batch);
    }
    if (error instanceof CoxswainError && error.code !== 'store-io' && error.code !== 'store-closed') return false;
    throw error;
  }
}
