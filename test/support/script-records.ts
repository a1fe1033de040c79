import { allRuns } from '../../src/core/store/run-page.ts';
import {
  type TrajectoryRecord,
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
} from '../../src/core/records/trajectory-record.ts';
import type { RunSummary } from '../../src/core/facts/run-summary.ts';
import type { ReadQuery, StoreReader } from '../../src/core/store/trajectory-store.ts';

export async function readAll(
  store: Pick<StoreReader, 'readRun'>,
  runId: string,
  query?: ReadQuery,
): Promise<readonly TrajectoryRecord[]> {
  return await Array.fromAsync(store.readRun(runId, query));
}

/** Reads all pages and returns all runs of a store in listing order. */
export async function listAll(store: Pick<StoreReader, 'listRuns'>, limit = 1000): Promise<readonly RunSummary[]> {
  return await Array.fromAsync(allRuns(store, limit));
}

/** The input of `scriptRecord`. Other fields of the record are filled in. */
interface RecordScript {
  readonly runId: string;
  readonly seq: number;
  /** Default: `{ kind: 'turn_started' }`. */
  readonly payload?: TrajectoryPayload;
  /** Unix milliseconds; default: 1,000 + `seq`. */
  readonly atMs?: number;
}

export function scriptRecord(script: RecordScript): TrajectoryRecord {
  return {
    schema_version: TRAJECTORY_SCHEMA_VERSION,
    seq: script.seq,
    run_id: script.runId,
    depth: 0,
    recorded_at_unix_ms: script.atMs ?? 1000 + script.seq,
    payload: script.payload ?? { kind: 'turn_started' },
  };
}

/** Creates the records of one run from these payloads, one millisecond apart. `seq` starts at `fromSeq` (default 0). */
export function scriptRun(
  runId: string,
  payloads: readonly TrajectoryPayload[],
  options: { readonly fromSeq?: number; readonly startMs?: number } = {},
): readonly TrajectoryRecord[] {
  const { fromSeq = 0, startMs = 1000 } = options;
  return payloads.map((payload, index) =>
    scriptRecord({ runId, seq: fromSeq + index, payload, atMs: startMs + fromSeq + index }),
  );
}

/** Creates `count` records of a run. Each record contains its `seq`, which starts at `fromSeq` (default 0). */
export function scriptCalls(runId: string, count: number, fromSeq = 0): readonly TrajectoryRecord[] {
  const payloads = Array.from({ length: count }, (_, index): TrajectoryPayload => {
    const id = `call-${fromSeq + index}`;
    return { kind: 'tool_started', tool_call_id: id, tool_name: 'read', args: { path: `${id}.txt` } };
  });
  return scriptRun(runId, payloads, { fromSeq });
}
