import type { JsonObject } from '../../core/base/json.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import { atifDocument } from './atif-document.ts';
import { chatMessages } from './chat-messages.ts';
import type { ExportedRun } from './exported-run.ts';
import type { RunSpan } from './run-span.ts';
import { RunSpans } from './run-spans.ts';
import { readTranscript } from './transcript.ts';

/** A run and its child runs. */
export interface ExportedTree extends ExportedRun {
  readonly below: readonly ExportedTree[];
}

const MAX_BATCH_SPANS = 256;
const MAX_BATCH_CHARS = 1_000_000;

/** Converts a run and its child runs to one ATIF document. Memory: all of these runs. */
export async function atifOf({ below, ...run }: ExportedTree): Promise<JsonObject> {
  const children: JsonObject[] = [];
  for (const child of below) children.push(await atifOf(child));
  return atifDocument(await readTranscript(run.records()), children);
}

/** Yields one line of chat messages per run. Memory: one run. */
export async function* chatOf(runs: AsyncIterable<ExportedRun>): AsyncGenerator<string, void, void> {
  for await (const { records } of runs) yield `${JSON.stringify(chatMessages(await readTranscript(records())))}\n`;
}

/** Options for exporting stored runs as spans. */
export interface SpanBatchOptions {
  readonly content: boolean;
  /** Returns the id of the root run of a run. */
  readonly rootOf: (runId: string) => Promise<string>;
}

/**
 * Yields requests with the spans of stored runs. A request has up to 256 spans or about 1 MB. A larger span is sent in its own
 * request.
 */
export async function* spanBatches(
  runs: AsyncIterable<ExportedRun>,
  { content, rootOf }: SpanBatchOptions,
): AsyncGenerator<readonly RunSpan[], void, void> {
  let batch: RunSpan[] = [];
  let chars = 0;
  for await (const { records, run } of runs) {
    const options = { runId: run.runId, rootRunId: await rootOf(run.runId), content };
    const spans = new RunSpans({ ...options, detectors: defaultDetectors() });
    const batchesOf = async function* (): AsyncGenerator<readonly RunSpan[], void, void> {
      for await (const record of records()) yield spans.take(record);
      yield spans.finish();
    };
    for await (const newSpans of batchesOf()) {
      for (const span of newSpans) {
        const size = JSON.stringify(span).length;
        if (batch.length > 0 && (batch.length === MAX_BATCH_SPANS || chars + size > MAX_BATCH_CHARS)) {
          yield batch;
          batch = [];
          chars = 0;
        }
        batch.push(span);
        chars += size;
      }
    }
  }
  if (batch.length > 0) yield batch;
}
