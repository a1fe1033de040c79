import type { Json, JsonObject } from '../../core/base/json.ts';
import type { RunSpan, SpanAttributes, SpanTime, SpanValue } from './run-span.ts';

/** Numeric span kinds and status codes of OTLP. */
const SPAN_KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
/** Trace flags: sampled, and the parent is known to be local. */
const FLAGS = 0x101;

/** The instrumentation scope. */
export const SPAN_SCOPE = { name: 'coxswain' } as const;

/** Converts spans to an `ExportTraceServiceRequest` of OTLP/HTTP in JSON. The same JSON is a line of an OTLP file. */
export function otlpRequest(spans: readonly RunSpan[], resource: SpanAttributes): JsonObject {
  const scopeSpans = [{ scope: SPAN_SCOPE, spans: spans.map(otlpSpan) }];
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
}

function otlpSpan(span: RunSpan): JsonObject {
  const { attributes, droppedEvents, end, error, events, kind, name, parentSpanId, spanId, start, traceId } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    flags: FLAGS,
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoText(start),
    endTimeUnixNano: nanoText(end),
    attributes: attributesOf(attributes),
    events: events.map((event) => ({
      timeUnixNano: nanoText(event.time),
      name: event.name,
      attributes: attributesOf(event.attributes),
    })),
    ...(droppedEvents === 0 ? {} : { droppedEventsCount: droppedEvents }),
    status: error === undefined ? {} : { code: STATUS_ERROR, ...(error === '' ? {} : { message: error }) },
  };
}

/** Returns the time in nanoseconds as a string: OTLP's JSON encodes 64-bit numbers as strings. */
function nanoText([seconds, nanos]: SpanTime): string {
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(nanos));
}

function attributesOf(attributes: SpanAttributes): Json {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: SpanValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}
