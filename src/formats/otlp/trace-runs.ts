import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { ImportItem } from '../import-item.ts';
import { GENAI_MESSAGE_EVENTS } from './genai-names.ts';
import { decodedValue } from './read-messages.ts';
import { readSpan, type KnownSpan } from './read-span.ts';
import { spanRunItems, type SpanRun } from './span-run.ts';
import { hexId, OTEL_RUN_PREFIX, type TraceSpan } from './trace-span.ts';

/** Maximum number of ancestors that are visited. */
const MAX_LEVELS = 1_000;

/**
 * Returns the runs of a trace. Each agent span is a run. A call with model requests below it is also a run. Spans below a
 * run's span belong to that run, up to the next run below, which is a child run. Spans that are below no run form one run of
 * the whole trace, if they include a request or a call. The order and repetition of spans have no effect.
 *
 * A span whose parents never arrived belongs to the trace's agent span if the trace has exactly one.
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
  const wrappers = emptyWrappers(known, parentSpans, hosts);
  for (const id of wrappers) hosts.delete(id);
  const agents = [...known.values()].filter(({ role }) => role === 'agent');
  const onlyAgentId = agents.length === 1 ? agents[0]?.span.spanId : undefined;
  const runs = new Map<string | undefined, SpanRun['members'][number][]>([...hosts].map((id) => [id, []]));
  const missingParents = new Map<string | undefined, Set<string>>();
  const inner = new Map<string | undefined, number>();
  for (const { spanId } of spans.values()) {
    const { hostId, lostId } = hostAbove(spanId, parentSpans, hosts);
    const owner = hostId ?? (lostId === undefined || spanId === onlyAgentId ? undefined : onlyAgentId);
    if (lostId !== undefined) missingParents.set(owner, (missingParents.get(owner) ?? new Set()).add(lostId));
    const readSpans = known.get(spanId);
    if (readSpans === undefined || readSpans.role === 'agent') continue;
    const nearest = known.get(parentSpans.get(spanId)?.nearestId ?? '');
    const isRepeated = nearest?.role === 'model' && readSpans.role === 'model';
    const isWithin = isRepeated || (nearest?.role === 'tool' && !hosts.has(nearest.span.spanId));
    if (isWithin) inner.set(owner, (inner.get(owner) ?? 0) + 1);
    else if (runs.get(owner)?.push(readSpans) === undefined) runs.set(owner, [readSpans]);
  }
  const root = [...spans.values()]
    .filter((span) => span.parentId === undefined && span.isEvent !== true)
    .toSorted(inOrder)[0];
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

/**
 * Returns agent spans at the top that contain exactly one agent span and no separate request or call. Some SDKs put the span of a workflow
 * around that of the agent.
 */
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

/**
 * Joins the attributes of a span that arrived separately, in one or several log records. Records of one message each may share
 * one time, so their order is that of the roles in a request.
 */
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

/** Selects one of two states of a span: the state that has ended, or that has more content. */
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

/** Returns the ancestors of a span, at most 1,000. Stops at a cycle. */
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

/** Returns the nearest run above a span, and the number of runs above it. */
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
