import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { steadyMs } from '../../core/base/clock.ts';
import { lastSeqOf } from '../../core/facts/run-summary.ts';
import type { FeedStart, SourceRow } from './api-shapes.ts';
import type { ListedSource } from './listed-source.ts';
import { shownRecord } from './read-records.ts';
import { parseWholeNumber } from './run-query.ts';
import type { ApiContext, ViewerEnv, ViewerState } from './sessions.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { runRowOf, type RunList } from './run-list.ts';

const FEED_POLL_MS = 500;
/** Maximum number of queued rows per listener. With more, the listener has to reload the list. */
const MAX_WAITING = 500;
const SEND_MS = 250;

interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
  /** A browser that lost the connection asks for the events after the last `id`. */
  readonly id?: string;
}

/**
 * Begins with the version that later changes follow, and with each source: what changed between the answers that the
 * listener has and the start of the stream is sent by nothing else. If the listener is slow, changes are merged by
 * run. After more than 500 changed runs it gets `reset`.
 */
async function* feedEvents(
  list: RunList,
  sources: readonly ListedSource[],
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  await Promise.all(sources.map(({ source }) => source.refresh()));
  const changes = new WaitingChanges();
  const removers = sources.map((listed) =>
    listed.source.listen((change) => {
      const { id } = listed.source;
      if (change.type === 'reset') changes.reset(id);
      else if (change.type === 'source')
        changes.add(`source ${id}`, () => ({ event: 'source', data: listed.source.row() }));
      else changes.add(`run ${id} ${change.runId}`, () => runEvent(listed, change.runId), id);
    }),
  );
  const polls = sources.map((listed) => refreshSource(listed, signal));
  try {
    yield { event: 'start', data: { version: list.version() } satisfies FeedStart };
    for (const { source } of sources) yield { event: 'source', data: source.row() };
    let quietMs = 0;
    while (!signal.aborted) {
      await pause(SEND_MS, signal);
      const events = changes.takeEvents();
      yield* events;
      quietMs = events.length > 0 ? 0 : quietMs + SEND_MS;
      if (quietMs < 15_000) continue;
      quietMs = 0;
      yield { event: 'alive', data: {} };
    }
  } finally {
    for (const remove of removers) remove();
    await Promise.all(polls);
  }
}

async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await sleep(durationMs, undefined, { signal, ref: false }).catch(() => {});
}

async function refreshSource({ source }: ListedSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await source.refresh();
    await pause(FEED_POLL_MS, signal);
  }
}

function runEvent(listed: ListedSource, runId: string): StreamEvent {
  const { overviews, source } = listed;
  const run = source.runs.get(runId);
  if (run === undefined) return { event: 'gone', data: { source: source.id, runId } };
  return { event: 'run', data: runRowOf(listed, run, overviews.knownExtras(run)) };
}

class WaitingChanges {
  #events = new Map<string, { readonly make: () => StreamEvent; readonly source: SourceRow['id'] | undefined }>();
  #resets = new Set<string>();

