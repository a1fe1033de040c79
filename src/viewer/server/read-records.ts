import { canonicalJson } from '../../core/base/canonical-json.ts';
import { CoxswainError, type CoxswainErrorCode } from '../../core/base/error.ts';
import { countOf, durationText, usdText } from '../../core/base/number-text.ts';
import { readCall } from '../../core/detect/calls/tool-semantics.ts';
import { contextTokensOf } from '../../core/facts/context-tokens.ts';
import { errorLineOf, type RunCall } from '../../core/facts/run-call.ts';
import { lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import { checkResult } from '../../core/facts/run-verdict.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { tokenFacts } from '../../core/facts/usage-text.ts';
import { createBreather } from '../../core/node/run-limited.ts';
import { toStoredRecord } from '../../core/records/decode-record.ts';
import type { PayloadOf } from '../../core/records/shapes.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RecordsAnswer, RunState, CutText } from './api-shapes.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';
import type { StoreReader } from '../../core/store/trajectory-store.ts';

export interface RunReader extends StoreReader {
  /** Returns the ids of the runs that changed since the last call, or undefined if they are unknown. */
  changes(): Promise<readonly string[] | undefined>;
  takeReplaced?(): ReadonlySet<string>;
  /** Yields all runs in one pass. Present if the store has a cheaper way than reading page by page. */
  listAll?(): AsyncIterable<RunSummary>;
  /** Returns the progress of reading files. Undefined when reading is finished, and for stores. */
  indexing?(): { readonly files: number; readonly done: number } | undefined;
  projectOf?(runId: string): string | undefined;
  trouble?(): string | undefined;
}

interface CutLimits {
  readonly textChars: number;
  readonly payloadChars: number;
}

const LIMITS: CutLimits = { textChars: 20_000, payloadChars: 200_000 };
const PREVIEW_CHARS = 4_000;
/** Deeper values are replaced, so that recursive functions of the page do not overflow the stack. */
const MAX_DEPTH = 40;
const MAX_MEMBERS = 2_000;
/** Texts up to this length are sent even after the total limit is reached. */
const SHORT_CHARS = 200;

/** Replaces long texts (20,000 characters), depth (40) and the rest after 200,000 by `{ "$cut": { chars, preview } }`. */
export function cutValues<Value>(payload: Value, { payloadChars, textChars }: CutLimits = LIMITS): Value {
  const state = { left: payloadChars, textChars };
  // The replacement has another type, as the API documents.
  return cutValue(payload, state, 0) as Value;
}

interface CutState {
  left: number;
  readonly textChars: number;
}

function cutValue(value: unknown, state: CutState, depth: number): unknown {
  if (typeof value === 'string') {
    if (value.length <= Math.max(SHORT_CHARS, Math.min(state.textChars, state.left))) {
      state.left -= value.length;
      return value;
    }
    const preview = value.slice(0, Math.max(0, Math.min(PREVIEW_CHARS, state.left))).toWellFormed();
    state.left -= preview.length;
    return cutText(value.length, preview);
  }
  state.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (state.left <= 0 || depth >= MAX_DEPTH) return cutText(countJsonChars(value), '');
  return Array.isArray(value) ? cutItems(value, state, depth) : cutMembers(value, state, depth);
}

function cutItems(items: readonly unknown[], state: CutState, depth: number): readonly unknown[] {
  const shown: unknown[] = [];
  for (const [index, item] of items.entries()) {
    if (state.left <= 0) {
      const rest = items.slice(index);
      return [...shown, cutText(countJsonChars(rest), `${rest.length} more`)];
    }
    shown.push(cutValue(item, state, depth + 1));
  }
  return shown;
}

function cutMembers(source: object, state: CutState, depth: number): object {
  const members = Object.entries(source);
  const shown = members.slice(0, MAX_MEMBERS).map(([key, member]) => {
    state.left -= key.length;
    return [key, cutValue(member, state, depth + 1)] as const;
  });
  const rest = members.slice(MAX_MEMBERS);
  // It also defines a key such as `__proto__`, for which assignment would not.
  return Object.fromEntries(
    rest.length === 0 ? shown : [...shown, ['…', cutText(countJsonChars(rest), `${rest.length} more`)]],
  );
}

function cutText(chars: number, preview: string): CutText {
  return { $cut: { chars, preview } };
}

/** Iterative, because JSON may be nested deeper than the stack allows. The result is approximate. */
function countJsonChars(root: unknown): number {
  let chars = 0;
  const left: unknown[] = [root];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') chars += value.length + 2;
    else if (typeof value !== 'object' || value === null) chars += 5;
    else if (Array.isArray(value)) {
      chars += value.length + 2;
      for (const item of value as readonly unknown[]) left.push(item);
    } else {
      for (const [key, member] of Object.entries(value)) {
        chars += key.length + 4;
        left.push(member);
      }
      chars += 2;
    }
  }
  return chars;
}

const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

export function shownRecord(record: TrajectoryRecord, limits?: CutLimits): TrajectoryRecord {
  const stored = toStoredRecord(record);
  // A stored record has the shape of the API. A payload of an unknown kind is not changed.
  return { ...stored, payload: cutValues(stored.payload, limits) } as unknown as TrajectoryRecord;
}

