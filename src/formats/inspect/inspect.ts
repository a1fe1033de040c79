import { CoxswainError } from '../../core/base/error.ts';
import { isJsonObject, type Json, type JsonMembers, listOf, membersOf, textOrUndefined } from '../../core/base/json.ts';
import {
  diagnosticItem,
  type ImportItem,
  type ArchiveImporter,
  type ArchiveReader,
  type DocumentImporter,
} from '../importer.ts';
import { decodeJson } from '../reading/json-text.ts';
import { plainText } from '../parts/object-lines.ts';
import { SkipCounts, UniqueNames } from '../parts/skip-counts.ts';
import {
  sourceStem,
  asJson,
  plainest,
  sourceBlock,
  sourceBlocks,
  sourceResult,
  sourceTimeMs,
  sourceUsage,
  namedCall,
} from '../parts/source-content.ts';
import { type StoredContentBlock, type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';

interface InspectLog {
  /** `eval` of the log's header. */
  readonly spec: JsonMembers;
  /** Prefix of run ids for a log without an id. */
  readonly stem: string;
  readonly ids: UniqueNames;
}

interface Reading {
  readonly items: RunItems;
  readonly resolve: Resolve;
  readonly times: InspectTimes;
  readonly seen: Map<string, number>;
  /** Usage of the only answer, from the output of the sample. Logs of early versions have no events. */
  readonly onlyUsage: StoredUsage | undefined;
}

/**
 * Every entry of an assistant's `tool_calls` is a call; its result is the `tool` message with the same id. Events only
 * give times and tokens, because they repeat the messages and include the scorers' requests. A `tool` message whose
 * call is in no message (a shortened log) is a call with null args.
 */
function* inspectSampleItems(value: unknown, log: InspectLog): Generator<ImportItem> {
  const sample = membersOf(value);
  const times = inspectTimes(sample.events);
  const { spec } = log;
  const base = textOrUndefined(spec.eval_id) ?? textOrUndefined(spec.task_id) ?? textOrUndefined(spec.run_id);
  const id = log.ids.take(`${base ?? log.stem}/${nameOf(sample.id)}/epoch-${nameOf(sample.epoch)}`);
  const items = new RunItems(id);
  const resolve = attachmentResolver(sample.attachments, () => items.lost.add('attachments missing from the log'));
  yield items.begin('inspect', {
    task: taskOf(sample, resolve),
    agentName: textOrUndefined(spec.solver),
    modelId: textOrUndefined(spec.model),
    startedAtMs: sourceTimeMs(sample.started_at) ?? times.firstMs ?? sourceTimeMs(spec.created),
  });
  if (!Array.isArray(sample.messages)) items.lost.add('samples without a list of messages');
  const answers = listOf(sample.messages).filter((message) => membersOf(message).role === 'assistant');
  const onlyUsage = answers.length === 1 ? usageOf(membersOf(sample.output).usage) : undefined;
  const reading: Reading = { items, resolve, times, seen: new Map(), onlyUsage };
  for (const message of listOf(sample.messages)) yield* messageItems(reading, membersOf(message));
  for (let count = 0; count < times.compactions; count += 1) items.skipped.add('compactions at an unknown position');
  yield* items.finish(inspectOutcome(sample), sourceTimeMs(sample.completed_at) ?? times.lastMs);
}

function nameOf(value: unknown): string {
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : '1';
}

function taskOf(sample: JsonMembers, resolve: Resolve): string | undefined {
  const messages = listOf(Array.isArray(sample.input) ? sample.input : sample.messages).map(membersOf);
  const input = typeof sample.input === 'string' ? sample.input : messages.find(({ role }) => role === 'user')?.content;
  return textOrUndefined(textOfContent(plainest(inspectBlocks(resolve(input ?? '')))));
}

function* messageItems(reading: Reading, message: JsonMembers): Generator<ImportItem> {
  const { items, resolve } = reading;
  switch (message.role) {
    case 'system':
    case 'user':
      yield items.message(message.role, plainest(inspectBlocks(resolve(message.content))), undefined);
      break;
    case 'assistant':
      yield* answerItems(reading, message);
      break;
    case 'tool':
      yield* toolItems(reading, message);
      break;
    default:
      items.lost.add('messages of unknown role');
  }
}

function answerItems(reading: Reading, message: JsonMembers): readonly ImportItem[] {
  const { items, resolve, times } = reading;
  const span = times.answers.get(answerKey(message))?.shift();
  const calls = listOf(message.tool_calls).map((value) => {
    const call = membersOf(value);
    return { type: 'call', call: namedCall(call.id, call.function, resolve(call.arguments)) } as const;
  });
  const reasoning = textOrUndefined(message.reasoning);
  const reasoningBlocks: readonly StoredContentBlock[] =
    reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }];
  const parts = [...reasoningBlocks, ...inspectBlocks(resolve(message.content)), ...calls];
  const modelId = textOrUndefined(message.model);
  const usage = span?.usage ?? reading.onlyUsage;
  return items.answer({ parts, modelId, usage }, span?.endMs ?? span?.startMs);
}

