import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { type ImportItem, diagnosticItem } from '../importer.ts';
import {
  GENAI_MESSAGE_EVENTS,
  readSpan,
  type KnownSpan,
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
} from './read-span.ts';
import { decodedValue, readMessages, type TracedMessage } from './read-messages.ts';
import { attributeOf, hexId, OTEL_RUN_PREFIX, type TraceSpan } from './trace-span.ts';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import { type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import type { RunEnded, ToolEnded } from '../../core/records/trajectory-record.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { type AnswerPart, runEnded, RunItems } from '../parts/run-items.ts';
import { plainest } from '../parts/source-content.ts';
import { tracedRequest, tracedTurns, type Turn } from './span-turns.ts';

interface SpanRun {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly agent: KnownSpan | undefined;
  readonly ending: TraceSpan | undefined;
  readonly members: readonly KnownSpan[];
  readonly missingSpans: number;
  /** Requests and calls nested in another of the run: two instrumentations report the same operation. */
  readonly innerSpans: number;
  /** The request in each request that is reported twice, by the id of the outer span. */
  readonly inner: ReadonlyMap<string, KnownSpan>;
}

interface Uncaptured {
  arguments: number;
  results: number;
  answers: number;
  prompts: number;
}

/**
 * Calls that an answer names are matched by id with their spans; else the result comes from the next request. A call
 * that no answer names belongs to the last answer before it. Missing content is never invented: a call without
 * arguments contains its span id, so that it differs from every other call.
 */
function* spanRunItems(run: SpanRun): Generator<ImportItem> {
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
  const asked = agent === undefined ? rootInput(ending) : tracedRequest(agent);
  const task = taskOf(agentMessages) ?? askedTask(asked, members) ?? firstTask(members);
  yield items.begin('otlp', {
    task,
    parentId: run.parentId,
    conversationId: firstOf(runSpans, 'conversation'),
    agentName: agent && agentNameOf(agent),
    // An agent's span names the model that it asked for.
    modelId: firstOf([...members, ...runSpans], 'model'),
    startedAtMs: startedAtMs === undefined ? undefined : Math.round(startedAtMs),
  });
  for (const { role, parts } of agentMessages) {
    if (role === 'system' || role === 'user') yield items.message(role, contentOf(parts), startedAtMs);
  }
  const context = { items, uncaptured: uncapturedCounts, repeated: repeatedResults(turns), inner: run.inner };
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
  readonly inner: SpanRun['inner'];
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
      usage: usageOf(requestSpan, context.inner.get(requestSpan.span.spanId)),
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
      const call: CallShape = { sourceId, name: nameOf(tool), args: argumentsOf(tool) };
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

/** Of one request that two libraries report, the inner one is nearer to the service. */
function usageOf(span: KnownSpan, inner: KnownSpan | undefined): StoredUsage | undefined {
  const innerUsage = inner && spanUsage(inner);
  return innerUsage === undefined ? spanUsage(span) : { ...spanUsage(span), ...innerUsage };
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

/** The input of the agent, if its first request has it: the request may have more, before it or around it. */
function askedTask(input: readonly TracedMessage[], members: readonly KnownSpan[]): string | undefined {
  const asked = taskOf(input);
  const request = members.find(({ role }) => role !== 'tool');
  if (asked === undefined || request === undefined) return undefined;
  return tracedRequest(request).some(({ parts }) => textOfContent(contentOf(parts)).includes(asked))
    ? asked
    : undefined;
}

const INPUTS = ['langfuse.observation.input', 'langfuse.trace.input', 'input.value', 'traceloop.entity.input'];

/** The input of a workflow whose first span is not an agent's. */
function rootInput(root: TraceSpan | undefined): readonly TracedMessage[] {
  const input = root && INPUTS.map((name) => attributeOf(root.attributes, name)).find((value) => value !== undefined);
  return readMessages(input === undefined ? undefined : decodedValue(input), 'user');
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

const MAX_LEVELS = 1_000;

/**
 * Each agent span, and each call with model requests below it, is a run; the next run below is its child. Spans below
 * no run form one run of the trace, if they include a request or a call. A span whose parents never arrived belongs to
 * the trace's only agent span. Order and repetition have no effect.
 */
export function* traceRuns(traceId: string, allSpans: readonly TraceSpan[]): Generator<ImportItem> {
  const { spans, known } = readTrace(allSpans);
  const parentSpans = new Map([...spans.values()].map((span) => [span.spanId, aboveOf(span, spans, known)]));
  const hosts = new Set<string>();
  for (const { span, role } of known.values()) {
    if (role === 'agent') hosts.add(span.spanId);
    const nearest = known.get(parentSpans.get(span.spanId)?.nearestId ?? '');
    if (role === 'model' && nearest?.role === 'tool') hosts.add(nearest.span.spanId);
  }
  const sums = summingRequests(known, parentSpans);
  const wrappers = emptyWrappers(known, parentSpans, hosts);
  for (const id of wrappers) hosts.delete(id);
  const agents = [...known.values()].filter(({ role }) => role === 'agent');
  const onlyAgentId = agents.length === 1 ? agents[0]?.span.spanId : undefined;
  const runs = new Map<string | undefined, SpanRun['members'][number][]>([...hosts].map((id) => [id, []]));
  const missingParents = new Map<string | undefined, Set<string>>();
  const inner = new Map<string | undefined, number>();
  const innerRequests = new Map<string, KnownSpan>();
  for (const { spanId } of spans.values()) {
    const { hostId, lostId } = hostAbove(spanId, parentSpans, hosts);
    const owner = hostId ?? (lostId === undefined || spanId === onlyAgentId ? undefined : onlyAgentId);
    if (lostId !== undefined) missingParents.set(owner, (missingParents.get(owner) ?? new Set()).add(lostId));
    const readSpans = known.get(spanId);
    if (readSpans === undefined || readSpans.role === 'agent' || sums.has(spanId)) continue;
    const nearest = known.get(parentSpans.get(spanId)?.nearestId ?? '');
    const isRepeated = nearest?.role === 'model' && readSpans.role === 'model' && !sums.has(nearest.span.spanId);
    if (isRepeated && nearest !== undefined) innerRequests.set(nearest.span.spanId, readSpans);
    const isWithin = isRepeated || (nearest?.role === 'tool' && !hosts.has(nearest.span.spanId));
    if (isWithin) inner.set(owner, (inner.get(owner) ?? 0) + 1);
    else if (runs.get(owner)?.push(readSpans) === undefined) runs.set(owner, [readSpans]);
  }
  const roots = [...spans.values()].filter((span) => span.parentId === undefined && span.isEvent !== true);
  const tops = [...spans.values()].filter(({ parentId }) => parentId !== undefined && !spans.has(parentId));
  // The only span at the top ends the trace, although its parent is in a process that does not report.
  const [root] = roots.length === 0 && tops.length === 1 ? tops : roots.toSorted(inOrder);
  const tracedRuns = [...runs].map(([spanId, members]) => {
    const host = known.get(spanId ?? '');
    const nearestId = parentSpans.get(spanId ?? '')?.nearestId;
    const isBelow = spanId !== undefined && nearestId !== undefined && !wrappers.has(nearestId);
    const { hostId, depth } = hostAbove(spanId, parentSpans, hosts);
    return {
      id: runId(traceId, spanId),
      parentId: isBelow ? runId(traceId, hostId) : undefined,
      agent: host?.role === 'agent' ? host : undefined,
      ending: host?.span ?? root,
      members: members.toSorted((a, b) => inOrder(a.span, b.span)),
      missingSpans: missingParents.get(spanId)?.size ?? 0,
      innerSpans: inner.get(spanId) ?? 0,
      inner: innerRequests,
      depth: spanId === undefined ? 0 : depth + 1,
    };
  });
  // Put parents before their children, even if their clocks differ.
  tracedRuns.sort((a, b) => a.depth - b.depth || startOf(a) - startOf(b) || (a.id < b.id ? -1 : 1));
  for (const run of tracedRuns) {
    for (const item of spanRunItems(run)) {
      yield item.type === 'record' && item.atMs !== undefined ? { ...item, atMs: Math.round(item.atMs) } : item;
    }
  }
}

/** A loop contains several requests, or a request and a call. One request within another is the same one, reported twice. */
function summingRequests(
  known: ReadonlyMap<string, KnownSpan>,
  parentSpans: ReadonlyMap<string, Above>,
): ReadonlySet<string> {
  const below = new Map<string, { model: number; tool: number }>();
  for (const { span, role } of known.values()) {
    const nearest = known.get(parentSpans.get(span.spanId)?.nearestId ?? '');
    if (nearest?.role !== 'model' || (role !== 'model' && role !== 'tool')) continue;
    const counts = below.get(nearest.span.spanId) ?? { model: 0, tool: 0 };
    counts[role] += 1;
    below.set(nearest.span.spanId, counts);
  }
  return new Set([...below].flatMap(([id, { model, tool }]) => (model > 1 || (model > 0 && tool > 0) ? [id] : [])));
}

/** Some SDKs put the span of a workflow around that of the agent. */
function emptyWrappers(
  known: ReadonlyMap<string, KnownSpan>,
  parentSpans: ReadonlyMap<string, Above>,
  hosts: ReadonlySet<string>,
): ReadonlySet<string> {
  const below = Map.groupBy(known.keys(), (spanId) => hostAbove(spanId, parentSpans, hosts).hostId);
  const wrappers = [...hosts].filter((id) => {
    const [only, ...others] = below.get(id) ?? [];
    const isAgent = (spanId = ''): boolean => known.get(spanId)?.role === 'agent';
    const isTop = hostAbove(id, parentSpans, hosts).hostId === undefined;
    return isTop && others.length === 0 && isAgent(id) && isAgent(only);
  });
  return new Set(wrappers);
}

function readTrace(allSpans: readonly TraceSpan[]): {
  readonly spans: ReadonlyMap<string, TraceSpan>;
  readonly known: ReadonlyMap<string, KnownSpan>;
} {
  const spans = new Map<string, TraceSpan>();
  const details = new Map<string, TraceSpan[]>();
  for (const span of allSpans) {
    const { spanId } = span;
    if (span.details !== true) spans.set(spanId, fullerSpan(spans.get(spanId), span));
    else details.set(spanId, [...(details.get(spanId) ?? []), span]);
  }
  const knownSpans = new Map<string, KnownSpan>();
  for (const span of [...spans.values()].toSorted(inOrder)) {
    const knownSpan = readSpan(span, joinedDetails(details.get(span.spanId) ?? []));
    if (knownSpan !== undefined) knownSpans.set(span.spanId, knownSpan);
  }
  return { spans, known: knownSpans };
}

/** Records of one message each may share one time, so their order is that of the roles in a request. */
function joinedDetails(details: readonly TraceSpan[]): JsonObject {
  const roles = [...GENAI_MESSAGE_EVENTS.keys()];
  // An exporter that receives no response sends a record again.
  const unique = new Map(details.map((span) => [JSON.stringify([span.name, span.attributes]), span]));
  const sorted = [...unique].toSorted(
    ([textA, a], [textB, b]) =>
      roles.indexOf(a.name) - roles.indexOf(b.name) || a.startMs - b.startMs || (textA < textB ? -1 : 1),
  );
  const joinedValues: Record<string, Json> = {};
  for (const [, { attributes }] of sorted) {
    for (const [name, value] of Object.entries(attributes)) {
      const previous = joinedValues[name];
      const list = typeof value === 'string' && value.startsWith('[') ? decodedValue(value) : value;
      const isMore = Array.isArray(previous) && Array.isArray(list);
      joinedValues[name] = isMore ? [...previous, ...list].map(withoutFinish) : list;
    }
  }
  return joinedValues;
}

/** The reason belongs to the answer, not to one part of it. */
function withoutFinish(message: Json): Json {
  if (!isJsonObject(message)) return message;
  const { finish_reason: _reason, ...rest } = message;
  return rest;
}

function runId(traceId: string, spanId: string | undefined): string {
  return OTEL_RUN_PREFIX + (spanId === undefined ? traceId : `${traceId}-${hexId(spanId)}`);
}

function startOf({ ending, members }: SpanRun): number {
  return members[0]?.span.startMs ?? ending?.startMs ?? 0;
}

/** Compares spans by start time, then by id, so that the order is stable. */
function inOrder(a: TraceSpan, b: TraceSpan): number {
  return a.startMs - b.startMs || (a.endMs ?? Infinity) - (b.endMs ?? Infinity) || (a.spanId < b.spanId ? -1 : 1);
}

function fullerSpan(before: TraceSpan | undefined, span: TraceSpan): TraceSpan {
  if (before === undefined) return span;
  const byEnd = (span.endMs ?? 0) - (before.endMs ?? 0);
  if (byEnd !== 0) return byEnd > 0 ? span : before;
  return JSON.stringify(span) > JSON.stringify(before) ? span : before;
}

interface Above {
  /** Id of the nearest ancestor with a known convention. */
  readonly nearestId: string | undefined;
  /** Id of the missing span at which the chain of ancestors ends. */
  readonly lostId: string | undefined;
}

function aboveOf(
  span: TraceSpan,
  spans: ReadonlyMap<string, TraceSpan>,
  knownSpans: ReadonlyMap<string, KnownSpan>,
): Above {
  const visited = new Set([span.spanId]);
  let current = span;
  while (current.parentId !== undefined && visited.size < MAX_LEVELS) {
    const { parentId, remoteParent } = current;
    const parent = spans.get(parentId);
    if (parent === undefined) return { nearestId: undefined, lostId: remoteParent === true ? undefined : parentId };
    if (knownSpans.has(parentId)) return { nearestId: parentId, lostId: undefined };
    if (visited.has(parentId)) break;
    visited.add(parentId);
    current = parent;
  }
  return { nearestId: undefined, lostId: undefined };
}

function hostAbove(
  spanId: string | undefined,
  parentSpans: ReadonlyMap<string, Above>,
  hosts: ReadonlySet<string>,
): { readonly hostId: string | undefined; readonly depth: number; readonly lostId: string | undefined } {
  const visited = new Set<string>();
  let hostId: string | undefined;
  let depth = 0;
  let ancestor = parentSpans.get(spanId ?? '');
  for (
    let id = ancestor?.nearestId;
    id !== undefined && !visited.has(id) && visited.size < MAX_LEVELS;
    id = ancestor?.nearestId
  ) {
    visited.add(id);
    if (hosts.has(id)) {
      hostId ??= id;
      depth += 1;
    }
    ancestor = parentSpans.get(id);
  }
  return { hostId, depth, lostId: hostId === undefined ? ancestor?.lostId : undefined };
}
