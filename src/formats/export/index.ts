/** The entry `coxswain/otel`. */
export { type SpanContentOptions, traceSink, type OpenTelemetryApi, type TraceSink } from './trace-sink.ts';
export type { SpanAttributes, SpanValue } from './run-span.ts';
export { spanSink, type SpanExporter, type SpanSink, type SpanSinkHealth, type SpanSinkOptions } from './span-sink.ts';
