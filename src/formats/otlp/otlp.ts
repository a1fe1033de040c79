import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, LineImport, LineImporter } from '../importer.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { readSpans, type FoundSpans } from './read-spans.ts';
import { traceRuns } from './trace-runs.ts';
import type { TraceSpan } from './trace-span.ts';

/** Spans that are held until their traces are whole; the trace that was quiet for longest goes first. */
const MAX_HELD_SPANS = 200_000;

/**
 * Reads exported spans and log events, one value a line: requests of OTLP as the collector's file exporter writes them, spans of
 * the SDKs' console exporters, of Phoenix, observations of Langfuse. A trace is told when the file is at its end, because its
 * spans may stand anywhere.
 *
 * Memory: the spans of the file, up to 200,000; then the trace that was quiet for longest is told, and what follows of it is an error.
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

/** The same in one document: a request, a list, or an export of Phoenix or Langfuse. Memory: the document and its spans. */
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
  /** By trace, the one that was quiet for longest first. */
  readonly #traces = new Map<string, TraceSpan[]>();
  readonly #told = new Set<string>();
  readonly #lost = new SkipCounts();
  readonly #skipped = new SkipCounts();
  #held = 0;

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
      if (this.#told.has(traceId)) {
        this.#lost.add('spans of a trace that was too large to hold', lineNumber);
        continue;
      }
      const spans = this.#traces.get(traceId) ?? [];
      spans.push(span);
      this.#traces.delete(traceId);
      this.#traces.set(traceId, spans);
      this.#held += 1;
      if (this.#held > MAX_HELD_SPANS) yield* this.#tellQuietest();
    }
  }

  *end(): Generator<ImportItem> {
    // By their first span, whatever the order of the lines was.
    const traces = [...this.#traces].map(([traceId, spans]) => ({ traceId, spans, startMs: firstStart(spans) }));
    traces.sort((a, b) => a.startMs - b.startMs || (a.traceId < b.traceId ? -1 : 1));
    for (const { traceId, spans } of traces) yield* traceRuns(traceId, spans);
    yield* this.#lost.report({ severity: 'error', verb: 'not usable' });
    yield* this.#skipped.report({ severity: 'note', verb: 'left out' });
  }

  *#tellQuietest(): Generator<ImportItem> {
    const [quietest] = this.#traces;
    if (quietest === undefined) return;
    const [traceId, spans] = quietest;
    this.#traces.delete(traceId);
    this.#told.add(traceId);
    this.#held -= spans.length;
    yield* traceRuns(traceId, spans);
  }
}

function firstStart(spans: readonly TraceSpan[]): number {
  return spans.reduce((least, { startMs }) => Math.min(least, startMs), Infinity);
}
