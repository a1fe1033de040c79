import { present } from '../../../core/base/present.ts';
import { TRAJECTORY_SCHEMA_VERSION } from '../../../core/records/trajectory-record.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { lastSeqOf } from '../../../core/facts/run-summary.ts';
import type { RunRecorder } from '../../runs/run-recorder.ts';
import type { Salvaged } from './recover-source.ts';

export interface LostRange {
  readonly fromSeq: number;
  readonly throughSeq: number;
  readonly reason: string;
}

export interface RecoveredRun {
  readonly runId: string;
  /** Number of recovered records, without gap records. */
  readonly saved: number;
  readonly lost: readonly LostRange[];
  /**
   * True if the run had no end, so that the copy ends as interrupted. Always false for imported runs, whose source may not record
   * an end.
   */
  readonly interrupted: boolean;
}

/**
 * Writes the recovered records of a run, with gap records for lost records and an end if it is missing. After the last record,
 * assumes one lost record per damaged position, or more according to `lastSeq`.
 *
 * @param lastSeq  last `seq` of the run according to the store
 */
export async function recoverRun(
  runId: string,
  items: AsyncIterable<Salvaged>,
  { recorder, lastSeq }: { readonly recorder: RunRecorder; readonly lastSeq: number },
): Promise<RecoveredRun> {
  const lostRanges: LostRange[] = [];
  let savedCount = 0;
  let nextSeq = 0;
  let reasons: string[] = [];
  let last: TrajectoryRecord | undefined;
  let isClosed = false;

  async function fillGap(throughSeq: number, neighbour: TrajectoryRecord): Promise<void> {
    const reason = reasons[0] ?? 'missing in the store';
    lostRanges.push({ fromSeq: nextSeq, throughSeq, reason });
    const payload = { kind: 'gap', through_seq: throughSeq, reason: 'lost; the run was recovered' } as const;
    await recorder.add(runId, recordLike(neighbour, nextSeq, payload));
    nextSeq = throughSeq + 1;
  }

  for await (const item of items) {
    if (item.type === 'damage') {
      reasons.push(item.reason);
      continue;
    }
    const { record } = item;
    if (record.run_id !== runId)
      reasons.push(`a record of run ${record.run_id ?? 'without id'} among those of this run`);
    if (record.run_id !== runId || record.seq < nextSeq) continue;
    if (record.seq > nextSeq) await fillGap(record.seq - 1, record);
    await recorder.add(runId, record);
    savedCount += 1;
    nextSeq = lastSeqOf(record) + 1;
    reasons = [];
    last = record;
    isClosed ||= isEnd(record);
  }
  const endSeq = Math.max(lastSeq, nextSeq - 1 + reasons.length);
  if (last === undefined) {
    const reason = reasons[0] ?? 'it has no records';
    return {
      runId,
      saved: savedCount,
      lost: [{ fromSeq: 0, throughSeq: Math.max(0, endSeq), reason }],
      interrupted: false,
    };
  }
  if (endSeq >= nextSeq) await fillGap(endSeq, last);
  if (!isClosed) {
    const payload = { kind: 'run_ended', outcome: 'interrupted', new_messages: [] } as const;
    await recorder.add(runId, recordLike(last, nextSeq, payload));
  }
  await recorder.end(runId);
  return { runId, saved: savedCount, lost: lostRanges, interrupted: !isClosed };
}

/** Returns true for the end of a run, and for the start of an imported run. */
function isEnd({ payload }: TrajectoryRecord): boolean {
  return payload.kind === 'run_ended' || (payload.kind === 'run_started' && payload.format !== undefined);
}

function recordLike(neighbour: TrajectoryRecord, seq: number, payload: TrajectoryPayload): TrajectoryRecord {
  const { run_id, parent_run_id, depth, recorded_at_unix_ms } = neighbour;
  return {
    schema_version: TRAJECTORY_SCHEMA_VERSION,
    seq,
    ...present({ run_id, parent_run_id }),
    depth,
    recorded_at_unix_ms,
    payload,
  };
}
