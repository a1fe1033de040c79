import { CoxswainError, messageOf } from '../../base/error.ts';
import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { readCheckpoint, storedBytesOf } from './jsonl-checkpoint.ts';
import { checkLine, jsonOfLine } from './jsonl-line.ts';
import { segmentsIn } from './jsonl-names.ts';
import type { Segment } from './jsonl-names.ts';
import type { LinePlace } from './jsonl-progress.ts';
import { namesIn, pathOf, segmentLines } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { findWholePart } from './jsonl-scan.ts';
import { lastSeqOf } from '../run-summary.ts';

/** A record as it lies in a run's folder. */
export interface StoredLine {
  readonly record: TrajectoryRecord;
  readonly json: string;
  readonly place: LinePlace;
}

/** Where to begin: after a line that was read before, or in the segment that holds a `seq`. */
export type ReadStart =
  | { readonly after: LinePlace; readonly lastSeq: number; readonly runId: string }
  | { readonly fromSeq: number };

/**
 * The records of a run in order, each checked to be as it was written and to continue the one before, a list at a
 * time. An append that is not there to its end is left out, unless the checkpoint says that it was stored. Never writes.
 *
 * Cost: the bytes from the start on; those of the last segment are looked at twice. Memory is about half a
 * megabyte and twice the largest record.
 *
 * @throws CoxswainError `invalid-record` or `schema-version`, naming file and line, at the first broken one; what
 *   the file system throws
 */
export async function* readRunLines(
  run: RunFiles,
  start: ReadStart,
): AsyncGenerator<readonly StoredLine[], void, void> {
  // Before the records: what it speaks of is there by then.
  const checkpoint = await readCheckpoint(run);
  const segments = segmentsIn(await namesIn(run));
  const first = startIndex(segments, start);
  const follow = new RecordOrder(start, segments[first]?.firstSeq ?? 0);
  for (const [index, segment] of segments.entries()) {
    if (index < first) continue;
    follow.beginSegment(run, segment);
    const after = 'after' in start && start.after.segmentSeq === segment.firstSeq ? start.after : undefined;
    const storedBytes = storedBytesOf(segment, checkpoint);
    const from = { offset: after?.endOffset ?? 0, lines: after?.line ?? 0, storedBytes };
    yield* readSegment(run, { segment, isLast: index === segments.length - 1, from, follow });
  }
  const storedSeq = checkpoint?.summary.lastSeq ?? -1;
  if (follow.lastSeq >= storedSeq || (await readCheckpoint(run))?.place.crc !== checkpoint?.place.crc) return;
  const last = segments.at(-1);
  const lost = damaged(`record ${storedSeq} was stored, and the run ends with record ${follow.lastSeq}`);
  throw located(last === undefined ? run.folder : pathOf(run, last.name), lost);
}

/** True when what `readRunLines` threw says that the run is broken at a place, not that the file system refused. */
export function isDamage(thrown: unknown): boolean {
  return thrown instanceof CoxswainError && (thrown.code === 'invalid-record' || thrown.code === 'schema-version');
}

interface SegmentRead {
  readonly segment: Segment;
  readonly isLast: boolean;
  readonly from: Parameters<typeof findWholePart>[2];
  readonly follow: RecordOrder;
}

async function* readSegment(run: RunFiles, read: SegmentRead): AsyncGenerator<readonly StoredLine[], void, void> {
  const { segment, from, follow } = read;
  const path = pathOf(run, segment.name);
  const part = read.isLast && !segment.isCompressed ? await findWholePart(run, segment, from) : undefined;
  const range = { fromOffset: from.offset, ...(part !== undefined && { toOffset: part.wholeBytes }) };
  let lineNumber = from.lines;
  let isOpenBatch = false;
  const chunks = segmentLines(run, segment, range);
  for (;;) {
    const next = await nextChunk(chunks, path, segment);
    if (next === undefined) break;
    const found: StoredLine[] = [];
    let fault: CoxswainError | undefined;
    for (const { bytes, startOffset, endOffset, isComplete } of next) {
      lineNumber += 1;
      const checked = isComplete ? checkLine(bytes) : undefined;
      try {
        if (checked === undefined) throw damaged('the line is not as it was written (its check does not agree)');
        const json = jsonOfLine(checked);
        const record = follow.take(json);
        const place = { segmentSeq: segment.firstSeq, startOffset, endOffset, line: lineNumber, crc: checked.crc };
        found.push({ record, json, place });
        isOpenBatch = checked.hasMore;
      } catch (thrown) {
        if (!(thrown instanceof CoxswainError)) throw thrown;
        fault = located(`${path}, line ${lineNumber}`, thrown);
        break;
      }
    }
    if (found.length > 0) yield found;
    if (fault !== undefined) throw fault;
  }
  if (part?.damagedLine !== undefined) {
    const what = damaged('the line is not as it was written, and it was stored');
    throw located(`${path}, line ${part.damagedLine}`, what);
  }
  if (isOpenBatch) throw located(`${path}, line ${lineNumber + 1}`, damaged('the append before it is not complete'));
}

async function nextChunk<Item>(
  chunks: AsyncGenerator<Item, void, void>,
  path: string,
  segment: Segment,
): Promise<Item | undefined> {
  try {
    const next = await chunks.next();
    return next.done === true ? undefined : next.value;
  } catch (thrown) {
    if (!segment.isCompressed || !isPacked(thrown)) throw thrown;
    throw located(path, damaged(`the file cannot be decompressed: ${messageOf(thrown)}`));
  }
}

/** True for what the decompressor throws, not the file system. */
function isPacked(thrown: unknown): boolean {
  return thrown instanceof Error && !('syscall' in thrown);
}

function startIndex(segments: readonly Segment[], start: ReadStart): number {
  const wanted = 'after' in start ? start.after.segmentSeq : start.fromSeq;
  const index = segments.findLastIndex(({ firstSeq }) => firstSeq <= wanted);
  return Math.max(0, index);
}

/** Checks that each record continues the one before. */
class RecordOrder {
  #runId: string | undefined;
  #lastSeq: number;

  get lastSeq(): number {
    return this.#lastSeq;
  }

  constructor(start: ReadStart, firstSeq: number) {
    this.#runId = 'after' in start ? start.runId : undefined;
    // A run that is read from its start begins at 0, whatever its first file is called.
    this.#lastSeq = 'after' in start ? start.lastSeq : start.fromSeq < firstSeq ? -1 : firstSeq - 1;
  }

  beginSegment(run: RunFiles, segment: Segment): void {
    if (segment.firstSeq <= this.#lastSeq || segment.firstSeq === this.#lastSeq + 1) return;
    const hole = damaged(`seq ${this.#lastSeq + 1} to ${segment.firstSeq - 1} are missing before this file`);
    throw located(pathOf(run, segment.name), hole);
  }

  take(json: string): TrajectoryRecord {
    const record = parseRecord(json);
    const runId = (this.#runId ??= record.run_id);
    if (runId === undefined) throw damaged('the record has no run_id');
    if (record.run_id !== runId) throw damaged('the record is of another run than the ones before');
    if (record.seq !== this.#lastSeq + 1) {
      throw damaged(`seq ${this.#lastSeq + 1} should follow, found ${record.seq}`);
    }
    this.#lastSeq = lastSeqOf(record);
    return record;
  }
}

function damaged(what: string): CoxswainError {
  return new CoxswainError('invalid-record', what);
}

function located(at: string, thrown: CoxswainError): CoxswainError {
  return new CoxswainError(thrown.code, `${at}: ${thrown.message}`, { details: thrown.details, cause: thrown });
}
