import type { ImportItem } from '../../formats/import-item.ts';
import { traceRuns } from '../../formats/otlp/trace-runs.ts';
import type { TraceSpan } from '../../formats/otlp/trace-span.ts';
import { readRuns } from '../../formats/read-runs.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../records/trajectory-record.ts';
import { MAX_BATCH_RECORDS, type TrajectoryStore } from '../../store/trajectory-store.ts';
import type { WaitingTrace } from './otlp-inbox.ts';

/** The store that traces are recorded in. */
export interface TraceTarget {
  readonly store: Pick<TrajectoryStore, 'transact'>;
  /** Removes secrets from a payload. */
  readonly redact: (payload: TrajectoryPayload) => TrajectoryPayload;
}

export interface RecordedRun {
  readonly runId: string;
  readonly calls: number;
}

/**
 * Records the runs of a trace. Records that are already stored stay, for example those of a process that was killed. The
 * remaining records are appended. Spans that arrived after their trace was recorded become separate runs, whose ids end with
 * `.2` and so on.
 *
 * @throws CoxswainError see `transact`
 */
export async function recordTrace(
  { traceId, part }: WaitingTrace,
  spans: readonly TraceSpan[],
  { store, redact }: TraceTarget,
): Promise<readonly RecordedRun[]> {
  const runs = new Map<string, TrajectoryRecord[]>();
  const items = addPartToIds([...traceRuns(traceId, spans)], part);
  for await (const item of readRuns(items, { source: 'otlp' })) {
    if (item.type !== 'record') continue;
    const record = { ...item.record, payload: redact(item.record.payload) };
    const runRecords = runs.get(item.run.id);
    if (runRecords === undefined) runs.set(item.run.id, [record]);
    else runRecords.push(record);
  }
  const recordedRuns: RecordedRun[] = [];
  for (const [runId, records] of runs) {
    for (let isWhole = false; !isWhole;) {
      isWhole = await store.transact(runId, ({ nextSeq }) => {
        const remaining = records.filter(({ seq }) => seq >= nextSeq);
        return { records: remaining.slice(0, MAX_BATCH_RECORDS), result: remaining.length <= MAX_BATCH_RECORDS };
      });
    }
    recordedRuns.push({ runId, calls: records.filter(({ payload }) => payload.kind === 'tool_started').length });
  }
  return recordedRuns;
}

/** Appends the number of the part to the run ids. The ids of the first part do not change. */
async function* addPartToIds(items: readonly ImportItem[], part: number): AsyncGenerator<ImportItem> {
  const ids = new Set(items.flatMap((item) => (item.type === 'run' ? [item.run.id] : [])));
  for (const item of items) {
    if (part === 1 || item.type !== 'run') {
      yield item;
      continue;
    }
    const { run } = item;
    const parentId = run.parentId !== undefined && ids.has(run.parentId) ? `${run.parentId}.${part}` : run.parentId;
    yield { type: 'run', run: { ...run, id: `${run.id}.${part}`, ...(parentId === undefined ? {} : { parentId }) } };
  }
}
