import type { CheckedBatch, EncodedRecord } from '../check-batch.ts';
import type { LineBuffer } from './jsonl-line.ts';
import type { RunProgress } from './jsonl-progress.ts';
import { readRunLines } from './jsonl-read-run.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import type { OpenRun } from './jsonl-open-run.ts';
import { planAppend } from '../plan-append.ts';
import type { AppendPlan } from '../plan-append.ts';
import type { RunSummary } from '../run-summary.ts';
import { toStoreError } from '../store-error.ts';

/** An append that waits for its turn. */
export interface AppendJob {
  readonly checked: CheckedBatch;
  /** Its lines, where they are made already: a buffer of `spare`. */
  readonly ahead: LineBuffer | undefined;
  readonly resolve: (lastSeq: number) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Lines that are ready to be written, and how far the run has come with them. */
interface PreparedWrite {
  readonly spot: ReturnType<OpenRun['tail']['spotFor']>;
  readonly lineCount: number;
  readonly progress: RunProgress;
}

/**
 * Writes appends as one: one that does not fit the run is rejected by itself, the others are stored or fail together. Where
 * nothing has to be read or opened first, the write is under way when this returns its promise.
 *
 * @returns settles the appends that were written
 */
export async function appendGroup(open: OpenRun, jobs: readonly AppendJob[]): Promise<() => void> {
  const { lines } = open;
  const fresh: EncodedRecord[] = [];
  const planned: { readonly job: AppendJob; readonly lastSeq: number }[] = [];
  let summary = open.progress?.summary;
  lines.start();
  for (const job of jobs) {
    try {
      const planning = planFor(open, job.checked, { summary, waiting: fresh });
      // Nothing is waited for where nothing has to be read: the disk is idle now.
      const plan = planning instanceof Promise ? await planning : planning;
      if (job.ahead === undefined || plan.fresh.length < job.checked.records.length) lines.add(plan.fresh);
      else lines.join(job.ahead);
      fresh.push(...plan.fresh);
      summary = plan.summary;
      planned.push({ job, lastSeq: plan.summary.lastSeq });
    } catch (thrown) {
      job.reject(toStoreError(thrown, `append to ${open.run.folder}`));
    }
    if (job.ahead !== undefined) open.spare.push(job.ahead);
  }
  try {
    const prepared = prepareWrite(open, fresh, summary);
    if (prepared !== undefined) await writePrepared(open, prepared);
  } catch (thrown) {
    const fault = toStoreError(thrown, `append to ${open.run.folder}`);
    return () => {
      for (const { job } of planned) job.reject(fault);
    };
  }
  return () => {
    for (const { job, lastSeq } of planned) job.resolve(lastSeq);
  };
}

/**
 * Decides what of a batch is new.
 *
 * @param before  the run's summary with the records that wait to be written, and those records
 * @throws CoxswainError as `planAppend`; what the file system throws
 */
function planFor(
  open: OpenRun,
  batch: CheckedBatch,
  before: { readonly summary: RunSummary | undefined; readonly waiting: readonly EncodedRecord[] },
): AppendPlan | Promise<AppendPlan> {
  const waiting = (seq: number): string | undefined => before.waiting.find((record) => record.seq === seq)?.json;
  const storedSeq = open.progress?.summary.lastSeq ?? -1;
  if (batch.firstSeq > storedSeq) return planAppend(batch, before.summary, waiting);
  return storedBetween(open.run, batch.firstSeq, batch.lastSeq).then((stored) =>
    planAppend(batch, before.summary, (seq) => stored.get(seq) ?? waiting(seq)),
  );
}

/**
 * Where the lines in the buffer go, and how far the run is with them; undefined when there are none.
 *
 * @param fresh  the records in the buffer, the last one in the last line
 */
function prepareWrite(
  { tail, lines }: Pick<OpenRun, 'tail'> & { readonly lines: LineBuffer },
  fresh: readonly EncodedRecord[],
  summary: RunSummary | undefined,
): PreparedWrite | undefined {
  const first = fresh[0];
  if (first === undefined || summary === undefined) return undefined;
  const spot = tail.spotFor(lines.bytes.length, first.seq);
  const place = {
    segmentSeq: spot.segmentSeq,
    startOffset: spot.offset + lines.lastLineAt,
    endOffset: spot.offset + lines.bytes.length,
    line: spot.lines + fresh.length,
    crc: lines.lastCrc,
  };
  return { spot, lineCount: fresh.length, progress: { place, summary } };
}

/** Stores what was prepared. Throws what the file system throws; nothing is stored then. */
async function writePrepared(open: OpenRun, prepared: PreparedWrite): Promise<void> {
  await open.tail.write(open.lines, prepared.lineCount, prepared.spot);
  open.progress = prepared.progress;
}

/** The JSON of a run's records from one `seq` to another, both included. Cost: reads from the start of a segment. */
async function storedBetween(run: RunFiles, fromSeq: number, throughSeq: number): Promise<ReadonlyMap<number, string>> {
  const stored = new Map<number, string>();
  for await (const lines of readRunLines(run, { fromSeq })) {
    for (const { record, json } of lines) {
      if (record.seq > throughSeq) return stored;
      if (record.seq >= fromSeq) stored.set(record.seq, json);
    }
  }
  return stored;
}