function* toolItems(reading: Reading, message: JsonMembers): Generator<ImportItem> {
  const { items, resolve, times, seen } = reading;
  const sourceId = textOrUndefined(message.tool_call_id);
  if (sourceId === undefined ? items.calls.openCount === 0 : !items.calls.isOpen(sourceId)) {
    items.skipped.add('calls known only from their result');
    const call = { sourceId, name: textOrUndefined(message.function) ?? 'unknown', args: null };
    yield* items.answer({ parts: [{ type: 'call', call }], sameTurn: items.calls.openCount > 0 }, undefined);
  }
  const execution = seen.get(sourceId ?? '') ?? 0;
  seen.set(sourceId ?? '', execution + 1);
  const span = times.calls.get(sourceId ?? '')?.[execution];
  const error = message.error === undefined || message.error === null ? undefined : membersOf(message.error);
  const content = sourceResult(resolve(message.content));
  // If the content is empty, the model sees the error text.
  const result = content === '' && error !== undefined ? (textOrUndefined(error.message) ?? content) : content;
  const { startMs, endMs } = span ?? {};
  const durationMs = startMs === undefined || endMs === undefined ? undefined : endMs - startMs;
  yield* items.result({ sourceId, result, isError: error !== undefined, durationMs }, endMs);
}

function inspectBlocks(content: unknown): readonly StoredContentBlock[] {
  if (!Array.isArray(content)) return sourceBlocks(content);
  return content.map((part: unknown) => inspectBlock(part));
}

/** Converts a part. Two types differ from the chat formats: `reasoning`, and `image` as a plain link or data URL. */
function inspectBlock(part: unknown): StoredContentBlock {
  if (!isJsonObject(part)) return sourceBlock(part);
  if (part.type === 'reasoning') {
    const text = textOrUndefined(part.reasoning) ?? textOrUndefined(part.summary);
    if (text !== undefined) return { type: 'reasoning', text };
  }
  if (part.type === 'image' && typeof part.image === 'string') {
    return sourceBlock({ type: 'image_url', image_url: part.image });
  }
  return sourceBlock(part);
}

const PROTOCOL = 'attachment://';
/** Maximum depth at which attachments are resolved. Arguments and message parts are flat. */
const MAX_DEPTH = 16;

/** Restores values that the log of a sample stores in `attachments`. */
type Resolve = (value: unknown) => Json;

/** Replaces a text `attachment://<hash>` anywhere in a value. An unknown hash stays and goes to `onMissing`. */
function attachmentResolver(attachments: unknown, onMissing: () => void): Resolve {
  const texts = isJsonObject(attachments) ? attachments : {};
  const resolveTexts = (value: unknown, depth: number): Json => {
    if (typeof value === 'string') {
      if (!value.startsWith(PROTOCOL)) return value;
      const key = value.slice(PROTOCOL.length);
      const attachment = Object.hasOwn(texts, key) ? texts[key] : undefined;
      if (typeof attachment === 'string') return attachment;
      onMissing();
      return value;
    }
    if (depth >= MAX_DEPTH) return asJson(value);
    if (Array.isArray(value)) return value.map((item: unknown) => resolveTexts(item, depth + 1));
    if (!isJsonObject(value)) return asJson(value);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolveTexts(member, depth + 1)]));
  };
  return (value) => resolveTexts(value, 0);
}

const MAX_ERROR_CHARS = 500;

