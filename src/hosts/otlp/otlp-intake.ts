import { existsSync } from 'node:fs';
import type { Clock } from '../../core/base/clock.ts';
import { messageOf, CoxswainError } from '../../core/base/error.ts';
import { stateFile, type StateOwner } from '../../core/node/state-places.ts';
import type { FoundSpans } from '../../formats/otlp/read-spans.ts';
import { OtlpInbox, type InboxLimits, type WaitingTrace } from './otlp-inbox.ts';
import { present } from '../../core/base/json.ts';
import type { ImportItem } from '../../formats/importer.ts';
import { traceRuns } from '../../formats/otlp/trace-runs.ts';
import type { TraceSpan } from '../../formats/otlp/trace-span.ts';
import { readRuns } from '../../formats/read-runs.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { MAX_BATCH_RECORDS, type StoredRun, type TrajectoryStore } from '../../core/store/trajectory-store.ts';

interface TraceTarget {
  readonly store: Pick<TrajectoryStore, 'transact'>;
  readonly redact: (payload: TrajectoryPayload) => TrajectoryPayload;
}

/** Prefix of `run_started.source` of the runs that are recorded here. */
const SOURCE = 'otlp';

interface RecordedRun {
  readonly runId: string;
  readonly calls: number;
}

/** Maximum number of ids that are tried for one run. */
const MAX_IDS = 100;

/**
 * Records that are stored stay; the remaining ones are appended. Spans that arrived late become separate runs (`.2`,
 * …). Nothing is appended to a run that was not started here: the run then gets the suffix `~2` and so on.
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

interface OtlpIntakeOptions {
  readonly owner: StateOwner;
  readonly clock: Clock;
  readonly withTarget: <Result>(work: (target: TraceTarget) => Promise<Result>) => Promise<Result>;
  /** @param unlessKnown  skips a repeated message */
  readonly onFault: (fault: { readonly where: string; readonly message: string }, unlessKnown?: boolean) => void;
  readonly onRecorded?: ((run: RecordedRun) => void) | undefined;
  /** Time without new spans after which an unfinished trace or session is recorded as cut off; default 30 minutes. */
  readonly pauseMs?: number | undefined;
  readonly limits?: InboxLimits | undefined;
}

/** Counts since the start of the process. Plain JSON. */
interface OtlpFacts {
  readonly spans: number;
  /** Number of spans whose trace was already recorded. */
  readonly late: number;
  /** Number of spans without ids or a time, and of spans of a trace over a limit. */
  readonly refused: number;
  /** Number of log records that belong to no agent. They are dropped. */
  readonly unread: number;
  readonly runs: number;
  readonly waitingTraces: number;
}

export const DEFAULT_PAUSE_MS: number = 30 * 60_000;
/** Time without new spans after which an ended trace is recorded. Exporters wait less than this. */
const SETTLE_MS = 15_000;
const LOOK_MS = 1_000;

export class OtlpIntake {
  readonly #options: OtlpIntakeOptions;
  readonly #settleMs: number;
  readonly #pauseMs: number;
  readonly #counts = { spans: 0, late: 0, refused: 0, unread: 0, runs: 0 };
  #inbox: OtlpInbox | undefined;
  #looking: NodeJS.Timeout | undefined;
  #recording: Promise<void> = Promise.resolve();

  constructor(options: OtlpIntakeOptions) {
    this.#options = options;
    this.#pauseMs = options.pauseMs ?? DEFAULT_PAUSE_MS;
    this.#settleMs = Math.min(SETTLE_MS, this.#pauseMs);
  }

  get facts(): OtlpFacts {
    return { ...this.#counts, waitingTraces: this.#inbox?.waitingTraces ?? 0 };
  }

  /** The spans are on disk when this returns the number of rejected ones. Throws CoxswainError: see `OtlpInbox`. */
  take({ spans, unusable, unread }: FoundSpans): { readonly refused: number } {
    const { accepted, late, refused } = this.open().add(spans, this.#options.clock.nowMs());
    this.#counts.spans += accepted;
    this.#counts.late += late;
    this.#counts.refused += refused + unusable;
    this.#counts.unread += unread;
    const say = (message: string): void => this.#options.onFault({ where: 'otlp', message }, true);
    if (late > 0) say('spans came after their trace was recorded: they form separate runs');
    if (refused > 0) say('spans of a trace over the limit were refused');
    if (unusable > 0) say('spans without ids or a time were refused');
    return { refused: refused + unusable };
  }

  /** Continues with traces that a previous process left waiting. Errors are logged as faults. */
  resume(): void {
    if (!existsSync(stateFile('otlpInbox', this.#options.owner))) return;
    try {
      if (this.open().waitingTraces === 0) this.#close();
    } catch (error) {
      this.#options.onFault({ where: 'otlp', message: messageOf(error) }, true);
    }
  }

  /** @throws CoxswainError see `OtlpInbox` */
  open(): OtlpInbox {
    this.#inbox ??= new OtlpInbox(this.#options.owner, this.#options.limits);
    this.#looking ??= setInterval(() => void this.record(), Math.min(LOOK_MS, this.#settleMs)).unref();
    return this.#inbox;
  }

  /** Never rejects. `endedOnly`: records every ended trace now, without waiting for more spans. */
  async record(endedOnly = false): Promise<void> {
    this.#recording = this.#recording.then(() => this.#recordDue(endedOnly));
    await this.#recording;
  }

  /** @returns number of other traces, which wait for the next start */
  async stop(): Promise<number> {
    clearInterval(this.#looking);
    await this.record(true);
    const { waitingTraces } = this.facts;
    this.#close();
    return waitingTraces;
  }

  #close(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#inbox?.dispose();
    this.#inbox = undefined;
  }

  async #recordDue(endedOnly: boolean): Promise<void> {
    const { clock, onFault, onRecorded, withTarget } = this.#options;
    const inbox = this.#inbox;
    if (inbox === undefined) return;
    try {
      const nowMs = clock.nowMs();
      const quietMs = inbox.isCrowded ? this.#settleMs : this.#pauseMs;
      const due = endedOnly ? inbox.due(nowMs, -1) : inbox.due(nowMs - this.#settleMs, nowMs - quietMs);
      if (due.length === 0) return;
      await withTarget(async (target) => {
        for (const trace of due) {
          const runs = await recordTrace(trace, inbox.spansOf(trace.traceId), target);
          inbox.close(trace.traceId, clock.nowMs());
          this.#counts.runs += runs.length;
          for (const run of runs) onRecorded?.(run);
        }
      });
    } catch (error) {
      // The trace stays in the inbox, and the next round tries again.
      onFault({ where: 'otlp', message: messageOf(error) }, true);
    }
  }
}
