import { CoxswainError } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import type { ImportItem } from '../../formats/import-item.ts';
import { traceRuns } from '../../formats/otlp/trace-runs.ts';
import type { TraceSpan } from '../../formats/otlp/trace-span.ts';
import { readRuns } from '../../formats/read-runs.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { MAX_BATCH_RECORDS, type StoredRun, type TrajectoryStore } from '../../core/store/trajectory-store.ts';
import type { WaitingTrace } from './otlp-inbox.ts';

/** The store that traces are recorded in. */
export interface TraceTarget {
  readonly store: Pick<TrajectoryStore, 'transact'>;
  /** Removes secrets from a payload. */
  readonly redact: (payload: TrajectoryPayload) => TrajectoryPayload;
}

/** Prefix of `run_started.source` of the runs that are recorded here. */
const SOURCE = 'otlp';

export interface RecordedRun {
  readonly runId: string;
  readonly calls: number;
}

/** Maximum number of ids that are tried for one run. */
const MAX_IDS = 100;

/**
 * Records the runs of a trace. Records that are already stored stay, for example those of a process that was killed. The
 * remaining records are appended. Spans that arrived after their trace was recorded become separate runs, whose ids end with
 * `.2` and so on.
 *
 * Nothing is appended to a run that this function did not start, whatever its id: such an id is left alone, and the run gets
 * the suffix `~2` and so on.
 *
 * @throws CoxswainError see `transact`; `store-conflict` if all ids are in use
 */
export async function recordTrace(
  { traceId, part }: WaitingTrace,
  spans: readonly TraceSpan[],
  { store, redact }: TraceTarget,
): Promise<readonly RecordedRun[]> {
  const runs = new Map<string, TrajectoryRecord[]>();
  const items = addPartToIds([...traceRuns(traceId, spans)], part);
  for await (const item of readRuns(items, { source: SOURCE })) {
    if (item.type !== 'record') continue;
    const record = { ...item.record, payload: redact(item.record.payload) };
    const runRecords = runs.get(item.run.id);
    if (runRecords === undefined) runs.set(item.run.id, [record]);
    else runRecords.push(record);
  }
  const recordedRuns: RecordedRun[] = [];
  const storedIds = new Map<string, string>();
  // Parents come before their children.
  for (const [runId, records] of runs) {
    const storedId = await recordRun(runId, (id) => records.map((record) => renamed(record, id, storedIds)), store);
    storedIds.set(runId, storedId);
    recordedRuns.push({
      runId: storedId,
      calls: records.filter(({ payload }) => payload.kind === 'tool_started').length,
    });
  }
  return recordedRuns;
}

/** Appends the remaining records of a run under the first id that is free or its own. Returns the id. */
async function recordRun(
  runId: string,
  recordsOf: (id: string) => readonly TrajectoryRecord[],
  store: TraceTarget['store'],
): Promise<string> {
  for (let attempt = 1; attempt <= MAX_IDS; attempt += 1) {
    const id = attempt === 1 ? runId : `${runId}~${attempt}`;
    const records = recordsOf(id);
    for (let state = 'more'; state !== 'foreign';) {
      state = await store.transact(id, (view) => {
        if (!isOwn(view, records[0])) return { records: [], result: 'foreign' };
        const remaining = records.filter(({ seq }) => seq >= view.nextSeq);
        const result = remaining.length <= MAX_BATCH_RECORDS ? 'whole' : 'more';
        return { records: remaining.slice(0, MAX_BATCH_RECORDS), result };
      });
      if (state === 'whole') return id;
    }
  }
  throw new CoxswainError('store-conflict', `${runId} and ${MAX_IDS - 1} ids after it belong to runs of other sources`);
}

/** Returns true if nothing is stored under the id, or if the stored run begins as this one, so that it was started here. */
function isOwn({ nextSeq, snapshot, summary }: StoredRun, first: TrajectoryRecord | undefined): boolean {
  if (nextSeq === 0 && snapshot === undefined) return true;
  const started = first?.payload.kind === 'run_started' ? first.payload : undefined;
  return started !== undefined && summary?.format === started.format && summary?.source === started.source;
}

function renamed(record: TrajectoryRecord, id: string, storedIds: ReadonlyMap<string, string>): TrajectoryRecord {
  const { parent_run_id: parentId, payload } = record;
  const storedParentId = parentId === undefined ? undefined : (storedIds.get(parentId) ?? parentId);
  if (id === record.run_id && parentId === storedParentId) return record;
  const ids = { run_id: id, ...present({ parent_run_id: storedParentId }) };
  return {
    ...record,
    ...ids,
    payload: payload.kind === 'run_started' ? { ...payload, identity: { ...payload.identity, ...ids } } : payload,
  };
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
