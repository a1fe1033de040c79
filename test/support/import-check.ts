import type {
  DocumentImporter,
  LineImporter,
  ImportDiagnostic,
  ImportedRun,
  ImportItem,
} from '../../src/formats/importer.ts';
import type { ToolEnded, ToolStarted, TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';

/** One run of an import, taken apart for a test. */
interface CheckedRun {
  readonly run: ImportedRun;
  readonly payloads: readonly TrajectoryPayload[];
  readonly atMs: readonly (number | undefined)[];
  readonly calls: readonly ToolStarted[];
  readonly ends: readonly ToolEnded[];
}

/** The result of an import that fulfils the importer contract. */
interface CheckedImport {
  readonly runs: readonly CheckedRun[];
  readonly diagnostics: readonly ImportDiagnostic[];
}

interface OpenRun {
  readonly run: ImportedRun;
  readonly payloads: TrajectoryPayload[];
  readonly atMs: (number | undefined)[];
  readonly openCalls: Set<string>;
  readonly allCalls: Set<string>;
  ended: boolean;
}

/** Reads a document and checks the items; see `checkItems`. */
export function importDocument(importer: DocumentImporter, document: unknown, name = 'file.json'): CheckedImport {
  return checkItems(importer.read(document, { path: name, name }));
}

/** Feeds decoded lines and checks the items; see `checkItems`. */
export function importLines(
  importer: Pick<LineImporter, 'open'>,
  lines: readonly unknown[],
  name = 'file.jsonl',
): CheckedImport {
  return checkItems(lineItems(importer, lines, name));
}

function* lineItems(
  importer: Pick<LineImporter, 'open'>,
  lines: readonly unknown[],
  name: string,
): Generator<ImportItem> {
  const reading = importer.open({ path: name, name });
  for (const [index, line] of lines.entries()) yield* reading.line(line, index + 1);
  yield* reading.end();
}

/**
 * Checks what every importer promises: keys and ids are unique, a run comes before its records and none comes
 * after its end, call ids are unique within a run, and every call has exactly one end after its start.
 *
 * @throws Error naming the first broken promise
 */
function checkItems(items: Iterable<ImportItem>): CheckedImport {
  const open = new Map<string, OpenRun>();
  const ids = new Set<string>();
  const diagnostics: ImportDiagnostic[] = [];
  for (const item of items) {
    if (item.type === 'diagnostic') {
      diagnostics.push(item.diagnostic);
    } else if (item.type === 'run') {
      if (open.has(item.run.key) || ids.has(item.run.id)) throw new Error(`run ${item.run.key} comes twice`);
      ids.add(item.run.id);
      const { run } = item;
      open.set(run.key, { run, payloads: [], atMs: [], openCalls: new Set(), allCalls: new Set(), ended: false });
    } else {
      const run = open.get(item.runKey);
      if (run === undefined || run.ended) throw new Error(`${item.type} outside run ${item.runKey}`);
      if (item.type === 'end') run.ended = true;
      else takePayload(run, item.payload, item.atMs);
    }
  }
  return { runs: [...open.values()].map((run) => closed(run)), diagnostics };
}

function takePayload(run: OpenRun, payload: TrajectoryPayload, atMs: number | undefined): void {
  run.payloads.push(payload);
  run.atMs.push(atMs);
  if (payload.kind === 'tool_started') {
    if (run.allCalls.has(payload.tool_call_id)) throw new Error(`call id ${payload.tool_call_id} stands twice`);
    run.allCalls.add(payload.tool_call_id);
    run.openCalls.add(payload.tool_call_id);
  } else if (payload.kind === 'tool_ended' && !run.openCalls.delete(payload.tool_call_id)) {
    throw new Error(`call ${payload.tool_call_id} ends without being open`);
  }
}

function closed(run: OpenRun): CheckedRun {
  if (!run.ended) throw new Error(`run ${run.run.key} has no end`);
  if (run.openCalls.size > 0) throw new Error(`run ${run.run.key} leaves calls open`);
  const { payloads, atMs } = run;
  return {
    run: run.run,
    payloads,
    atMs,
    calls: payloads.filter((payload) => payload.kind === 'tool_started'),
    ends: payloads.filter((payload) => payload.kind === 'tool_ended'),
  };
}
