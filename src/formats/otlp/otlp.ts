import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, LineImport, LineImporter } from '../importer.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { readSpans, type FoundSpans } from './read-spans.ts';
import { traceRuns } from './trace-runs.ts';
import type { TraceSpan } from './trace-span.ts';

/** Maximum number of spans buffered until their traces are complete. Above it, the least recently active trace is emitted. */
const MAX_BUFFERED_SPANS = 200_000;

/**
 * Reads exported spans and log events, one value per line. Supported values: OTLP requests as the collector's file exporter
 * writes them, spans of the SDKs' console exporters and of Phoenix, and Langfuse observations. Traces are emitted at the end
 * of the file, because their spans may be anywhere in it.
 *
 * Memory: the spans of the file, up to 200,000. Above that, the least recently active trace is emitted, and its later spans
 * are an error.
 */
export const otlpLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'otlp',
  recognise(firstLines) {
    const found = firstLines.filter((line) => holdsSpans(readSpans(line)));
    return found.length === 0 ? 0 : found.length === firstLines.length ? 0.95 : 0.5;
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

function holdsSpans(found: FoundSpans | undefined): boolean {
  return found !== undefined && (found.spans.length > 0 || found.unread > 0);
}

class OtlpImport implements LineImport {
  /** Spans by trace, least recently active trace first. */
  readonly #traces = new Map<string, TraceSpan[]>();
  readonly #emitted = new Set<string>();
  readonly #lost = new SkipCounts();
  readonly #skipped = new SkipCounts();
  #bufferedSpans = 0;

  *line(value: unknown, lineNumber: number | undefined): Generator<ImportItem> {
    const found = readSpans(value);
    if (found === undefined) {
      this.#lost.add('lines without spans', lineNumber);
      return;
    }
    for (let count = 0; count < found.unusable; count += 1) this.#lost.add('spans without id or time', lineNumber);
    for (let count = 0; count < found.unread; count += 1) this.#skipped.add('log records of no agent');
    for (const span of found.spans) {
      const { traceId } = span;
      if (this.#emitted.has(traceId)) {
        this.#lost.add('spans of a trace that was too large to hold', lineNumber);
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
    yield* this.#lost.report('error');
    yield* this.#skipped.report('note');
  }

  *#emitQuietest(): Generator<ImportItem> {
    const [quietest] = this.#traces;
    if (quietest === undefined) return;
    const [traceId, spans] = quietest;
    this.#traces.delete(traceId);
    this.#emitted.add(traceId);
    this.#bufferedSpans -= spans.length;
    yield* traceRuns(traceId, spans);
  }
}

function firstStart(spans: readonly TraceSpan[]): number {
  return spans.reduce((least, { startMs }) => Math.min(least, startMs), Infinity);
}
