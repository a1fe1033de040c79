import { canonicalJson } from '../../base/canonical-json.ts';
import type { Json } from '../../base/json.ts';
import { textOfContent } from '../../records/stored-message.ts';
import type { RunEnded, ToolEnded } from '../../records/trajectory-record.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { type AnswerPart, runEnded, RunItems } from '../parts/run-items.ts';
import { plainest } from '../parts/source-content.ts';
import { GENAI_OPERATIONS } from './genai-names.ts';
import { readMessages, type TracedMessage } from './read-messages.ts';
import {
  errorText,
  errorTypeOf,
  failedIn,
  finishReason,
  fieldText,
  spanUsage,
  valueField,
  type KnownSpan,
} from './read-span.ts';
import type { TraceSpan } from './trace-span.ts';

export interface SpanRun {
  readonly id: string;
  readonly parentId: string | undefined;
  /** The agent span. Absent for a trace without a root span. */
  readonly agent: KnownSpan | undefined;
  readonly ending: TraceSpan | undefined;
  /** The requests, calls and user messages of the run, in order. */
  readonly members: readonly KnownSpan[];
  /** Number of parent spans that never arrived. */
  readonly missingSpans: number;
  /**
   * Number of requests and calls that are nested in another request or call of the run. This happens if two instrumentations
   * report the same operation.
   */
  readonly innerSpans: number;
}

/** Counts content that the sender did not capture. */
interface Uncaptured {
  arguments: number;
  results: number;
  answers: number;
  prompts: number;
}

/** A request with its answer, or a user message, and the calls until the next one. */
interface Turn {
  readonly known: KnownSpan | undefined;
  readonly output: readonly TracedMessage[];
  /** The calls that the answer names. */
  readonly declared: readonly CallShape[];
  readonly tools: KnownSpan[];
}

/**
 * Yields the items of one run. Calls that an answer names are matched by id with the spans that ran them. Without such a span,
 * the result comes from the next request. A call that no answer names belongs to the last answer before it.
 *
 * Missing content is never invented. A call without arguments contains its span id, so that it differs from every other call.
 * A missing result is marked as missing. A final record counts what is missing.
 */
export function* spanRunItems(run: SpanRun): Generator<ImportItem> {
  const { id, agent, ending, members } = run;
  if (members.length === 0 && agent === undefined) return;
  const startedAtMs = (agent ?? members[0])?.span.startMs;
  const turns = turnsOf(members);
  const messages = new FreshMessages();
  const uncapturedCounts: Uncaptured = { arguments: 0, results: 0, answers: 0, prompts: 0 };
  const items = new RunItems(id);
  const runSpans = agent === undefined ? members : [agent, ...members];
  // The input of the agent repeats its first request. It is used only if requests contain no messages.
  const hasInput = members.some((known) => known.role !== 'tool' && known.field('input') !== undefined);
  const first = agent === undefined || hasInput ? [] : requestOf(agent);
  const task = taskOf(first) ?? firstTask(members);
  yield items.begin('otlp', {
    task,
    parentId: run.parentId,
    conversationId: firstOf(runSpans, 'conversation'),
    agentName: agent && fieldText(agent, 'agent'),
    modelId: firstOf(runSpans, 'model'),
    startedAtMs: startedAtMs === undefined ? undefined : Math.round(startedAtMs),
  });
  for (const { role, parts } of messages.fresh(first)) yield items.message(role, contentOf(parts), startedAtMs);
  const context = { items, messages, uncaptured: uncapturedCounts, repeated: repeatedResults(members) };
  for (const turn of turns) yield* turnItems(turn, context);
  const dropped = runSpans.reduce((sum, { span }) => sum + (span.dropped ?? 0), 0);
  const missingCounts = { ...uncapturedCounts, missing_spans: run.missingSpans, inner_spans: run.innerSpans, dropped };
  const notes = Object.entries(missingCounts).filter(([, count]) => count > 0);
  if (notes.length > 0) {
    yield items.record(
      { kind: 'session_event', event_type: 'otel.not_captured', data: Object.fromEntries(notes) },
      ending?.endMs,
    );
    const text = notes.map(([name, count]) => `${count} ${NOTES[name] ?? name}`).join(', ');
    yield diagnosticItem('note', `not in the run: ${text}`, { runKey: id });
  }
  yield* items.finish(ending === undefined ? undefined : endingOf(ending, agent), ending?.endMs);
}

/** The type of content that each count refers to. */
const NOTES: Readonly<Record<string, string>> = {
  arguments: 'arguments of calls',
  results: 'results of calls',
  answers: 'texts of answers',
  prompts: 'texts of prompts',
  missing_spans: 'parent spans',
  inner_spans: 'spans within a request or call',
  dropped: 'attributes or events that the sender dropped',
};

interface RunContext {
  readonly items: RunItems;
  /** Results that later requests repeat, by call id. */
  readonly repeated: ReadonlyMap<string, Json>;
  readonly messages: FreshMessages;
  readonly uncaptured: Uncaptured;
}

