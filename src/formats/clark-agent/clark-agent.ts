import { messageOf } from '../../core/base/error.ts';
import { isJsonObject, present, listOf, membersOf, numberOrUndefined, textOrUndefined } from '../../core/base/json.ts';
import { decodeRecord } from '../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { diagnosticItem, type ImportItem, type ImportSource, type LineImport, type LineImporter } from '../importer.ts';
import { SourceCallIds } from '../parts/call-ids.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { asJson, sourceBlock, sourceResult, sourceStem, sourceUsage } from '../parts/source-content.ts';
import type { StoredContentBlock } from '../../core/records/agent-message.ts';

const MAX_WAITING = 1_000;

/**
 * Reads the records that clark-agent's `TrajectoryRecorder` passes to its sink, one JSON object per line. They have the same
 * `schema_version` as coxswain's records; messages, usage and results have other forms.
 *
 * - Child runs may share their parent's recorder, which then numbers the records of all runs together. A `seq` must follow the
 *   previous `seq` of the file or of its run. A restart at 0 begins another run.
 * - Records without `run_id` belong to the next run that is identified. If no later run is identified, they belong to a run
 *   named after the file.
 *
 * Memory: the open call ids of each run, and up to 1,000 records waiting for their run.
 */
export const clarkAgentImporter: LineImporter = {
  shape: 'lines',
  format: 'clark-agent',
  recognise: (firstLines) => {
    const payloads = firstLines.map((line) => membersOf(line)).filter((line) => typeof line['seq'] === 'number');
    if (payloads.length < firstLines.length) return 0;
    return payloads.some(({ payload }) => isClarkPayload(payload)) ? 1 : 0;
  },
  open: (source) => new ClarkImport(source),
};

class ClarkImport implements LineImport {
  readonly #source: ImportSource;
  readonly #runs = new Map<string, { readonly key: string; nextSeq: number; readonly ids: SourceCallIds }>();
  readonly #strays = new SkipCounts();
  #heldRecords: TrajectoryRecord[] = [];
  #nextSeq = 0;
  #unnamed = 0;

  constructor(source: ImportSource) {
    this.#source = source;
  }

