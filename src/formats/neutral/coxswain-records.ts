import { present, isJsonObject } from '../../core/base/json.ts';
import { messageOf } from '../../core/base/error.ts';
import { decodeParsed, decodeRecord } from '../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import {
  diagnosticItem,
  type ImportedRun,
  type ImportItem,
  type ImportSource,
  type LineImport,
  type LineImporter,
} from '../importer.ts';
import { sourceStem } from '../parts/source-content.ts';

/** Runs may interleave or lack `run_started`. Repeats are skipped; a missing or newer record is an error, and reading continues. */
export const coxswainImporter: LineImporter = {
  shape: 'lines',
  format: 'coxswain',
  recognise: (firstLines) => firstLines.reduce<number>((sum, line) => sum + confidenceOf(line), 0) / firstLines.length,
  open: (source) => new RecordsImport(source),
};

function confidenceOf(line: unknown): number {
  if (!isJsonObject(line) || typeof line['seq'] !== 'number') return 0;
  const payload = line['payload'];
  if (!isJsonObject(payload) || typeof payload['kind'] !== 'string') return 0;
  return 'recorded_at_unix_ms' in line ? 1 : 0.7;
}

interface RunState {
  readonly key: string;
  nextSeq: number;
  repeats: number;
}

class RecordsImport implements LineImport {
  readonly #source: ImportSource;
  /** State by run id. The size of a state does not depend on the number of records. */
  readonly #runs = new Map<string, RunState>();

  constructor(source: ImportSource) {
    this.#source = source;
  }

  *line(value: unknown, lineNumber: number, text?: string): Generator<ImportItem> {
    let record: TrajectoryRecord;
    try {
      record = text === undefined ? decodeRecord(value) : decodeParsed(value, text);
    } catch (error) {
      yield diagnosticItem('error', messageOf(error), { line: lineNumber });
      return;
    }
    const runId = record.run_id ?? `${sourceStem(this.#source)}-unidentified`;
    let run = this.#runs.get(runId);
    if (run === undefined) {
      run = { key: runId, nextSeq: 0, repeats: 0 };
      this.#runs.set(runId, run);
      yield { type: 'run', run: importedRun(record, runId) };
    }
    yield* recordItems(record, { run, lineNumber });
  }

  *end(): Generator<ImportItem> {
    for (const { key, repeats } of this.#runs.values()) {
      if (repeats === 0) continue;
      yield diagnosticItem('note', `left out: ${repeats} records with a seq that was read before`, { runKey: key });
    }
  }
}

function* recordItems(
  record: TrajectoryRecord,
  { run, lineNumber }: { readonly run: RunState; readonly lineNumber: number },
): Generator<ImportItem> {
  const { key } = run;
  if (record.seq < run.nextSeq) {
    run.repeats += 1;
    return;
  }
  if (record.seq > run.nextSeq) {
    const message = `records ${run.nextSeq} to ${record.seq - 1} of the run are missing`;
    yield diagnosticItem('error', message, { line: lineNumber, runKey: key });
  }
  const { payload } = record;
  run.nextSeq = (payload.kind === 'gap' ? Math.max(record.seq, payload.through_seq) : record.seq) + 1;
  // The reader derives `run_started` from the `run` item.
  if (payload.kind === 'run_started') return;
  const atMs = record.recorded_at_unix_ms;
  yield { type: 'record', runKey: key, payload, ...(atMs > 0 ? { atMs } : {}) };
}

function importedRun(record: TrajectoryRecord, runId: string): ImportedRun {
  const runStarted = record.payload.kind === 'run_started' ? record.payload : undefined;
  const identity = runStarted?.identity;
  const { recorded_at_unix_ms: atMs } = record;
  return {
    key: runId,
    id: runId,
    format: 'coxswain',
    ...present({
      task: runStarted?.task,
      parentId: record.parent_run_id ?? identity?.parent_run_id,
      steering: runStarted?.steering,
      conversationId: identity?.conversation_id,
      agentName: identity?.agent_name,
      modelId: identity?.model_id,
      startedAtMs: atMs > 0 ? atMs : undefined,
    }),
  };
}