function* turnItems({ known, output, declared, tools }: Turn, context: RunContext): Generator<ImportItem> {
  const { items, messages, uncaptured } = context;
  if (known !== undefined) {
    const { startMs, endMs } = known.span;
    const request = requestOf(known);
    for (const { id: sourceId, result } of lastResults(request)) {
      if (sourceId === undefined || items.calls.isOpen(sourceId)) yield* items.result({ sourceId, result }, startMs);
    }
    for (const { role, parts } of messages.fresh(request)) yield items.message(role, contentOf(parts), startMs);
    if (known.role === 'prompt') {
      if (request.length === 0) uncaptured.prompts += 1;
      return;
    }
    const parts = output.flatMap((message) => message.parts);
    const hasFailed = failedIn(known) && parts.length === 0;
    if (parts.length === 0 && !hasFailed) uncaptured.answers += 1;
    const answer = {
      parts,
      stopReason: finishReason(known) ?? output[0]?.finishReason,
      modelId: fieldText(known, 'model'),
      usage: spanUsage(known),
    };
    const errorMessage = errorText(known) ?? 'the request failed';
    yield* items.answer(hasFailed ? { ...answer, errorMessage, sameTurn: true } : answer, endMs ?? startMs);
  }
  const callByTool = joinCalls(declared, tools);
  const steps = tools.flatMap((tool) => {
    const call = callByTool.get(tool);
    const sourceId = call === undefined ? (fieldText(tool, 'callId') ?? tool.span.spanId) : call.sourceId;
    const end = { atMs: tool.span.endMs ?? Infinity, tool, sourceId, begins: false };
    return call !== undefined ? [end] : [{ atMs: tool.span.startMs, tool, sourceId, begins: true }, end];
  });
  // The spans are already in order, and the sort is stable.
  steps.sort((a, b) => a.atMs - b.atMs || Number(b.begins) - Number(a.begins));
  for (const { tool, sourceId, begins, atMs } of steps) {
    if (begins) {
      const call = callOf(tool, sourceId);
      if (tool.field('arguments') === undefined) uncaptured.arguments += 1;
      yield items.record(items.calls.start(call), atMs);
      continue;
    }
    const ended = resultOf(tool, sourceId, context);
    if (ended === undefined) continue;
    if (ended.result_missing === true) uncaptured.results += 1;
    const { startMs, endMs } = tool.span;
    yield items.ended(ended, endMs === undefined ? undefined : endMs - startMs, endMs);
  }
}

interface Join {
  readonly ofCall: (call: CallShape) => string | undefined;
  readonly ofSpan: (tool: KnownSpan) => string | undefined;
}

/** Ways to match a named call with its span, most reliable first. Several are needed because many tool spans lack the call's id. */
const JOINS: readonly Join[] = [
  { ofCall: ({ sourceId }) => sourceId, ofSpan: (tool) => fieldText(tool, 'callId') },
  {
    ofCall: ({ name, args }) => canonicalJson([name, args]),
    ofSpan: (tool) => canonicalJson([nameOf(tool), argumentsOf(tool)]),
  },
  {
    ofCall: ({ name }) => name,
    ofSpan: (tool) => (fieldText(tool, 'callId') === undefined ? nameOf(tool) : undefined),
  },
];

/** Returns the named call of each span. */
function joinCalls(declared: readonly CallShape[], tools: readonly KnownSpan[]): ReadonlyMap<KnownSpan, CallShape> {
  const calls = new Map<KnownSpan, CallShape>();
  for (const { ofCall, ofSpan } of JOINS) {
    const joinedCalls = new Set(calls.values());
    const freeCalls = Map.groupBy(declared.filter((call) => !joinedCalls.has(call)).toReversed(), ofCall);
    freeCalls.delete(undefined);
    for (const tool of tools) {
      const call = calls.has(tool) ? undefined : freeCalls.get(ofSpan(tool))?.pop();
      if (call !== undefined) calls.set(tool, call);
    }
  }
  return calls;
}

function argumentsOf(tool: KnownSpan): Json {
  return valueField(tool, 'arguments') ?? { not_captured: `span ${tool.span.spanId}` };
}

function callOf(tool: KnownSpan, sourceId: string | undefined): CallShape {
  return { sourceId, name: nameOf(tool), args: argumentsOf(tool) };
}

function nameOf(tool: KnownSpan): string {
  const { name } = tool.span;
  const prefix = `${GENAI_OPERATIONS.tool} `;
  return fieldText(tool, 'tool') ?? ((name.startsWith(prefix) ? name.slice(prefix.length) : name) || 'unknown');
}

