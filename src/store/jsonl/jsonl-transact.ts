import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { checkChange } from '../check-change.ts';
import type { CheckedChange } from '../check-change.ts';
import { planFor, prepareWrite, writePrepared } from './jsonl-group.ts';
import type { PreparedWrite } from './jsonl-group.ts';
import { snapshotName, snapshotsIn } from './jsonl-names.ts';
import { readRunLines } from './jsonl-read-run.ts';
import type { ReadStart } from './jsonl-read-run.ts';
import { namesIn } from './jsonl-run-files.ts';
import type { OpenRun } from './jsonl-open-run.ts';
import { findSnapshot, writeSnapshot } from './jsonl-snapshot.ts';
import type { SavedSnapshot } from './jsonl-snapshot.ts';
import { removeIfThere } from './jsonl-sealed-file.ts';
import { createStoredRun } from '../stored-run.ts';
import { toStoreError } from '../store-error.ts';
import type { RunChange, StoredRun } from '../trajectory-store.ts';

/** What a fold is stopped with when it asks for records that are not read yet. */
const MISSED_ARE_WANTED = Symbol('the missed records are wanted');

/**
 * One transaction on a run whose lock is held.
 *
 * A fold is synchronous and reading is not: the first time it asks for what it missed it is stopped, the records
 * are read, and it is called again.
 */
export async function transactOn<Result>(
  open: OpenRun,
  runId: string,
  fold: (view: StoredRun) => RunChange<Result>,
): Promise<Result> {
  const doing = `transact on ${open.run.folder}`;
  const { saved } = await doIo(doing, () => findSnapshot(open.run));
  const change = foldOnce(open, { runId, fold, saved, missed: undefined });
  const checked =
    change === MISSED_ARE_WANTED
      ? foldOnce(open, { runId, fold, saved, missed: await doIo(doing, () => readMissed(open, saved)) })
      : change;
  // With the records given, nothing asks for them again.
  if (checked === MISSED_ARE_WANTED) throw new Error('a fold asked twice for the same records');
  await doIo(doing, () => store(open, checked));
  return checked.result;
}

interface FoldCall<Result> {
  readonly runId: string;
  readonly fold: (view: StoredRun) => RunChange<Result>;
  readonly saved: SavedSnapshot | undefined;
  readonly missed: readonly TrajectoryRecord[] | undefined;
}

function foldOnce<Result>(
  open: OpenRun,
  { runId, fold, saved, missed }: FoldCall<Result>,
): CheckedChange<Result> | typeof MISSED_ARE_WANTED {
  let isWanted = false;
  const snapshot = saved && { coversSeq: coversSeqOf(saved), json: JSON.stringify(saved.snapshot) };
  const view = createStoredRun({ summary: open.progress?.summary, snapshot }, () => {
    if (missed !== undefined) return missed;
    isWanted = true;
    throw new Error('the records are not read yet; let this error pass, and the fold is called again');
  });
  try {
    const change = fold(view);
    return isWanted ? MISSED_ARE_WANTED : checkChange(runId, change);
  } catch (thrown) {
    if (isWanted) return MISSED_ARE_WANTED;
    throw thrown;
  }
}

async function store(open: OpenRun, { batch, snapshotJson }: CheckedChange<unknown>): Promise<void> {
  open.lines.start();
  let prepared: PreparedWrite | undefined;
  if (batch !== undefined) {
    const plan = await planFor(open, batch, { summary: open.progress?.summary, waiting: [] });
    open.lines.add(plan.fresh);
    prepared = prepareWrite(open, plan.fresh, plan.summary);
  }
  await open.tail.makeWhole();
  const before = snapshotsIn(await namesIn(open.run));
  const progress = prepared?.progress ?? open.progress ?? null;
  const written = snapshotJson === undefined ? undefined : snapshotName(progress?.summary.lastSeq ?? -1);
  if (snapshotJson !== undefined) {
    // From here on it may be there without its records, also when writing it fails.
    if (prepared !== undefined && written !== undefined) open.strayed = [...open.strayed, written];
    const writeOffset = prepared === undefined ? {} : { writeOffset: prepared.spot.offset };
    await writeSnapshot(open.run, snapshotJson, { progress, ...writeOffset });
  }
  if (prepared !== undefined) await writePrepared(open, prepared, written);
  // The one before holds no longer; who opens the run next removes what stays behind.
  if (written !== undefined) {
    for (const name of before) if (name !== written) await removeIfThere(open.run, name).catch(() => undefined);
  }
}

async function readMissed(open: OpenRun, saved: SavedSnapshot | undefined): Promise<readonly TrajectoryRecord[]> {
  const missed: TrajectoryRecord[] = [];
  for await (const lines of readRunLines(open.run, startAfter(saved))) {
    for (const { record } of lines) missed.push(record);
  }
  return missed;
}

function startAfter(saved: SavedSnapshot | undefined): ReadStart {
  const progress = saved?.progress ?? null;
  if (progress === null) return { fromSeq: 0 };
  return { after: progress.place, lastSeq: progress.summary.lastSeq, runId: progress.summary.runId };
}

function coversSeqOf({ progress }: SavedSnapshot): number {
  return progress?.summary.lastSeq ?? -1;
}

async function doIo<Result>(doing: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw toStoreError(thrown, doing);
  }
}
