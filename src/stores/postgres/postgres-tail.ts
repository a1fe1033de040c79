import { LruMap } from '../../core/base/lru-map.ts';
import type { PostgresClient } from './postgres-client.ts';
import { fromIdText, toIdText } from './postgres-text.ts';

/** Time in milliseconds during which announcements are collected before one statement sends them. */
const ANNOUNCE_AFTER_MS = 20;

/**
 * Polling interval of a tail. Polling is needed because announcements are lost if the writer is killed or a connection
 * breaks.
 */
const POLL_EVERY_MS = 2000;

/** A poll finds runs that changed within this time; older changes were announced or polled before. */
const POLL_BACK = "interval '30 seconds'";

/** Number of runs whose last known end a tail remembers. */
const RUNS_REMEMBERED = 10_000;

/** A run to which records were added. */
export interface RunEnd {
  readonly runId: string;
  readonly lastSeq: number;
}

/** Announces to other connections that a run grew, without delaying the append. */
export interface PostgresAnnouncer {
  announce(end: RunEnd): void;
  flush(): Promise<void>;
}

export function tailChannelOf(schema: string): string {
  return `${schema.replaceAll('"', '')}_runs`;
}

/**
 * NOTIFY takes a lock that serialises the commits of the whole database, so it is not part of an append. A separate
 * transaction sends the collected announcements. Its commit waits for no disk or standby.
 */
export function createPostgresAnnouncer(client: PostgresClient, channel: string): PostgresAnnouncer {
  const pendingEnds = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pendingEnds.size === 0) return;
    const ends = JSON.stringify([...pendingEnds]);
    pendingEnds.clear();
    try {
      await client.query(
        `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, value::text)
         FROM json_array_elements($2::text::json) AS value`,
        [channel, ends],
      );
    } catch {
      // A tail finds the run at its next poll.
    }
  }

  return {
    announce({ runId, lastSeq }): void {
      pendingEnds.set(runId, lastSeq);
      timer ??= setTimeout(() => {
        sending = sending.then(send);
      }, ANNOUNCE_AFTER_MS).unref();
    },
    flush(): Promise<void> {
      sending = sending.then(send);
      return sending;
    },
  };
}

export interface TailOptions {
  /** Undefined for all runs. */
  readonly runId: string | undefined;
  readonly signal: AbortSignal;
}

/** Yields the end of a run whenever it grows. A slow consumer receives only the latest end. */
export async function* tailPostgres(
  client: PostgresClient,
  schema: string,
  { runId, signal }: TailOptions,
): AsyncGenerator<RunEnd, void, void> {
  const knownEnds = new LruMap<number>(RUNS_REMEMBERED);
  const pendingEnds = new Map<string, number>();
  let mustPoll = true;
  let wake = (): void => undefined;
  const onAbort = (): void => wake();

  const acceptEnd = (end: RunEnd): void => {
    if (runId !== undefined && end.runId !== runId) return;
    if (end.lastSeq <= (knownEnds.get(end.runId) ?? -1)) return;
    knownEnds.set(end.runId, end.lastSeq);
    pendingEnds.set(end.runId, end.lastSeq);
    wake();
  };
  const stop = await client.listen(tailChannelOf(schema), {
    onMessage: (payload) => {
      const end = readAnnouncement(payload);
      if (end !== undefined) acceptEnd(end);
    },
    onListening: () => {
      mustPoll = true;
      wake();
    },
  });
  const timer = setInterval(() => {
    mustPoll = true;
    wake();
  }, POLL_EVERY_MS);
  signal.addEventListener('abort', onAbort);
  try {
    // For all runs, earlier growth is not reported; for a single run, its current end is.
    for (const end of await queryEnds(client, schema, runId)) {
      if (runId === undefined) knownEnds.set(end.runId, Math.max(end.lastSeq, knownEnds.get(end.runId) ?? -1));
      else acceptEnd(end);
    }
    while (!signal.aborted) {
      const [pendingEnd] = pendingEnds;
      if (pendingEnd !== undefined) {
        pendingEnds.delete(pendingEnd[0]);
        yield { runId: pendingEnd[0], lastSeq: pendingEnd[1] };
      } else if (mustPoll) {
        mustPoll = false;
        // A failed poll is ignored, because the next poll repeats it.
        for (const end of await queryEnds(client, schema, runId).catch(() => [])) acceptEnd(end);
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          // The state may have changed since the loop checked it.
          if (signal.aborted || mustPoll || pendingEnds.size > 0) resolve();
        });
      }
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', onAbort);
    await stop();
  }
}

function readAnnouncement(payload: string): RunEnd | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const [runId, lastSeq]: readonly unknown[] = value;
  return typeof runId === 'string' && typeof lastSeq === 'number' ? { runId, lastSeq } : undefined;
}

async function queryEnds(client: PostgresClient, schema: string, runId?: string): Promise<readonly RunEnd[]> {
  const columns = 'SELECT run_id AS id, last_seq::text AS last FROM';
  const rows = await (runId === undefined
    ? client.query(`${columns} ${schema}.runs WHERE last_seq >= 0 AND changed_at > now() - ${POLL_BACK}`)
    : client.query(`${columns} ${schema}.runs WHERE last_seq >= 0 AND run_id = $1`, [toIdText(runId)]));
  return rows.map((row) => ({ runId: fromIdText(String(row['id'])), lastSeq: Number(row['last']) }));
}