/** Returns the result in the span. For a failure it is the text that the model saw, if a request repeats it. */
function resultOf(
  tool: KnownSpan,
  sourceId: string | undefined,
  { items, repeated }: RunContext,
): ToolEnded | undefined {
  const isError = failedIn(tool);
  const firstSeenMs = sourceId === undefined ? undefined : repeated.get(sourceId);
  const result = valueField(tool, 'result') ?? firstSeenMs ?? (isError ? errorText(tool) : undefined);
  const ended = items.calls.end({ sourceId, result: result ?? null, isError });
  return ended === undefined || result !== undefined ? ended : { ...ended, result_missing: true };
}

function repeatedResults(members: readonly KnownSpan[]): ReadonlyMap<string, Json> {
  const texts = new Map<string, Json>();
  for (const known of members) {
    if (known.role !== 'model') continue;
    for (const { id, result } of lastResults(requestOf(known)))
      if (id !== undefined && !texts.has(id)) texts.set(id, result);
  }
  return texts;
}

/** Returns the requests in order. Each has the calls that it issued or that started after it. */
function turnsOf(members: readonly KnownSpan[]): readonly Turn[] {
  const turnBefore: Turn = { known: undefined, output: [], declared: [], tools: [] };
  const turns = members
    .filter(({ role }) => role !== 'tool')
    .map((known): Turn => {
      const output = known.role === 'model' ? readMessages(known.field('output'), 'assistant').slice(0, 1) : [];
      const declared = output.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'call' ? [part.call] : [])),
      );
      return { known, output, declared, tools: [] };
    });
  const allTurns = [turnBefore, ...turns];
  const requestsByCall = new Map<string | undefined, number[]>();
  for (const [at, { declared }] of allTurns.entries()) {
    for (const { sourceId } of declared) requestsByCall.set(sourceId, [...(requestsByCall.get(sourceId) ?? []), at]);
  }
  let begunTurns = 0;
  for (const tool of members.filter(({ role }) => role === 'tool')) {
    while ((allTurns[begunTurns + 1]?.known?.span.startMs ?? Infinity) <= tool.span.startMs) begunTurns += 1;
    const callId = fieldText(tool, 'callId');
    const requestIndex =
      callId === undefined ? undefined : requestsByCall.get(callId)?.findLast((index) => index <= begunTurns);
    (allTurns[requestIndex ?? begunTurns] ?? turnBefore).tools.push(tool);
  }
  return allTurns;
}

/** Returns the messages of a request: first its instructions, then its history. */
function requestOf(known: KnownSpan): readonly TracedMessage[] {
  const system = readMessages(known.field('system'), 'system');
  const input = readMessages(known.field('input'), 'user');
  // Instructions are a list of parts. Each part is read as a message.
  return [...system, ...input];
}

/** Returns the results after the last answer of a request. Earlier results come from earlier requests. */
function lastResults(request: readonly TracedMessage[]): TracedMessage['results'] {
  const lastAnswer = request.findLastIndex(({ role }) => role === 'assistant');
  return request.slice(lastAnswer + 1).flatMap(({ results }) => results);
}

/** Finds the new messages of a request. Each request repeats the history. */
class FreshMessages {
  readonly #seenCounts = new Map<string, number>();

  /** Yields new messages. Answers and results are read elsewhere. */
  *fresh(
    request: readonly TracedMessage[],
  ): Generator<{ readonly role: 'system' | 'user'; readonly parts: readonly AnswerPart[] }> {
    const counts = new Map<string, number>();
    for (const { role, parts } of request) {
      if ((role !== 'system' && role !== 'user') || parts.length === 0) continue;
      // Parts are decoded JSON.
      const key = canonicalJson([role, parts as unknown as Json]);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= (this.#seenCounts.get(key) ?? 0)) continue;
      this.#seenCounts.set(key, count);
      yield { role, parts };
    }
  }
}

function contentOf(parts: readonly AnswerPart[]): ReturnType<typeof plainest> {
  return plainest(parts.filter((part) => part.type !== 'call'));
}

function taskOf(messages: readonly TracedMessage[]): string | undefined {
  const prompt = messages.find(({ role, parts }) => role === 'user' && parts.length > 0);
  const text = prompt && textOfContent(contentOf(prompt.parts));
  return text === '' ? undefined : text;
}

function firstTask(members: readonly KnownSpan[]): string | undefined {
  for (const known of members) {
    const task = known.role === 'tool' ? undefined : taskOf(requestOf(known));
    if (task !== undefined) return task;
  }
  return undefined;
}

function firstOf(spans: readonly KnownSpan[], field: 'conversation' | 'model'): string | undefined {
  for (const known of spans) {
    const foundText = fieldText(known, field);
    if (foundText !== undefined) return foundText;
  }
  return undefined;
}

function endingOf(span: TraceSpan, agent: KnownSpan | undefined): RunEnded | undefined {
  if (span.endMs === undefined) return undefined;
  const hasFailed = agent === undefined ? span.status === 'error' : failedIn(agent);
  const reason = agent === undefined ? undefined : errorTypeOf(agent);
  return runEnded(hasFailed ? 'error' : 'ended', { reason: hasFailed ? reason : undefined });
}
