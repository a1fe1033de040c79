import type { TrajectoryRecord } from '../events/trajectory-record.ts';

/** What a list of runs shows of one run, kept up to date by every store as records arrive. */
export interface RunSummary {
  readonly runId: string;
  readonly parentRunId?: string;
  readonly depth: number;
  /** Unix milliseconds of the first and the last record that had a time; 0 where none had. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  /** Records stored. */
  readonly records: number;
  /** Highest `seq` that is filled, also by a gap record. */
  readonly lastSeq: number;
  readonly turns: number;
  readonly calls: number;
  readonly errors: number;
  /** `outcome` of the run's `run_ended`; absent while the run is open or was cut off. */
  readonly outcome?: string;
  readonly success?: boolean;
  readonly reward?: number;
  /** The task's first 200 UTF-16 units, one fewer where the cut would split a character. */
  readonly task?: string;
  readonly source?: string;
  readonly format?: string;
  readonly modelId?: string;
  /**
   * Set when the store cannot read the run to its end: what is wrong and where, in one line. The counts then
   * cover the records before that place.
   */
  readonly problem?: string;
}

const TASK_PREVIEW_CHARS = 200;

/**
 * Folds one record into its run's summary. Pure; the first record of a run comes with `summary` undefined.
 *
 * @param record  has a `run_id`
 */
export function foldRunSummary(summary: RunSummary | undefined, record: TrajectoryRecord): RunSummary {
  const at = record.recorded_at_unix_ms;
  const before = summary ?? {
    runId: record.run_id ?? '',
    ...(record.parent_run_id === undefined ? {} : { parentRunId: record.parent_run_id }),
    depth: record.depth,
    startedAtMs: at,
    lastAtMs: at,
    records: 0,
    lastSeq: -1,
    turns: 0,
    calls: 0,
    errors: 0,
  };
  const counted: RunSummary = {
    ...before,
    startedAtMs: before.startedAtMs === 0 ? at : before.startedAtMs,
    lastAtMs: Math.max(before.lastAtMs, at),
    records: before.records + 1,
    lastSeq: lastSeqOf(record),
  };
  return foldPayload(counted, record);
}

/** The last `seq` a record fills: its own, or `through_seq` of a gap. */
export function lastSeqOf(record: TrajectoryRecord): number {
  return record.payload.kind === 'gap' ? Math.max(record.seq, record.payload.through_seq) : record.seq;
}

function previewOf(task: string): string {
  const cut = task.slice(0, TASK_PREVIEW_CHARS);
  const splitsPair =
    cut.length < task.length &&
    !cut.slice(-1).isWellFormed() &&
    task.slice(cut.length - 1, cut.length + 1).isWellFormed();
  return splitsPair ? cut.slice(0, -1) : cut;
}

function foldPayload(summary: RunSummary, record: TrajectoryRecord): RunSummary {
  const payload = record.payload;
  switch (payload.kind) {
    case 'run_started':
      return {
        ...summary,
        ...(payload.task === undefined ? {} : { task: previewOf(payload.task) }),
        ...(payload.source === undefined ? {} : { source: payload.source }),
        ...(payload.format === undefined ? {} : { format: payload.format }),
        ...(payload.identity.model_id === undefined ? {} : { modelId: payload.identity.model_id }),
      };
    case 'turn_started':
      return { ...summary, turns: summary.turns + 1 };
    case 'tool_started':
      return { ...summary, calls: summary.calls + 1 };
    case 'tool_ended':
      return payload.is_error ? { ...summary, errors: summary.errors + 1 } : summary;
    case 'run_ended':
      return {
        ...summary,
        outcome: payload.outcome,
        ...(payload.success === undefined ? {} : { success: payload.success }),
        ...(payload.reward === undefined ? {} : { reward: payload.reward }),
      };
    case 'run_resumed':
      return opened(summary);
    default:
      return summary;
  }
}

/** The summary without what the run's end had said. */
function opened({ outcome: _outcome, success: _success, reward: _reward, ...open }: RunSummary): RunSummary {
  return open;
}
