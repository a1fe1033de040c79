import { basename } from 'node:path';

import { CoxswainError, messageOf } from '../../base/error.ts';
import { parseRecord } from '../../records/decode-record.ts';
import { readCheckpoint, storedBytesOf } from './jsonl-checkpoint.ts';
import { checkLine, jsonOfLine } from './jsonl-line.ts';
import { segmentsIn } from './jsonl-names.ts';
import type { Segment } from './jsonl-names.ts';
import { namesIn, pathOf, segmentLines } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { findWholePart } from './jsonl-scan.ts';
import { runIdInFolderName } from './run-folder-name.ts';
import { lastSeqOf } from '../run-summary.ts';
import type { StoreProblem } from '../trajectory-store.ts';

/** What is known of a run while its lines are looked at. */
interface Reading {
  runId: string;
  nextSeq: number;
}

/**
 * Reads a whole run and gives all that is wrong, not only the first of it. Never writes. A line that is being written
 * right now looks like a torn one.
 */
export async function* verifyRun(run: RunFiles): AsyncGenerator<StoreProblem, void, void> {
  const reading: Reading = { runId: runIdInFolderName(basename(run.folder)), nextSeq: 0 };
  // Before the records: what it speaks of is there by then.
  const checkpoint = await readCheckpoint(run);
  const segments = segmentsIn(await namesIn(run));
  for (const [index, segment] of segments.entries()) {
    try {
      const storedBytes = storedBytesOf(segment, checkpoint);
      yield* verifySegment(run, reading, { segment, isLast: index === segments.length - 1, storedBytes });
    } catch (thrown) {
      const place = pathOf(run, segment.name);
      yield { runId: reading.runId, place, problem: `cannot be read to its end: ${messageOf(thrown)}` };
    }
  }
  const saved = checkpoint?.summary.lastSeq ?? -1;
  if (saved < reading.nextSeq) return;
  const problem = `records ${reading.nextSeq} to ${saved} were stored and are not there`;
  yield { runId: reading.runId, seq: reading.nextSeq, place: run.folder, problem };
}

async function* verifySegment(
  run: RunFiles,
  reading: Reading,
  {
    segment,
    isLast,
    storedBytes,
  }: { readonly segment: Segment; readonly isLast: boolean; readonly storedBytes: number },
): AsyncGenerator<StoreProblem, void, void> {
  const path = pathOf(run, segment.name);
  const start = { offset: 0, lines: 0, storedBytes };
  const part = isLast && !segment.isCompressed ? await findWholePart(run, segment, start) : undefined;
  // What is torn belongs to nobody; what is damaged is looked at line by line.
  const tornFrom = part === undefined || part.damagedLine !== undefined ? Infinity : part.wholeBytes;
  let line = 0;
  let isOpenBatch = false;
  for await (const lines of segmentLines(run, segment, { fromOffset: 0 })) {
    for (const { bytes, startOffset, isComplete } of lines) {
      line += 1;
      const place = `${path}, line ${line}`;
      const { runId } = reading;
      if (startOffset >= tornFrom) {
        const problem = `torn from byte ${tornFrom} on: an append that was never acknowledged; the next one cuts it off`;
        yield { runId, seq: reading.nextSeq, place, problem };
        return;
      }
      const checked = isComplete ? checkLine(bytes) : undefined;
      if (checked === undefined) {
        const problem = `the line at byte ${startOffset} is not as it was written (its check does not agree)`;
        yield { runId, seq: reading.nextSeq, place, problem };
      } else {
        isOpenBatch = checked.hasMore;
        yield* verifyRecord(reading, jsonOfLine(checked), place);
      }
    }
  }
  if (isOpenBatch) {
    yield { runId: reading.runId, place: `${path}, line ${line + 1}`, problem: 'the append before it is not complete' };
  }
}

function* verifyRecord(reading: Reading, json: string, place: string): Generator<StoreProblem, void, void> {
  try {
    const record = parseRecord(json);
    const { seq } = record;
    if (seq === 0 && record.run_id !== undefined) reading.runId = record.run_id;
    const { runId, nextSeq } = reading;
    if (record.run_id !== runId) {
      yield { runId, seq, place, problem: `the record is of run ${JSON.stringify(record.run_id)}` };
    }
    if (seq > nextSeq) yield { runId, seq: nextSeq, place, problem: `seq ${nextSeq} to ${seq - 1} are missing` };
    if (seq < nextSeq) yield { runId, seq, place, problem: `seq ${nextSeq} should follow, found ${seq}` };
    reading.nextSeq = Math.max(nextSeq, lastSeqOf(record) + 1);
  } catch (thrown) {
    if (!(thrown instanceof CoxswainError)) throw thrown;
    yield { runId: reading.runId, seq: reading.nextSeq, place, problem: thrown.message };
  }
}