/** Rewards for Inspect's letter grades and for the words that its `value_to_float` accepts. */
const GRADES: ReadonlyMap<string, number> = new Map([
  ['C', 1],
  ['P', 0.5],
  ['I', 0],
  ['N', 0],
  ['yes', 1],
  ['true', 1],
  ['no', 0],
  ['false', 0],
]);

/** From its `error`, `limit` or scores. The first number or grade is the reward: 1 succeeded, 0 failed. Scores become labels. */
function inspectOutcome(sample: JsonMembers): RunEnded | undefined {
  const error = isJsonObject(sample.error) ? sample.error : undefined;
  const limit = isJsonObject(sample.limit) ? sample.limit : undefined;
  // Early versions of Inspect wrote one `score` without a name.
  const scores = Object.entries(isJsonObject(sample.score) ? { score: sample.score } : membersOf(sample.scores));
  if (error === undefined && limit === undefined && scores.length === 0) return undefined;
  const values: Record<string, Json> = {};
  for (const [name, score] of scores) values[name] = asJson(membersOf(score).value);
  const labels: Record<string, Json> = {};
  if (scores.length > 0) labels.scores = values;
  if (error !== undefined) labels.error = (textOrUndefined(error.message) ?? 'unknown').slice(0, MAX_ERROR_CHARS);
  if (limit !== undefined) labels.limit = textOrUndefined(limit.type) ?? 'unknown';
  const [first] = scores;
  const reward = rewardOf(membersOf(first?.[1]).value);
  const success = reward === 1 || reward === 0 ? reward === 1 : undefined;
  const outcome = error !== undefined ? 'error' : limit !== undefined ? 'limit' : 'ended';
  return runEnded(outcome, { reward, success, labels });
}

function rewardOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return undefined;
  const grade = GRADES.get(value) ?? GRADES.get(value.toLowerCase());
  if (grade !== undefined) return grade;
  return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}

interface InspectSpan {
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly usage?: StoredUsage | undefined;
}

interface InspectTimes {
  /** By `answerKey`, in the order of the requests. */
  readonly answers: ReadonlyMap<string, InspectSpan[]>;
  readonly calls: ReadonlyMap<string, readonly InspectSpan[]>;
  readonly firstMs?: number | undefined;
  readonly lastMs?: number | undefined;
  readonly compactions: number;
}

/** Reads the times from a sample's events. Calls are not counted here, because the messages contain all of them. */
function inspectTimes(events: unknown): InspectTimes {
  const answers = new Map<string, InspectSpan[]>();
  const calls = new Map<string, InspectSpan[]>();
  let firstMs: number | undefined;
  let lastMs: number | undefined;
  let compactions = 0;
  for (const value of listOf(events)) {
    const event = membersOf(value);
    const startMs = sourceTimeMs(event.timestamp);
    const endMs = sourceTimeMs(event.completed);
    firstMs ??= startMs;
    lastMs = endMs ?? startMs ?? lastMs;
    if (event.event === 'compaction') compactions += 1;
    if (event.event === 'model') {
      const output = membersOf(event.output);
      const key = answerKey(membersOf(membersOf(listOf(output.choices)[0]).message));
      const span = { startMs, endMs, usage: usageOf(output.usage) };
      const spans = answers.get(key);
      if (spans === undefined) answers.set(key, [span]);
      else spans.push(span);
    }
    if (event.event === 'tool') {
      const id = textOrUndefined(event.id);
      if (id === undefined) continue;
      const spans = calls.get(id);
      if (spans === undefined) calls.set(id, [{ startMs, endMs }]);
      else spans.push({ startMs, endMs });
    }
  }
  return { answers, calls, firstMs, lastMs, compactions };
}

/** Messages of early versions have no id. Their content then identifies an answer. */
function answerKey({ content, id, tool_calls: calls }: JsonMembers): string {
  return textOrUndefined(id) ?? plainText([content, listOf(calls).map((call) => membersOf(call).id)]);
}

/** Reads the token counts. Inspect has its own field names for cache counts. The other fields are like OpenAI's. */
function usageOf(value: unknown): StoredUsage | undefined {
  const usage = membersOf(value);
  return sourceUsage({
    ...usage,
    cache_read_input_tokens: usage.input_tokens_cache_read,
    cache_creation_input_tokens: usage.input_tokens_cache_write,
  });
}

