import { LruMap } from '../../base/lru-map.ts';
import type { PostgresClient } from './postgres-client.ts';
import { fromIdText, toIdText } from './postgres-text.ts';

/** How long the ends of runs are collected before they are announced with one statement. */
const ANNOUNCE_AFTER_MS = 20;

/** How often a tail looks by itself: an announcement is lost when its writer is killed before it, or a connection breaks. */
const LOOK_EVERY_MS = 2000;

/** A run changed at most this long before a look was announced or is found by the look. */
const LOOK_BACK = "interval '30 seconds'";

/** Runs whose last known end a tail of all runs remembers. */
const RUNS_REMEMBERED = 10_000;

/** A run that grew. */
export interface RunEnd {
  readonly runId: string;
  readonly lastSeq: number;
}

/** Tells other connections of runs that grew, soon and without holding up the append. */
export interface PostgresAnnouncer {
  announce(end: RunEnd): void;
  flush(): Promise<void>;
}

/** The channel of a schema. */
export function tailChannelOf(schema: string): string {
  return `${schema.replaceAll('"', '')}_runs`;
}

/**
 * NOTIFY takes a lock that lets one transaction of the whole database commit at a time, so it is no part of an append:
 * announcements are collected and sent by a transaction of their own, whose commit waits for no disk and no standby.
 */
export function createPostgresAnnouncer(client: PostgresClient, channel: string): PostgresAnnouncer {
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const ends = JSON.stringify([...waiting]);
    waiting.clear();
    try {
      await client.query(
        `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, value::text)
         FROM json_array_elements($2::text::json) AS value`,
        [channel, ends],
      );
    } catch {
      // A tail finds the run at its next look; the records themselves are stored.
    }
  }

  return {
    announce({ runId, lastSeq }): void {
      waiting.set(runId, lastSeq);
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

/** Which run to follow, and how a tail ends. */
export interface TailOptions {
  /** Undefined for all runs. */
  readonly runId: string | undefined;
  readonly signal: AbortSignal;
}

/** Gives the end of a run whenever it grew. Ends that come faster than they are taken are given as the last of them. */
export async function* tailPostgres(
  client: PostgresClient,
  schema: string,
  { runId, signal }: TailOptions,
): AsyncGenerator<RunEnd, void, void> {
  const known = new LruMap<number>(RUNS_REMEMBERED);
  const waiting = new Map<string, number>();
  let mustLook = true;
  let wake = (): void => undefined;
  const onAbort = (): void => wake();

  const take = (end: RunEnd): void => {
    if (runId !== undefined && end.runId !== runId) return;
    if (end.lastSeq <= (known.get(end.runId) ?? -1)) return;
    known.set(end.runId, end.lastSeq);
    waiting.set(end.runId, end.lastSeq);
    wake();
  };
  const stop = await client.listen(tailChannelOf(schema), {
    onMessage: (payload) => {
      const end = readAnnouncement(payload);
      if (end !== undefined) take(end);
    },
    onListening: () => {
      mustLook = true;
      wake();
    },
  });
  const look = setInterval(() => {
    mustLook = true;
    wake();
  }, LOOK_EVERY_MS);
  signal.addEventListener('abort', onAbort);
  try {
    // Of all runs, what grew before the tail began is not told; of one, where it ends now is.
    for (const end of await endsOf(client, schema, runId)) {
      if (runId === undefined) known.set(end.runId, Math.max(end.lastSeq, known.get(end.runId) ?? -1));
      else take(end);
    }
    while (!signal.aborted) {
      const [first] = waiting;
      if (first !== undefined) {
        waiting.delete(first[0]);
        yield { runId: first[0], lastSeq: first[1] };
      } else if (mustLook) {
        mustLook = false;
        // A look that fails is done again with the next one.
        for (const end of await endsOf(client, schema, runId).catch(() => [])) take(end);
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          // The signal may have been given since the loop looked.
          if (signal.aborted || mustLook || waiting.size > 0) resolve();
        });
      }
    }
  } finally {
    clearInterval(look);
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

async function endsOf(client: PostgresClient, schema: string, runId: string | undefined): Promise<readonly RunEnd[]> {
  const columns = 'SELECT run_id AS id, last_seq::text AS last FROM';
  const rows = await (runId === undefined
    ? client.query(`${columns} ${schema}.runs WHERE last_seq >= 0 AND changed_at > now() - ${LOOK_BACK}`)
    : client.query(`${columns} ${schema}.runs WHERE last_seq >= 0 AND run_id = $1`, [toIdText(runId)]));
  return rows.map((row) => ({ runId: fromIdText(String(row['id'])), lastSeq: Number(row['last']) }));
}
