import { setTimeout as sleep } from 'node:timers/promises';

import type { SourceRow } from './api-shapes.ts';
import type { ListedSource } from './listed-source.ts';
import { runRowOf } from './run-list.ts';

/** A source is looked at so often while somebody listens. */
const POLL_MS = 500;
/** Rows that wait for one listener; beyond it he is told to load the list again. */
const MAX_WAITING = 500;
/** A listener is told of a run at most four times a second. */
const TELL_MS = 250;

/** An event of `/api/events`. */
export interface FeedEvent {
  readonly event: 'run' | 'gone' | 'source' | 'anew' | 'alive';
  readonly data: unknown;
}

/**
 * What changes in all sources, until the signal. What happens while the listener is slow is joined: of a run he gets the latest
 * state, and of more than 500 runs that he is to load the list again.
 */
export async function* feedEvents(sources: readonly ListedSource[], signal: AbortSignal): AsyncGenerator<FeedEvent> {
  // What is there already is no news.
  await Promise.all(sources.map(({ source }) => source.refresh()));
  const waiting = new Waiting();
  const ends = sources.map((listed) =>
    listed.source.listen((change) => {
      const { id } = listed.source;
      if (change.type === 'anew') waiting.anew(id);
      else if (change.type === 'source')
        waiting.add(`source ${id}`, () => ({ event: 'source', data: listed.source.row() }));
      else waiting.add(`run ${id} ${change.runId}`, () => runEvent(listed, change.runId), id);
    }),
  );
  const polls = sources.map((listed) => poll(listed, signal));
  try {
    let quietMs = 0;
    while (!signal.aborted) {
      await pause(TELL_MS, signal);
      const events = waiting.take();
      yield* events;
      quietMs = events.length > 0 ? 0 : quietMs + TELL_MS;
      if (quietMs < 15_000) continue;
      quietMs = 0;
      yield { event: 'alive', data: {} };
    }
  } finally {
    for (const end of ends) end();
    await Promise.all(polls);
  }
}

/** Waits, or until the signal. */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await sleep(durationMs, undefined, { signal, ref: false }).catch(() => {});
}

async function poll({ source }: ListedSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await source.refresh();
    await pause(POLL_MS, signal);
  }
}

function runEvent(listed: ListedSource, runId: string): FeedEvent {
  const { looks, source } = listed;
  const run = source.runs.get(runId);
  if (run === undefined) return { event: 'gone', data: { source: source.id, runId } };
  return { event: 'run', data: runRowOf(listed, run, looks.known(run)) };
}

class Waiting {
  #events = new Map<string, { readonly make: () => FeedEvent; readonly source: SourceRow['id'] | undefined }>();
  #anew = new Set<string>();

  add(key: string, make: () => FeedEvent, source?: string): void {
    if (source !== undefined && this.#anew.has(source)) return;
    this.#events.set(key, { make, source });
    if (source !== undefined && this.#events.size > MAX_WAITING) this.anew(source);
  }

  anew(source: string): void {
    this.#anew.add(source);
    for (const [key, event] of this.#events) if (event.source === source) this.#events.delete(key);
  }

  take(): readonly FeedEvent[] {
    const anew = [...this.#anew].map((source): FeedEvent => ({ event: 'anew', data: { source } }));
    const events = [...anew, ...[...this.#events.values()].map(({ make }) => make())];
    this.#anew = new Set();
    this.#events = new Map();
    return events;
  }
}
