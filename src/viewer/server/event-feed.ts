import { setTimeout as sleep } from 'node:timers/promises';

import type { SourceRow } from './api-shapes.ts';
import type { ListedSource } from './listed-source.ts';
import { runRowOf } from './run-list.ts';

/** Interval at which sources are refreshed while a page listens. */
const POLL_MS = 500;
/** Maximum number of queued rows per listener. With more, the listener has to reload the list. */
const MAX_WAITING = 500;
/** Minimum interval between updates for one listener: at most four per second. */
const SEND_MS = 250;

/** An event of `/api/events`. */
export interface FeedEvent {
  readonly event: 'run' | 'gone' | 'source' | 'reset' | 'alive';
  readonly data: unknown;
}

/**
 * Yields the changes in all sources until the signal is aborted. If the listener is slow, changes are merged: it gets only the latest
 * state of each run. After more than 500 changed runs it gets `reset`.
 */
export async function* feedEvents(sources: readonly ListedSource[], signal: AbortSignal): AsyncGenerator<FeedEvent> {
  // Runs that exist at the start are not changes.
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

/** Waits for the given time, or until the signal is aborted. */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await sleep(durationMs, undefined, { signal, ref: false }).catch(() => {});
}

async function refreshSource({ source }: ListedSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await source.refresh();
    await pause(POLL_MS, signal);
  }
}

function runEvent(listed: ListedSource, runId: string): FeedEvent {
  const { overviews, source } = listed;
  const run = source.runs.get(runId);
  if (run === undefined) return { event: 'gone', data: { source: source.id, runId } };
  return { event: 'run', data: runRowOf(listed, run, overviews.knownExtras(run)) };
}

class WaitingChanges {
  #events = new Map<string, { readonly make: () => FeedEvent; readonly source: SourceRow['id'] | undefined }>();
  #resets = new Set<string>();

  add(key: string, make: () => FeedEvent, source?: string): void {
    if (source !== undefined && this.#resets.has(source)) return;
    this.#events.set(key, { make, source });
    if (source !== undefined && this.#events.size > MAX_WAITING) this.reset(source);
  }

  reset(source: string): void {
    this.#resets.add(source);
    for (const [key, event] of this.#events) if (event.source === source) this.#events.delete(key);
  }

  takeEvents(): readonly FeedEvent[] {
    const resets = [...this.#resets].map((source): FeedEvent => ({ event: 'reset', data: { source } }));
    const events = [...resets, ...[...this.#events.values()].map(({ make }) => make())];
    this.#resets = new Set();
    this.#events = new Map();
    return events;
  }
}
