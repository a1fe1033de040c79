import { messageOf } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import { systemTimers, type Timers } from '../../core/recorder/record-queue-options.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { EventSink } from '../../core/run/listeners.ts';
import { LiveSpans, type SpanContentOptions } from './trace-sink.ts';
import { SPAN_SCOPE } from './otlp-request.ts';
import type { RunSpan, SpanAttributes, SpanTime } from './run-span.ts';

/** A span in the format of the exporters of the OpenTelemetry SDK. */
export interface ReadableRunSpan {
  readonly name: string;
  readonly kind: number;
  readonly spanContext: () => SpanIdentity;
  readonly parentSpanContext?: SpanIdentity;
  readonly startTime: [number, number];
  readonly endTime: [number, number];
  readonly duration: [number, number];
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: SpanAttributes;
  readonly events: readonly { readonly name: string; readonly time: [number, number]; readonly attributes?: object }[];
  readonly links: readonly never[];
  readonly ended: boolean;
  readonly resource: { readonly attributes: object };
  readonly instrumentationScope: { readonly name: string };
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

export interface SpanIdentity {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** An exporter of the OpenTelemetry SDK, such as `OTLPTraceExporter`. Declares only the members in use. */
export interface SpanExporter {
  export(spans: never[], done: (result: { readonly code: number; readonly error?: Error }) => void): void;
  shutdown?(): Promise<void>;
}

export interface SpanSinkOptions extends SpanContentOptions {
  /** Resource attributes of the spans; default: `{ 'service.name': 'coxswain' }`. */
  readonly resource?: SpanAttributes;
  /** Timers for delays; default: the timers of the process. */
  readonly timers?: Timers;
}

/** The state of a span sink. Plain JSON. */
export interface SpanSinkHealth {
  readonly exported: number;
  readonly waiting: number;
  /** Number of lost spans: dropped from a full queue, rejected by the exporter, or sent without a response. */
  readonly dropped: number;
  readonly lastFault?: string;
}

export interface SpanSink extends EventSink {
  record(record: TrajectoryRecord): void;
  health(): SpanSinkHealth;
  dropped(): number;
  /** Ends the spans of open runs and shuts down the exporter. Resolves when every span has been sent or dropped. */
  close(): Promise<void>;
}

const MAX_WAITING = 2_048;
const MAX_BATCH = 512;
const WAIT_MS = 1_000;
/** Default export timeout of OpenTelemetry. */
const EXPORT_MS = 30_000;

/**
 * Exports live runs as spans: `cox.listen(spanSink(new OTLPTraceExporter()))`. Sends one batch at a time, one second after the
 * first span of the batch. An unavailable or slow collector does not delay the agent: up to 2,048 spans are queued. Further spans
 * are dropped and counted in `health()` and in `cox.health().listeners`.
 */
export function spanSink(exporter: SpanExporter, options: SpanSinkOptions = {}): SpanSink {
  return new ExportingSink(exporter, options);
}

class ExportingSink implements SpanSink {
  readonly #exporter: SpanExporter;
  readonly #resource: { readonly attributes: SpanAttributes };
  readonly #liveSpans: LiveSpans;
  #queue: RunSpan[] = [];
  readonly #timers: Timers;
  #cancel: (() => void) | undefined;
  #activeSend: Promise<void> | undefined;
  #isClosing = false;
  #exportedCount = 0;
  #dropped = 0;
  #lastFault: string | undefined;

  constructor(exporter: SpanExporter, options: SpanSinkOptions) {
    const { resource = { 'service.name': 'coxswain' }, timers = systemTimers, ...content } = options;
    this.#exporter = exporter;
    this.#timers = timers;
    this.#resource = { attributes: resource };
    this.#liveSpans = new LiveSpans({ take: (span) => this.#enqueue(span) }, content);
  }

  record(record: TrajectoryRecord): void {
    this.#liveSpans.record(record);
  }

  dropped(): number {
    return this.#dropped;
  }

  health(): SpanSinkHealth {
    const [exported, dropped, waiting] = [this.#exportedCount, this.#dropped, this.#queue.length];
    return { exported, waiting, dropped, ...present({ lastFault: this.#lastFault }) };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#liveSpans.finish();
    this.#cancel?.();
    await this.#activeSend;
    await this.#sendQueue();
    await this.#exporter.shutdown?.();
  }

  #enqueue(span: RunSpan): void {
    if (this.#queue.length >= MAX_WAITING) {
      this.#noteFault(1, `more than ${MAX_WAITING} spans wait`);
      return;
    }
    this.#queue.push(span);
    this.#cancel ??= this.#timers.after(WAIT_MS, () => this.#sendLater(), 'let-go');
  }

  #sendLater(): void {
    this.#cancel = undefined;
    this.#activeSend ??= this.#sendQueue().finally(() => (this.#activeSend = undefined));
  }

  async #sendQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      const dropped = this.#dropped;
      await this.#exportBatch(this.#queue.splice(0, MAX_BATCH));
      // On shutdown, waits for only one missing response and drops the rest of the queue.
      if (this.#isClosing && this.#dropped > dropped) this.#noteFault(this.#queue.splice(0).length, this.#lastFault);
    }
  }

  #exportBatch(batch: readonly RunSpan[]): Promise<void> {
    return new Promise((resolve) => {
      let isDone = false;
      const finish = (fault: string | undefined): void => {
        cancel();
        if (!isDone && fault === undefined) this.#exportedCount += batch.length;
        else if (!isDone && fault !== undefined) this.#noteFault(batch.length, fault);
        isDone = true;
        resolve();
      };
      const cancel = this.#timers.after(EXPORT_MS, () => finish('the exporter does not respond'), 'let-go');
      try {
        const spans = batch.map((span) => readableSpan(span, this.#resource));
        // The exporter only reads the members that these spans have.
        this.#exporter.export(spans as never, ({ code, error }) => {
          finish(code === 0 ? undefined : error === undefined ? 'the exporter failed' : messageOf(error));
        });
      } catch (error) {
        finish(messageOf(error));
      }
    });
  }

  #noteFault(spans: number, fault: string | undefined): void {
    this.#dropped += spans;
    this.#lastFault = fault;
  }
}

const INTERNAL = 0;
const CLIENT = 2;
const SAMPLED = 1;
const STATUS_ERROR = 2;

function readableSpan(span: RunSpan, resource: ReadableRunSpan['resource']): ReadableRunSpan {
  const { attributes, droppedEvents, end, error, events, kind, name, parentSpanId, start, traceId } = span;
  const spanContext = (spanId: string): SpanIdentity => ({ traceId, spanId, traceFlags: SAMPLED });
  const [seconds, nanos] = [end[0] - start[0], end[1] - start[1]];
  return {
    name,
    kind: kind === 'client' ? CLIENT : INTERNAL,
    spanContext: () => spanContext(span.spanId),
    ...(parentSpanId === undefined ? {} : { parentSpanContext: spanContext(parentSpanId) }),
    startTime: mutableTime(start),
    endTime: mutableTime(end),
    duration: nanos < 0 ? [seconds - 1, nanos + 1_000_000_000] : [seconds, nanos],
    status: error === undefined ? { code: 0 } : { code: STATUS_ERROR, message: error },
    attributes,
    events: events.map(({ attributes: more, name: what, time }) => ({
      name: what,
      time: mutableTime(time),
      attributes: more,
    })),
    links: [],
    ended: true,
    resource,
    instrumentationScope: SPAN_SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: droppedEvents,
    droppedLinksCount: 0,
  };
}

function mutableTime([seconds, nanos]: SpanTime): [number, number] {
  return [seconds, nanos];
}
