import { LruMap } from '../../core/base/lru-map.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunSpan } from './run-span.ts';
import { RunSpans } from './run-spans.ts';

/** Selects the content of spans. */
export interface SpanContentOptions {
  /** Includes arguments, results, messages, and the texts of errors and advice, which may quote them. Default: true. */
  readonly content?: boolean;
}

/** Receives ended spans. */
export interface SpanTaker {
  /** Called before the spans of a new run, or of a run that continues after its end. */
  begin?(runId: string, parentRunId: string | undefined, atMs: number): void;
  take(span: RunSpan): void;
}

/** Maximum number of remembered runs, including ended runs that may continue. */
const MAX_RUNS = 256;
const MAX_ROOTS = 10_000;

/** Creates spans from the records of live runs. Memory: 256 runs, each as `RunSpans`. Beyond that, the oldest run is dropped. */
export class LiveSpans {
  readonly #taker: SpanTaker;
  readonly #options: SpanContentOptions;
  readonly #runs = new Map<string, RunSpans>();
  /** The id of the root run of each run. */
  readonly #roots = new LruMap<string>(MAX_ROOTS);

  constructor(taker: SpanTaker, options: SpanContentOptions) {
    this.#taker = taker;
    this.#options = options;
  }

  record(record: TrajectoryRecord): void {
    const { parent_run_id: parentRunId, payload, recorded_at_unix_ms: atMs, run_id: runId = '' } = record;
    const knownSpans = this.#runs.get(runId);
    if (knownSpans === undefined || payload.kind === 'run_resumed') this.#taker.begin?.(runId, parentRunId, atMs);
    for (const span of (knownSpans ?? this.#beginRun(runId, parentRunId)).take(record)) this.#taker.take(span);
  }

  /** Ends the spans of open runs. */
  finish(): void {
    for (const runId of this.#runs.keys()) this.#finishRun(runId);
  }

  #beginRun(runId: string, parentRunId: string | undefined): RunSpans {
    const [oldest] = this.#runs.keys();
    if (this.#runs.size >= MAX_RUNS && oldest !== undefined) this.#finishRun(oldest);
    const rootRunId = parentRunId === undefined ? runId : (this.#roots.get(parentRunId) ?? parentRunId);
    this.#roots.set(runId, rootRunId);
    const spans = new RunSpans({ runId, rootRunId, ...this.#options });
    this.#runs.set(runId, spans);
    return spans;
  }

  #finishRun(runId: string): void {
    for (const span of this.#runs.get(runId)?.finish() ?? []) this.#taker.take(span);
    this.#runs.delete(runId);
  }
}