/** Reads fewer records if they are large. At a damaged record it stops and returns the problem. */
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

/** Yields the records up to the first damaged one, and lets other work run in between. */
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

/** Returns the state after a call returned and before the next call started. */
export async function readState(reader: RunReader, run: RunSummary, call: number): Promise<RunState> {
  const fold = new RunStateFold();
  for await (const record of undamagedRecords(reader, run)) {
    // Records between the call's result and the next call belong to the call.
    if (record.payload.kind === 'tool_started' && fold.calls >= call && !fold.isOpen(call)) break;
    fold.fold(record);
  }
  // The state also covers calls that ran in parallel.
  return { call: Math.min(call, fold.calls), facts: fold.facts() };
}

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
const MAX_LATEST = 20;
const NAME_CHARS = 200;
const LINE_CHARS = 2_000;

class RunStateFold {
  readonly #view = new RunView();
  readonly #readFiles = new Set<string>();
  readonly #writtenFiles = new Set<string>();
  readonly #failures = new Map<string, string>();
  #errorsInARow = 0;
  #contextTokens: number | undefined;
  #deadlineMs: number | undefined;
  #lastRequest: PayloadOf<'provider_request_prepared'> | undefined;
  /** The request that led to the last call. Before the first call, it is the last request. */
  #request: PayloadOf<'provider_request_prepared'> | undefined;

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
    if (payload.kind === 'provider_request_prepared') this.#lastRequest = payload;
    if (payload.kind === 'tool_started' || this.calls === 0) this.#request = this.#lastRequest;
    this.#contextTokens = contextTokensOf(payload, this.#view.counts.modelId) ?? this.#contextTokens;
  }

  facts(): RunState['facts'] {
    const { checks, counts, lastAtMs, usage } = this.#view;
    const leftMs = this.#deadlineMs === undefined ? undefined : this.#deadlineMs - lastAtMs;
    const lasted = counts.startedAtMs > 0 ? durationText(lastAtMs - counts.startedAtMs) : '0 ms';
    const left =
      leftMs === undefined ? '' : `, ${durationText(Math.abs(leftMs))} ${leftMs < 0 ? 'past the deadline' : 'left'}`;
    const inARow = this.#errorsInARow > 1 ? [`${countOf(this.#errorsInARow, 'failure')} in a row`] : [];
    const facts: RunState['facts'] = [
      ['What the model saw this turn', this.#request === undefined ? [] : linesOfRequest(this.#request)],
      ['Read', linesOfFiles(this.#readFiles)],
      ['Written', linesOfFiles(this.#writtenFiles)],
      ['Checks', checks.map((check) => `${checkResult(check)} at call ${check.number}: ${check.command}`)],
      ['Failing', [...[...this.#failures.values()].slice(-MAX_LATEST), ...inARow]],
      ['Context', this.#contextTokens === undefined ? [] : [countOf(this.#contextTokens, 'token')]],
      ['Tokens', [tokenFacts(usage).join(', ')]],
      ['Cost', usage.costUsd === undefined ? [] : [usdText(usage.costUsd)]],
      ['Time', [`${lasted}${left}`]],
    ];
    const isShown = (line: string): boolean => line !== '';
    const shown = facts.map(([name, lines]) => [name, lines.filter(isShown).map(shortLine)] as const);
    return shown.filter(([name, lines]) => lines.length > 0 || name === 'Checks' || name === 'Failing');
  }

  #noteResult(call: RunCall, record: TrajectoryRecord): void {
    const { args, failed, number, outcome, tool } = call;
    // A refused or cancelled call has neither failed nor succeeded.
    if (outcome !== undefined) return;
    const { kind, target } = readCall(tool, args);
    const key = `${tool} ${canonicalJson(args)}`.slice(0, 2_000);
    if (failed) {
      this.#failures.delete(key);
      const line = errorLineOf(call, record) ?? 'failed';
      if (this.#failures.size < MAX_FILES) this.#failures.set(key, shortLine(`call ${number}, ${tool}: ${line}`));
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

function linesOfRequest(request: PayloadOf<'provider_request_prepared'>): readonly string[] {
  const { message_count: messages, model_id: modelId, system_prompt_chars: chars, tool_count: count, tools } = request;
  const sizes = [countOf(messages, 'message'), `${countOf(chars, 'character')} of instructions`];
  const names = tools.slice(0, MAX_LATEST).map((tool) => tool.slice(0, NAME_CHARS));
  const more = count > names.length && names.length > 0 ? ', …' : '';
  return [
    [...(modelId === undefined ? [] : [modelId]), ...sizes].join(' · '),
    `${countOf(count, 'tool')} offered${names.length === 0 ? '' : `: ${names.join(', ')}`}${more}`,
  ];
}

function linesOfFiles(files: ReadonlySet<string>): readonly string[] {
  return [countOf(files.size, 'file'), ...[...files].slice(-MAX_LATEST).reverse()];
}

function shortLine(line: string): string {
  return line.slice(0, LINE_CHARS).toWellFormed();
}
