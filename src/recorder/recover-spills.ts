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
import { spillOwnerPid } from './spill.ts';

/** The result of recovering spill files of crashed processes. */
export interface SpillRecovery {
  readonly files: number;
  /** Number of records that are now in the sink. Some may have been there before. */
  readonly records: number;
  /** Number of records that the sink refused or that were incomplete. */
  readonly refused: number;
}

/**
 * Stores the records in spill files of processes that have exited, and deletes the files. Missing records before a run's
 * spilled records become a gap. If a run has continued without the spilled records, they count as refused.
 *
 * @throws CoxswainError as `append`, for an I/O fault; the files are then kept
 */
export async function recoverSpills(folder: string, sink: TrajectorySink): Promise<SpillRecovery> {
  let total: SpillRecovery = { files: 0, records: 0, refused: 0 };
  for (const path of await claimFiles(folder)) {
    const { records, refused } = await recoverFile(path, sink);
    await rm(path, { force: true });
    total = { files: total.files + 1, records: total.records + records, refused: total.refused + refused };
  }
  return total;
}

/** Claims files by renaming them. If several processes try, only one succeeds. */
async function claimFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const claimedPaths: string[] = [];
  for (const name of names) {
    const pid = spillOwnerPid(name);
    if (pid === undefined || (pid !== process.pid && isRunning(pid))) continue;
    // If this process crashes, a later process recognises the new name.
    const path = join(folder, name.replace(/^coxswain-spill-\d+/, `coxswain-spill-${process.pid}`));
    if (path === join(folder, name) || (await tryRename(join(folder, name), path))) claimedPaths.push(path);
  }
  return claimedPaths;
}

async function tryRename(from: string, to: string): Promise<boolean> {
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
  const batches = new Map<string, TrajectoryRecord[]>();
  const closedRuns = new Set<string>();
  let records = 0;
  let refused = 0;
  const writeRun = async (runId: string): Promise<void> => {
    const batch = batches.get(runId) ?? [];
    batches.delete(runId);
    if (batch.length > 0 && !closedRuns.has(runId) && (await tryAppend(sink, batch))) records += batch.length;
    else {
      closedRuns.add(runId);
      refused += batch.length;
    }
  };
  for await (const record of readRecords(path)) {
    if (record === undefined) {
      refused += 1;
      continue;
    }
    const runId = record.run_id ?? '';
    const batch = batches.get(runId) ?? [];
    const last = batch.at(-1);
    if (last !== undefined && last.seq >= record.seq) continue;
    batch.push(record);
    batches.set(runId, batch);
    if (batch.length >= MAX_BATCH_RECORDS) await writeRun(runId);
    else if (batches.size > MAX_BATCH_RECORDS) for (const id of batches.keys()) await writeRun(id);
  }
  for (const runId of batches.keys()) await writeRun(runId);
  return { records, refused };
}

/** Yields the record of each line, or undefined for an invalid line. */
async function* readRecords(path: string): AsyncGenerator<TrajectoryRecord | undefined, void, void> {
  // The code does not use `node:readline`, because that also splits at Unicode line separators.
  for await (const lines of readLines(nodeFileSystem.read(path, 0), 0))
    for (const { bytes } of lines) yield tryParseRecord(bytes.toString());
}

function tryParseRecord(line: string): TrajectoryRecord | undefined {
  try {
    return parseRecord(line);
  } catch {
    return undefined;
  }
}

/** @returns false if the sink has other records there, or refuses these records */
async function tryAppend(sink: TrajectorySink, batch: readonly TrajectoryRecord[]): Promise<boolean> {
  try {
    await sink.append(batch);
    return true;
  } catch (error) {
    const first = batch[0];
    const expected = expectedSeqOf(error);
    if (first !== undefined && expected !== undefined && expected < first.seq) {
      await sink.append([gapFor(first, 'lost in a crash', { fromSeq: expected, throughSeq: first.seq - 1 })]);
      return tryAppend(sink, batch);
    }
    if (error instanceof CoxswainError && error.code !== 'store-io' && error.code !== 'store-closed') return false;
    throw error;
  }
}
