import type { Hono } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';

import { feedEvents } from './event-feed.ts';
import { parseWholeNumber } from './run-query.ts';
import { followRun } from './run-tail.ts';
import type { ApiContext, ViewerEnv } from './viewer-env.ts';
import { viewerFault } from './viewer-fault.ts';
import type { ViewerState } from './viewer-state.ts';

/** Maximum number of concurrent event streams. */
const MAX_STREAMS = 64;

/** Adds the routes of event streams. The streams end when the signal is aborted. */
export function addEventRoutes(app: Hono<ViewerEnv>, state: ViewerState, signal: AbortSignal): void {
  let streams = 0;
  const serveEvents = (
    context: ApiContext,
    write: (stream: SSEStreamingApi, endSignal: AbortSignal) => Promise<void>,
  ): Response => {
    if (streams >= MAX_STREAMS) {
      throw viewerFault('too-many', `${streams} event streams are open`, 'Close some of the windows.');
    }
    streams += 1;
    const disconnect = new AbortController();
    return streamSSE(context, async (stream) => {
      stream.onAbort(() => disconnect.abort());
      try {
        await write(stream, AbortSignal.any([disconnect.signal, signal]));
      } finally {
        streams -= 1;
      }
    });
  };
  app.get('/api/events', (context) => {
    const sources = state.sources.map(({ id }) => state.list.sourceOf(id));
    return serveEvents(context, async (stream, endSignal) => {
      for await (const { data, event } of feedEvents(sources, endSignal)) {
        await stream.writeSSE({ event, data: JSON.stringify(data) });
      }
    });
  });
  app.get('/api/runs/:source/:runId/events', (context) => {
    const { runId, source } = context.req.param();
    const listed = state.list.sourceOf(source);
    const lastEventId = context.req.header('last-event-id');
    const { after, from = '0' } = context.req.query();
    const previousId = lastEventId ?? after;
    const fromSeq =
      previousId === undefined ? parseWholeNumber('from', from) : parseWholeNumber('last-event-id', previousId) + 1;
    return serveEvents(context, async (stream, endSignal) => {
      for await (const tailEvent of followRun(listed, runId, { fromSeq, signal: endSignal })) {
        const id = tailEvent.event === 'record' ? { id: String(tailEvent.id) } : {};
        await stream.writeSSE({ event: tailEvent.event, data: JSON.stringify(tailEvent.data), ...id });
      }
    });
  });
}
