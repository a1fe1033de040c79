import { present } from '../base/present.ts';
import { TRAJECTORY_SCHEMA_VERSION, type TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../facts/run-summary.ts';

/** Returns true for a record that replaces lost records. */
export function isGap(record: TrajectoryRecord): boolean {
  return record.payload.kind === 'gap';
}

/** Creates the gap record that replaces a lost record, or the range `fromSeq … throughSeq`. */
export function gapFor(
  record: TrajectoryRecord,
  reason: string,
  range: { readonly fromSeq?: number; readonly throughSeq?: number } = {},
): TrajectoryRecord {
  return {
    schema_version: TRAJECTORY_SCHEMA_VERSION,
    seq: range.fromSeq ?? record.seq,
    ...present({ run_id: record.run_id, parent_run_id: record.parent_run_id }),
    depth: record.depth,
    // The record may have been refused for an invalid time.
    recorded_at_unix_ms: record.recorded_at_unix_ms >= 0 ? record.recorded_at_unix_ms : 0,
    payload: { kind: 'gap', through_seq: range.throughSeq ?? lastSeqOf(record), reason },
  };
}

/** Extends `gap` by a lost `record` that directly follows it. Otherwise returns undefined. */
export function widenGap(gap: TrajectoryRecord | undefined, record: TrajectoryRecord): TrajectoryRecord | undefined {
  if (gap?.payload.kind !== 'gap' || lastSeqOf(gap) !== record.seq - 1) return undefined;
  return { ...gap, payload: { ...gap.payload, through_seq: lastSeqOf(record) } };
}
