import { canonicalJson } from '../../core/base/canonical-json.ts';
import { isJsonObject, type Json } from '../../core/base/json.ts';
import { textOfContent } from '../../core/records/stored-message.ts';
import type { RunEnded, ToolEnded } from '../../core/records/trajectory-record.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { type AnswerPart, runEnded, RunItems } from '../parts/run-items.ts';
import { plainest } from '../parts/source-content.ts';
import type { TracedMessage } from './read-messages.ts';
import {
  agentNameOf,
  argumentsOf,
  callIdOf,
  errorText,
  errorTypeOf,
  failedIn,
  finishReason,
  fieldText,
  nameOf,
  resultIn,
  spanUsage,
  type KnownSpan,
} from './read-span.ts';
import { tracedRequest, tracedTurns, type Turn } from './span-turns.ts';
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
  const turns = tracedTurns(members);
  const uncapturedCounts: Uncaptured = { arguments: 0, results: 0, answers: 0, prompts: 0 };
  const items = new RunItems(id);
  const runSpans = agent === undefined ? members : [agent, ...members];
  // The input of the agent repeats its first request. It is used only if requests contain no messages.
  const hasInput = members.some((known) => known.role !== 'tool' && known.field('input') !== undefined);
  const agentMessages = agent === undefined || hasInput ? [] : tracedRequest(agent);
  const task = taskOf(agentMessages) ?? firstTask(members);
  yield items.begin('otlp', {
    task,
    parentId: run.parentId,
    conversationId: firstOf(runSpans, 'conversation'),
    agentName: agent && agentNameOf(agent),
    modelId: firstOf(runSpans, 'model'),
    startedAtMs: startedAtMs === undefined ? undefined : Math.round(startedAtMs),
  });
  for (const { role, parts } of agentMessages) {
    if (role === 'system' || role === 'user') yield items.message(role, contentOf(parts), startedAtMs);
  }
  const context = { items, uncaptured: uncapturedCounts, repeated: repeatedResults(turns) };
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
  readonly uncaptured: Uncaptured;
}

function* turnItems(turn: Turn, context: RunContext): Generator<ImportItem> {
  const { requestSpan, messages, answer: parts, declaredCalls, toolSpans } = turn;
  const { items, uncaptured } = context;
  if (requestSpan !== undefined) {
    const { startMs, endMs } = requestSpan.span;
    for (const { id: sourceId, result } of turn.results) {
      if (sourceId === undefined || items.calls.isOpen(sourceId)) yield* items.result({ sourceId, result }, startMs);
    }
    for (const message of messages) yield items.message(message.role, contentOf(message.parts), startMs);
    if (requestSpan.role === 'prompt') {
      if (messages.length === 0 && requestSpan.field('input') === undefined) uncaptured.prompts += 1;
      return;
    }
    uncaptured.arguments += declaredCalls.filter(({ args }) => isJsonObject(args) && 'not_captured' in args).length;
    const hasFailed = failedIn(requestSpan) && parts.length === 0;
    if (parts.length === 0 && !hasFailed) uncaptured.answers += 1;
    const answer = {
      parts,
      stopReason: finishReason(requestSpan) ?? turn.finishReason,
      modelId: fieldText(requestSpan, 'model'),
      usage: spanUsage(requestSpan),
    };
    const errorMessage = errorText(requestSpan) ?? 'the request failed';
    yield* items.answer(hasFailed ? { ...answer, errorMessage, sameTurn: true } : answer, endMs ?? startMs);
  }
  const callByTool = joinCalls(declaredCalls, toolSpans);
  const steps = toolSpans.flatMap((tool) => {
    const call = callByTool.get(tool);
    const sourceId = call === undefined ? (callIdOf(tool) ?? tool.span.spanId) : call.sourceId;
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
    const result = resultOf(tool, sourceId, context);
    if (result === undefined) continue;
    if (result.result_missing === true) uncaptured.results += 1;
    const { startMs, endMs } = tool.span;
    yield items.ended(result, endMs === undefined ? undefined : endMs - startMs, endMs);
  }
}

interface Join {
  readonly ofCall: (call: CallShape) => string | undefined;
  readonly ofSpan: (tool: KnownSpan) => string | undefined;
}

/** Ways to match a named call with its span, most reliable first. Several are needed because many tool spans lack the call's id. */
const JOINS: readonly Join[] = [
  { ofCall: ({ sourceId }) => sourceId, ofSpan: (tool) => callIdOf(tool) },
  {
    ofCall: ({ name, args }) => canonicalJson([name, args]),
    ofSpan: (tool) => canonicalJson([nameOf(tool), argumentsOf(tool)]),
  },
  {
    ofCall: ({ name }) => name,
    ofSpan: (tool) => (callIdOf(tool) === undefined ? nameOf(tool) : undefined),
  },
];

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

function callOf(tool: KnownSpan, sourceId: string | undefined): CallShape {
  return { sourceId, name: nameOf(tool), args: argumentsOf(tool) };
}

/** Returns the result in the span. For a failure it is the text that the model saw, if a request repeats it. */
function resultOf(
  tool: KnownSpan,
  sourceId: string | undefined,
  { items, repeated }: RunContext,
): ToolEnded | undefined {
  const isError = failedIn(tool);
  const firstSeenMs = sourceId === undefined ? undefined : repeated.get(sourceId);
  const result = resultIn(tool) ?? firstSeenMs ?? (isError ? errorText(tool) : undefined);
  const endPayload = items.calls.end({ sourceId, result: result ?? null, isError });
  return endPayload === undefined || result !== undefined ? endPayload : { ...endPayload, result_missing: true };
}

/** Returns results by call id, as the first request that contains them shows them. */
function repeatedResults(turns: readonly Turn[]): ReadonlyMap<string, Json> {
  const results = new Map<string, Json>();
  for (const { id, result } of turns.flatMap((turn) => turn.results)) {
    if (id !== undefined && !results.has(id)) results.set(id, result);
  }
  return results;
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
  for (const member of members) {
    const task = member.role === 'tool' ? undefined : taskOf(tracedRequest(member));
    if (task !== undefined) return task;
  }
  return undefined;
}

function firstOf(spans: readonly KnownSpan[], field: 'conversation' | 'model'): string | undefined {
  for (const span of spans) {
    const foundText = fieldText(span, field);
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