  *line(value: unknown, lineNumber: number): Generator<ImportItem> {
    let record: TrajectoryRecord;
    try {
      record = decodeRecord(isJsonObject(value) ? { ...value, payload: clarkPayload(value['payload']) } : value);
    } catch (error) {
      yield diagnosticItem('error', messageOf(error), { line: lineNumber });
      return;
    }
    const { seq } = record;
    const run = this.#runs.get(record.run_id ?? '');
    if (seq === 0 && this.#nextSeq > 0) yield* this.#placeWaiting(undefined);
    else if (seq !== this.#nextSeq && seq !== run?.nextSeq) yield lostRecords(this.#nextSeq, seq, lineNumber);
    this.#nextSeq = seq + 1;
    if (run !== undefined) run.nextSeq = seq + 1;
    if (record.run_id === undefined) {
      this.#heldRecords.push(record);
      if (this.#heldRecords.length > MAX_WAITING) yield* this.#placeWaiting(undefined);
      return;
    }
    yield* this.#runOf(record.run_id, record);
    yield* this.#placeWaiting(record.run_id);
    yield* this.#placeRecord(record, record.run_id);
  }

  *end(): Generator<ImportItem> {
    yield* this.#placeWaiting(undefined);
    for (const { key, ids } of this.#runs.values()) {
      for (const payload of ids.endMissing()) yield { type: 'record', runKey: key, payload };
      yield { type: 'end', runKey: key };
    }
    yield* this.#strays.report('note');
  }

  *#runOf(id: string, record: TrajectoryRecord): Generator<ImportItem> {
    if (this.#runs.has(id)) return;
    this.#runs.set(id, { key: id, nextSeq: record.seq + 1, ids: new SourceCallIds() });
    const identity = record.payload.kind === 'run_started' ? record.payload.identity : undefined;
    yield {
      type: 'run',
      run: {
        key: id,
        id,
        format: 'clark-agent',
        ...present({
          parentId: record.parent_run_id ?? identity?.parent_run_id,
          conversationId: identity?.conversation_id,
          startedAtMs: timeOf(record),
        }),
      },
    };
  }

  *#placeWaiting(runId: string | undefined): Generator<ImportItem> {
    const heldRecords = this.#heldRecords;
    const [first] = heldRecords;
    if (first === undefined) return;
    this.#heldRecords = [];
    let id = runId;
    if (id === undefined) {
      this.#unnamed += 1;
      id = `${sourceStem(this.#source)}-unidentified${this.#unnamed === 1 ? '' : `-${this.#unnamed}`}`;
      yield* this.#runOf(id, first);
    }
    for (const record of heldRecords) yield* this.#placeRecord(record, id);
  }

  *#placeRecord(record: TrajectoryRecord, runId: string): Generator<ImportItem> {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    const { payload } = record;
    const itemOf = (one: TrajectoryRecord['payload']): ImportItem => ({
      type: 'record',
      runKey: run.key,
      payload: one,
      ...present({ atMs: timeOf(record) }),
    });
    if (payload.kind === 'run_started') {
      const deadlineMs = numberOrUndefined(membersOf(payload.identity)['deadline_unix_ms']);
      if (deadlineMs !== undefined) yield itemOf({ kind: 'deadline_set', deadline_at_unix_ms: deadlineMs });
    } else if (payload.kind === 'tool_started') {
      const { tool_call_id: sourceId, tool_name: name, args } = payload;
      yield itemOf({ ...payload, ...run.ids.start({ sourceId, name, args }) });
    } else if (payload.kind === 'tool_ended') {
      const { tool_call_id: sourceId, result, is_error: isError } = payload;
      const endPayload = run.ids.end({ sourceId, result: seenResult(result), isError });
      if (endPayload === undefined) this.#strays.add('results of calls that had one, or none');
      else yield itemOf({ ...payload, ...endPayload });
    } else {
      if (payload.kind === 'run_ended') for (const missingResult of run.ids.endMissing()) yield itemOf(missingResult);
      yield itemOf(payload);
    }
  }
}

/** Returns the part of a result that the model saw. Details and narration are for people and programs. */
function seenResult(result: unknown): ReturnType<typeof sourceResult> {
  return isJsonObject(result) && Array.isArray(result['content'])
    ? sourceResult(clarkBlocks(result['content']))
    : sourceResult(result);
}

function timeOf({ recorded_at_unix_ms: atMs }: TrajectoryRecord): number | undefined {
  return atMs > 0 ? atMs : undefined;
}

function lostRecords(expected: number, foundSeq: number, line: number): ImportItem {
  const message =
    foundSeq > expected
      ? `records ${expected} to ${foundSeq - 1} are missing`
      : `record ${foundSeq} comes after ${expected - 1}`;
  return diagnosticItem('error', message, { line });
}

/** Returns true for a payload that only clark-agent writes: a message with a time, or clark-agent's names of usage fields. */
function isClarkPayload(payload: unknown): boolean {
  const { kind, message, identity } = membersOf(payload);
  if (kind === 'message_appended') {
    const { role, timestamp } = membersOf(message);
    return role === 'custom' || typeof timestamp === 'number' || messagesOf(payload).some(isClarkMessage);
  }
  return kind === 'run_started' ? 'deadline_unix_ms' in membersOf(identity) : messagesOf(payload).some(isClarkMessage);
}

/** Converts a clark-agent payload to a coxswain payload. Any other payload stays unchanged, and the decoder rejects it. */
function clarkPayload(payload: unknown): unknown {
  if (!isJsonObject(payload)) return payload;
  const { message, assistant, tool_results: results, new_messages: added } = payload;
  return {
    ...payload,
    ...present({
      message: message === undefined ? undefined : storedMessage(message),
      assistant: assistant === undefined ? undefined : storedMessage(assistant),
      tool_results: Array.isArray(results) ? results.map(storedMessage) : undefined,
      new_messages: Array.isArray(added) ? added.map(storedMessage) : undefined,
    }),
  };
}

function clarkBlocks(content: unknown): readonly StoredContentBlock[] {
  return listOf(content).map(storedBlock);
}

function messagesOf(payload: unknown): readonly unknown[] {
  const { message, assistant, tool_results: results } = membersOf(payload);
  return [message, assistant, ...listOf(results)];
}

function isClarkMessage(message: unknown): boolean {
  const { role, content, usage } = membersOf(message);
  if (role !== 'assistant') return false;
  return (
    'cache_read_input_tokens' in membersOf(usage) || listOf(content).some((block) => 'arguments' in membersOf(block))
  );
}

function storedMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { role, content, model, usage } = message;
  if (role === 'custom') {
    const value = asJson({ kind: message['kind'], payload: message['payload'] });
    return { role: 'system', content: [{ type: 'other', value }] };
  }
  const storedUsage = sourceUsage(usage, textOrUndefined(model));
  const { usage: _left, ...rest } = message;
  return {
    ...rest,
    content: Array.isArray(content) ? clarkBlocks(content) : content,
    ...present({ usage: storedUsage }),
  };
}

function storedBlock(block: unknown): StoredContentBlock {
  const members = membersOf(block);
  const { type, id, name, text } = members;
  if (type === 'tool_call' && typeof id === 'string' && typeof name === 'string') {
    return { type, id, name, args: asJson(members['arguments']) };
  }
  if ((type === 'thinking' || type === 'reasoning') && typeof text === 'string') return { type: 'reasoning', text };
  const source = textOrUndefined(members['source']);
  if (type === 'image' && source !== undefined) {
    return sourceBlock({ type, image_url: source, source: { media_type: members['media_type'] } });
  }
  return sourceBlock(block);
}
