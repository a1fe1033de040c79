import type { EventSink } from '../../core/run/listeners.ts';
import { GENAI, GENAI_OPERATIONS } from '../otlp/read-span.ts';
import { SPAN_SCOPE } from './otlp-request.ts';
import type { RunSpan } from './run-span.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { RunSpans } from './run-spans.ts';

export interface SpanContentOptions {
  /** Includes arguments, results, messages, and the texts of errors and advice, which may quote them. Default: true. */
  readonly content?: boolean;
}

interface SpanTaker {
  begin?(runId: string, parentRunId: string | undefined, atMs: number): void;
  take(span: RunSpan): void;
}

const MAX_ROOTS = 10_000;

/** Creates spans from the records of live runs. Memory: 256 runs, each as `RunSpans`. Beyond that, the oldest run is dropped. */
export class LiveSpans {
  readonly #taker: SpanTaker;
  readonly #options: SpanContentOptions;
  readonly #runs = new Map<string, RunSpans>();
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

export interface ApiSpan {
  setAttributes(attributes: object): unknown;
  addEvent(name: string, attributes: object, time: [number, number]): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  updateName(name: string): unknown;
  end(time: [number, number]): void;
}

/** The module `@opentelemetry/api`. Declares only the members in use. */
export interface OpenTelemetryApi {
  readonly context: { active(): unknown };
  readonly trace: {
    getTracer(name: string): { startSpan(name: string, options: object, context: never): unknown };
    setSpan(context: never, span: never): unknown;
  };
}

export interface TraceSink extends EventSink {
  /** Ends the spans of open runs. */
  close(): void;
}

const MAX_RUNS = 256;

/**
 * Adds runs to the traces of the process: `cox.listen(traceSink(otel))`, where `otel` is the module `@opentelemetry/api`. The span
 * of a run is a child of the span that is active at its start. The span of a child run is a child of its parent's span. The
 * process defines ids and sampling. Without a tracer provider this sink has no effect.
 */
export function traceSink(otel: OpenTelemetryApi, options: SpanContentOptions = {}): TraceSink {
  const tracer = otel.trace.getTracer(SPAN_SCOPE.name);
  const runs = new Map<string, TracedRun>();
  // The API's own span and context types are only passed through.
  const startSpan = (name: string, more: object, context: unknown): ApiSpan =>
    tracer.startSpan(name, more, context as never) as ApiSpan;
  const beginRun = (runId: string, parentRunId: string | undefined, atMs: number): void => {
    if (runs.get(runId)?.isOpen === true) return;
    const context = runs.get(parentRunId ?? '')?.context ?? otel.context.active();
    const attributes = { [GENAI.operation]: GENAI_OPERATIONS.agent };
    const span = startSpan(GENAI_OPERATIONS.agent, { attributes, ...(atMs > 0 ? { startTime: atMs } : {}) }, context);
    runs.delete(runId);
    runs.set(runId, { span, context: otel.trace.setSpan(context as never, span as never), isOpen: true });
    const [oldest] = runs.keys();
    if (runs.size > MAX_RUNS && oldest !== undefined) runs.delete(oldest);
  };
  const takeSpan = ({ attributes, end, error, events, kind, name, runId, start }: RunSpan): void => {
    const run = runs.get(runId);
    const isRun = run !== undefined && attributes[GENAI.operation] === GENAI_OPERATIONS.agent;
    const spanOptions = { kind: kind === 'client' ? CLIENT : INTERNAL, startTime: [...start] };
    const span = isRun ? run.span : startSpan(name, spanOptions, run?.context ?? otel.context.active());
    span.updateName(name);
    span.setAttributes(attributes);
    for (const event of events) span.addEvent(event.name, event.attributes, [...event.time]);
    if (error !== undefined) span.setStatus(error === '' ? { code: FAILED } : { code: FAILED, message: error });
    span.end([...end]);
    if (isRun) run.isOpen = false;
  };
  const liveSpans = new LiveSpans({ begin: beginRun, take: takeSpan }, options);
  return { record: (record) => liveSpans.record(record), close: () => liveSpans.finish() };
}

interface TracedRun {
  readonly span: ApiSpan;
  readonly context: unknown;
  isOpen: boolean;
}

const INTERNAL = 0;
const CLIENT = 2;
const FAILED = 2;
