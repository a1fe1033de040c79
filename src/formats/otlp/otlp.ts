import type { ImportItem, DocumentImporter, LineImport, LineImporter } from '../importer.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { readSpans, type FoundSpans } from './read-spans.ts';
import { traceRuns } from './trace-runs.ts';
import type { TraceSpan } from './trace-span.ts';

/** Maximum number of spans buffered until their traces are complete. Above it, the least recently active trace is emitted. */
const MAX_BUFFERED_SPANS = 200_000;

/**
 * OTLP requests of the collector's file exporter, spans of console exporters and Phoenix, Langfuse observations, one
 * per line. Traces are emitted at the end, because their spans may be anywhere. Above 200,000 spans, the least recently
 * active trace is emitted, and its later spans are an error.
 */
export const otlpLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'otlp',
  recognise(firstLines) {
    const spanLines = firstLines.filter((line) => holdsSpans(readSpans(line)));
    return spanLines.length === 0 ? 0 : spanLines.length === firstLines.length ? 0.95 : 0.5;
  },
  open: () => new OtlpImport(),
};

/** Like `otlpLinesImporter`, for one document: a request, a list, or a Phoenix or Langfuse export. Memory: the document and its spans. */
export const otlpDocumentImporter: DocumentImporter = {
  shape: 'document',
  format: 'otlp',
  recognise: (document) => (holdsSpans(readSpans(document)) ? 0.95 : 0),
  *read(document) {
    const reading = new OtlpImport();
    yield* reading.line(document, undefined);
    yield* reading.end();
  },
};

function holdsSpans(foundSpans: FoundSpans | undefined): boolean {
  return foundSpans !== undefined && (foundSpans.spans.length > 0 || foundSpans.unread > 0);
}

class OtlpImport implements LineImport {
  readonly #traces = new Map<string, TraceSpan[]>();
  readonly #emittedTraces = new Set<string>();
  readonly #skipCounts = new SkipCounts();
  readonly #skipped = new SkipCounts();
  #bufferedSpans = 0;

  *line(value: unknown, lineNumber: number | undefined): Generator<ImportItem> {
    const foundSpans = readSpans(value);
    if (foundSpans === undefined) {
      this.#skipCounts.add('lines without spans', lineNumber);
      return;
    }
    for (let count = 0; count < foundSpans.unusable; count += 1)
      this.#skipCounts.add('spans without id or time', lineNumber);
    for (let count = 0; count < foundSpans.unread; count += 1) this.#skipped.add('log records of no agent');
    for (const span of foundSpans.spans) {
      const { traceId } = span;
      if (this.#emittedTraces.has(traceId)) {
        this.#skipCounts.add('spans of a trace over the size limit', lineNumber);
        continue;
      }
      const spans = this.#traces.get(traceId) ?? [];
      spans.push(span);
      this.#traces.delete(traceId);
      this.#traces.set(traceId, spans);
      this.#bufferedSpans += 1;
      if (this.#bufferedSpans > MAX_BUFFERED_SPANS) yield* this.#emitQuietest();
    }
  }

  *end(): Generator<ImportItem> {
    // Sort the traces by their first span, so that the order of the lines has no effect.
    const traces = [...this.#traces].map(([traceId, spans]) => ({ traceId, spans, startMs: firstStart(spans) }));
    traces.sort((a, b) => a.startMs - b.startMs || (a.traceId < b.traceId ? -1 : 1));
    for (const { traceId, spans } of traces) yield* traceRuns(traceId, spans);
    yield* this.#skipCounts.report('error');
    yield* this.#skipped.report('note');
  }

  *#emitQuietest(): Generator<ImportItem> {
    const [quietest] = this.#traces;
    if (quietest === undefined) return;
    const [traceId, spans] = quietest;
    this.#traces.delete(traceId);
    this.#emittedTraces.add(traceId);
    this.#bufferedSpans -= spans.length;
    yield* traceRuns(traceId, spans);
  }
}

function firstStart(spans: readonly TraceSpan[]): number {
  return spans.reduce((minimum, { startMs }) => Math.min(minimum, startMs), Infinity);
}
