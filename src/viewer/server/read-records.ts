import { canonicalJson } from '../../core/base/canonical-json.ts';
import { CoxswainError, type CoxswainErrorCode } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import { readCall } from '../../core/detect/calls/tool-semantics.ts';
import { contextTokensOf } from '../../core/facts/context-tokens.ts';
import { errorLineOf, type RunCall } from '../../core/facts/run-call.ts';
import { lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { createBreather } from '../../core/node/breather.ts';
import { toStoredRecord } from '../../core/records/decode-record.ts';
import type { PayloadOf } from '../../core/records/shapes.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { FailureRow, FilesRow, RecordsAnswer, RunState, SeenRequest } from './api-shapes.ts';
import { cutValues } from './cut-values.ts';
import type { RunReader } from './run-reader.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';

/** Approximate maximum number of characters of records per response. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

/** Returns the record as the API sends it: the stored record with long values truncated. */
export function shownRecord(record: TrajectoryRecord): TrajectoryRecord {
  const stored = toStoredRecord(record);
  // A stored record has the shape of the API. A payload of an unknown kind is not changed.
  return { ...stored, payload: cutValues(stored.payload) } as unknown as TrajectoryRecord;
}

/**
 * Reads up to `limit` records of a run, or fewer if they are large. At a damaged record it stops and returns the problem.
 *
 * @throws CoxswainError if the store cannot be read
 */
export async function readRecords(
  reader: RunReader,
  run: RunSummary,
  { fromSeq, limit }: { readonly fromSeq: number; readonly limit: number },
): Promise<RecordsAnswer> {
  const records: TrajectoryRecord[] = [];
  let nextSeq = fromSeq;
  let chars = 0;
  let { lastSeq } = run;
  try {
    for await (const record of reader.readRun(run.runId, { fromSeq, limit })) {
      const shownRecordJson = shownRecord(record);
      records.push(shownRecordJson);
      nextSeq = lastSeqOf(record) + 1;
      chars += JSON.stringify(shownRecordJson).length;
      if (chars > MAX_ANSWER_CHARS) break;
    }
  } catch (error) {
    if (!isDamage(error) && run.problem === undefined) throw error;
    return { records, nextSeq, lastSeq, problem: problemOf(error).problem };
  }
  // The list of runs may be older than the records.
  lastSeq = Math.max(lastSeq, nextSeq - 1);
  return { records, nextSeq, lastSeq };
}

/**
 * Yields the records of a run up to the first damaged one. It lets other work run in between.
 *
 * @throws CoxswainError if the store cannot be read
 */
export async function* undamagedRecords(
  reader: RunReader,
  run: RunSummary,
): AsyncGenerator<TrajectoryRecord, void, void> {
  const pauseIfDue = createBreather();
  try {
    for await (const record of reader.readRun(run.runId)) {
      yield record;
      const pause = pauseIfDue();
      if (pause !== undefined) await pause;
    }
  } catch (error) {
    if (!isDamage(error) && run.problem === undefined) throw error;
  }
}

/**
 * Returns the state of the run after a call returned and before the next call started. @throws CoxswainError if the store cannot be read
 */
export async function readState(reader: RunReader, run: RunSummary, call: number): Promise<RunState> {
  const fold = new RunStateFold();
  for await (const record of undamagedRecords(reader, run)) {
    // Records between the call's result and the next call belong to the call.
    if (record.payload.kind === 'tool_started' && fold.calls >= call && !fold.isOpen(call)) break;
    fold.fold(record);
  }
  // The state also covers calls that ran in parallel.
  return { ...fold.state(), call: Math.min(call, fold.calls) };
}

/** Reads one record without truncation. @throws CoxswainError with the reason `not-found`, or with the errors of reading it */
export async function readWholeRecord(reader: RunReader, runId: string, seq: number): Promise<unknown> {
  for await (const record of reader.readRun(runId, { fromSeq: seq, limit: 1 })) {
    if (record.seq === seq) return toStoredRecord(record);
  }
  throw viewerFault('not-found', `the run has no record ${seq}`);
}

/** The error codes for a record that was changed after it was written, cannot be decoded, or has a later schema version. */
const DAMAGE_CODES: ReadonlySet<CoxswainErrorCode> = new Set(['store-damaged', 'invalid-record', 'schema-version']);

/** Returns true if a record is damaged, and false if the store could not be read. */
export function isDamage(error: unknown): boolean {
  return error instanceof CoxswainError && DAMAGE_CODES.has(error.code);
}

const MAX_FILES = 2_000;
/** Maximum number of files and failures in a response. The latest are kept. */
const MAX_LATEST = 20;
const NAME_CHARS = 200;

/** Computes the state of a run by folding its records up to a call. */
class RunStateFold {
  readonly #view = new RunView();
  readonly #readFiles = new Set<string>();
  readonly #writtenFiles = new Set<string>();
  /** Calls that failed and have not succeeded since then, keyed by tool and arguments. */
  readonly #failures = new Map<string, FailureRow>();
  #errorsInARow = 0;
  #contextTokens: number | undefined;
  #deadlineMs: number | undefined;
  #lastRequest: SeenRequest | undefined;
  /** The request that led to the last call. Before the first call, it is the last request. */
  #request: SeenRequest | undefined;

  get calls(): number {
    return this.#view.calls;
  }

  isOpen(call: number): boolean {
    return this.#view.openCalls.some(({ number }) => number === call);
  }

  fold(record: TrajectoryRecord): void {
    const { payload } = record;
    const call = this.#view.fold(record);
    if (call?.endSeq !== undefined) this.#noteResult(call, record);
    if (payload.kind === 'deadline_set') this.#deadlineMs = payload.deadline_at_unix_ms;
    if (payload.kind === 'run_started' && payload.steering?.deadline_at_unix_ms !== undefined)
      this.#deadlineMs = payload.steering.deadline_at_unix_ms;
    if (payload.kind === 'provider_request_prepared') this.#lastRequest = requestOf(payload);
    if (payload.kind === 'tool_started' || this.calls === 0) this.#request = this.#lastRequest;
    this.#contextTokens = contextTokensOf(payload, this.#view.counts.modelId) ?? this.#contextTokens;
  }

  state(): RunState {
    const { calls, checks, counts, lastAtMs, usage } = this.#view;
    const timeLeftMs = this.#deadlineMs === undefined ? undefined : this.#deadlineMs - lastAtMs;
    return {
      call: calls,
      atMs: lastAtMs,
      elapsedMs: counts.startedAtMs > 0 ? lastAtMs - counts.startedAtMs : 0,
      read: filesRowOf(this.#readFiles),
      written: filesRowOf(this.#writtenFiles),
      checks: checks.map(({ command, failed, number }) => ({
        command: command.slice(0, NAME_CHARS).toWellFormed(),
        failed,
        call: number,
      })),
      failures: [...this.#failures.values()].slice(-MAX_LATEST),
      errorsInARow: this.#errorsInARow,
      ...usage,
      ...present({ contextTokens: this.#contextTokens, timeLeftMs, request: this.#request }),
    };
  }

  #noteResult(call: RunCall, record: TrajectoryRecord): void {
    const { args, failed, number, outcome, tool } = call;
    // A refused or cancelled call has neither failed nor succeeded.
    if (outcome !== undefined) return;
    const { kind, target } = readCall(tool, args);
    const key = `${tool} ${canonicalJson(args)}`.slice(0, 2_000);
    if (failed) {
      const line = errorLineOf(call, record)?.slice(0, NAME_CHARS).toWellFormed() ?? 'failed';
      this.#failures.delete(key);
      if (this.#failures.size < MAX_FILES)
        this.#failures.set(key, { call: number, tool: tool.slice(0, NAME_CHARS), line });
      this.#errorsInARow += 1;
      return;
    }
    this.#failures.delete(key);
    this.#errorsInARow = 0;
    const files = kind === 'read' ? this.#readFiles : kind === 'write' ? this.#writtenFiles : undefined;
    if (files === undefined || target === undefined || files.size >= MAX_FILES) return;
    // Deleting the entry first moves it to the end. The last entries are listed as the latest files.
    files.delete(target);
    files.add(target);
  }
}

function requestOf(preparedRequest: PayloadOf<'provider_request_prepared'>): SeenRequest {
  const {
    message_count: messages,
    model_id,
    system_prompt_chars: systemChars,
    tool_count: toolCount,
    tools,
  } = preparedRequest;
  const modelId = model_id?.slice(0, NAME_CHARS).toWellFormed();
  const toolNames = tools.slice(0, MAX_LATEST).map((tool) => tool.slice(0, NAME_CHARS).toWellFormed());
  return { ...present({ modelId }), messages, systemChars, toolCount, tools: toolNames };
}

function filesRowOf(files: ReadonlySet<string>): FilesRow {
  const latest = [...files].slice(-MAX_LATEST).reverse();
  return { count: files.size, latest: latest.map((file) => file.slice(0, NAME_CHARS).toWellFormed()) };
}