const SAMPLE_ENTRY = /^samples\/.+_epoch_\d+\.json$/;
/** Inspect writes the first entry when the log is complete, and the second when the log begins. */
const HEADER_ENTRIES = ['header.json', '_journal/start.json'] as const;
const LOG_STATUS: ReadonlySet<unknown> = new Set(['started', 'success', 'cancelled', 'error']);

export const inspectDocumentImporter: DocumentImporter = {
  shape: 'document',
  format: 'inspect',
  recognise(document) {
    if (!isJsonObject(document) || !isJsonObject(document.eval)) return 0;
    const marks = [
      LOG_STATUS.has(document.status),
      typeof document.version === 'number',
      'task' in document.eval || 'run_id' in document.eval || 'task_id' in document.eval,
      Array.isArray(document.samples),
    ].filter(Boolean).length;
    return marks < 2 ? 0 : 0.6 + marks * 0.1;
  },
  *read(document, source) {
    const { eval: spec, samples } = membersOf(document);
    const log = { spec: membersOf(spec), stem: sourceStem(source.name), ids: new UniqueNames() };
    if (listOf(samples).length === 0) yield diagnosticItem('note', 'the log contains no samples');
    const skipCounts = new SkipCounts();
    for (const sample of listOf(samples)) {
      if (isJsonObject(sample)) yield* inspectSampleItems(sample, log);
      else skipCounts.add('samples that are not objects');
    }
    yield* skipCounts.report('error');
  },
};

/** A zip archive with one entry per sample. Summaries and reductions repeat the samples. Memory: the largest sample. */
export const inspectArchiveImporter: ArchiveImporter = {
  shape: 'archive',
  format: 'inspect',
  recognise(entryNames) {
    const hasHeader = HEADER_ENTRIES.some((name) => entryNames.includes(name));
    const hasSample = entryNames.some((name) => SAMPLE_ENTRY.test(name));
    if (hasHeader && hasSample) return 1;
    return entryNames.includes('_journal/start.json') ? 0.9 : hasSample ? 0.7 : 0;
  },
  async *read(archive, source) {
    const stem = sourceStem(source.name);
    const header = yield* readHeader(archive);
    const log = { spec: membersOf(header.eval), stem, ids: new UniqueNames() };
    const names = archive.entries.map((entry) => entry.name).filter((name) => SAMPLE_ENTRY.test(name));
    if (names.length === 0) yield diagnosticItem('note', 'the log contains no samples');
    for (const name of names) {
      const sample = await decodedEntry(archive, name);
      if (sample.ok) yield* inspectSampleItems(sample.value, log);
      else yield diagnosticItem('error', `the entry ${JSON.stringify(name.slice(0, 200))} ${sample.reason}`);
    }
  },
};

async function* readHeader(archive: ArchiveReader): AsyncGenerator<ImportItem, JsonMembers> {
  for (const name of HEADER_ENTRIES) {
    if (!archive.entries.some((entry) => entry.name === name)) continue;
    const header = await decodedEntry(archive, name);
    if (header.ok) return header.value;
    yield diagnosticItem('error', `the entry ${JSON.stringify(name)} ${header.reason}`);
  }
  yield diagnosticItem('note', 'the log has no header, so its runs are named after the file');
  return {};
}

type DecodedEntry =
  | { readonly ok: true; readonly value: JsonMembers }
  | { readonly ok: false; readonly reason: string };

async function decodedEntry(archive: ArchiveReader, name: string): Promise<DecodedEntry> {
  let text: string;
  try {
    text = await archive.readText(name);
  } catch (error) {
    // A damaged or too large entry is skipped. Any other error is a bug or a disk error.
    if (!(error instanceof CoxswainError) || !/^(?:format-invalid|input-too-large)$/.test(error.code)) throw error;
    return { ok: false, reason: `was left out: ${error.message}` };
  }
  const decoded = decodeJson(text);
  if (!decoded.ok) return { ok: false, reason: decoded.reason };
  return isJsonObject(decoded.value)
    ? { ok: true, value: decoded.value }
    : { ok: false, reason: 'is not a JSON object' };
}