  add(key: string, make: () => StreamEvent, source?: string): void {
    if (source !== undefined && this.#resets.has(source)) return;
    this.#events.set(key, { make, source });
    if (source !== undefined && this.#events.size > MAX_WAITING) this.reset(source);
  }

  reset(source: string): void {
    this.#resets.add(source);
    for (const [key, event] of this.#events) if (event.source === source) this.#events.delete(key);
  }

  takeEvents(): readonly StreamEvent[] {
    const resets = [...this.#resets].map((source): StreamEvent => ({ event: 'reset', data: { source } }));
    const events = [...resets, ...[...this.#events.values()].map(({ make }) => make())];
    this.#resets = new Set();
    this.#events = new Map();
    return events;
  }
}

const MAX_STREAMS = 64;

export function addEventRoutes(app: Hono<ViewerEnv>, state: ViewerState, signal: AbortSignal): void {
  let streams = 0;
  const serveEvents = (
    context: ApiContext,
    eventsUntil: (endSignal: AbortSignal) => AsyncIterable<StreamEvent>,
  ): Response => {
    if (streams >= MAX_STREAMS) {
      throw viewerFault('too-many', `${streams} event streams are open`, 'Close some of the windows.');
    }
    streams += 1;
    const disconnect = new AbortController();
    return streamSSE(context, async (stream) => {
      stream.onAbort(() => disconnect.abort());
      try {
        for await (const { data, ...event } of eventsUntil(AbortSignal.any([disconnect.signal, signal])))
          await stream.writeSSE({ ...event, data: JSON.stringify(data) });
      } finally {
        streams -= 1;
      }
    });
  };
  app.get('/api/events', (context) => {
    const sources = state.sources.map(({ id }) => state.list.sourceOf(id));
    return serveEvents(context, (endSignal) => feedEvents(state.list, sources, endSignal));
  });
  app.get('/api/runs/:source/:runId/events', (context) => {
    const { runId, source } = context.req.param();
    const listed = state.list.sourceOf(source);
    const { after, from = '0' } = context.req.query();
    const previousId = context.req.header('last-event-id') ?? after;
    const fromSeq =
      previousId === undefined ? parseWholeNumber('from', from) : parseWholeNumber('last-event-id', previousId) + 1;
    return serveEvents(context, (endSignal) => followRun(listed, runId, { fromSeq, signal: endSignal }));
  });
}

const POLL_MS = 250;
const MAX_PAUSE_MS = 2_000;
const PAGE_RECORDS = 200;
const ALIVE_MS = 15_000;

/** Records are read when events are consumed. If the store was locked or gone, the stream resumes at the same record. */
async function* followRun(
  listed: ListedSource,
  runId: string,
  { fromSeq, signal }: { readonly fromSeq: number; readonly signal: AbortSignal },
): AsyncGenerator<StreamEvent> {
  let nextSeq = fromSeq;
  let problem = '';
  let isBehind = true;
  let isReset = false;
  let quietMs = 0;
  const stopListening = listed.source.listen((change) => {
    if (change.type === 'reset' || (change.type === 'gone' && change.runId === runId)) isReset = true;
  });
  try {
    while (!signal.aborted) {
      const startMs = steadyMs();
      try {
        await listed.source.refresh();
        const reader = await listed.source.reader();
        if (isReset) {
          [isReset, isBehind, nextSeq] = [false, true, 0];
          // Another run has this id now. The page must discard the records received.
          yield { event: 'reset', data: {} };
        }
        const run = listed.source.runs.get(runId) ?? (await reader.findRun(runId));
        if (run === undefined) throw viewerFault('not-found', `there is no run ${runId.slice(0, 200)} (any more)`);
        let sentCount = 0;
        if (nextSeq <= run.lastSeq) {
          for await (const record of reader.readRun(runId, { fromSeq: nextSeq, limit: PAGE_RECORDS })) {
            // The run may have been replaced in the meantime.
            if (signal.aborted || isReset) break;
            yield { event: 'record', id: String(record.seq), data: shownRecord(record) };
            nextSeq = lastSeqOf(record) + 1;
            sentCount += 1;
          }
        }
        if (problem !== '') yield { event: 'ok', data: {} };
        problem = '';
        if (sentCount > 0) [isBehind, quietMs] = [true, 0];
        if (sentCount === PAGE_RECORDS || isReset) continue;
        if (isBehind) yield { event: 'caught-up', data: { lastSeq: Math.max(run.lastSeq, nextSeq - 1) } };
        isBehind = false;
      } catch (error) {
        const { problem: data } = problemOf(error);
        if (data.message !== problem) yield { event: 'problem', data };
        problem = data.message;
      }
      // In a folder of JSON lines, every poll reads its segment from the start.
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(POLL_MS, 4 * (steadyMs() - startMs)));
      await pause(pauseMs, signal);
      quietMs += pauseMs;
      if (quietMs < ALIVE_MS) continue;
      quietMs = 0;
      yield { event: 'alive', data: {} };
    }
  } finally {
    stopListening();
  }
}
