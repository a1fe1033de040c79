import { steadyMs } from '../../base/steady-ms.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { lastSeqOf } from '../../store/run-summary.ts';
import type { Problem } from './api-shapes.ts';
import { pause } from './event-feed.ts';
import { shownRecord } from './read-records.ts';
import type { ListedSource } from './listed-source.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';

/** A store is looked at so often for a run that is followed. */
const POLL_MS = 250;
const MAX_PAUSE_MS = 2_000;
const PAGE_RECORDS = 200;
const ALIVE_MS = 15_000;

/** An event of a run that is followed. */
export type TailEvent =
  | { readonly event: 'record'; readonly id: number; readonly data: TrajectoryRecord }
  /** All that is there was given. */
  | { readonly event: 'caught-up'; readonly data: { readonly lastSeq: number } }
  | { readonly event: 'problem'; readonly data: Problem }
  /** The problem is over. */
  | { readonly event: 'ok'; readonly data: object }
  /** Another run of that name is there now: what was given holds no longer. */
  | { readonly event: 'anew'; readonly data: object }
  | { readonly event: 'alive'; readonly data: object };

/**
 * Follows a run from a record on, until the signal. Nothing is read ahead of who takes the events: a slow one costs no memory.
 * A store that is locked or gone is a problem, and the run goes on where it was once it can be read again.
 */
export async function* followRun(
  listed: ListedSource,
  runId: string,
  { fromSeq, signal }: { readonly fromSeq: number; readonly signal: AbortSignal },
): AsyncGenerator<TailEvent> {
  let nextSeq = fromSeq;
  let problem = '';
  let isBehind = true;
  let isAnew = false;
  let quietMs = 0;
  const end = listed.source.listen((change) => {
    if (change.type === 'anew' || (change.type === 'gone' && change.runId === runId)) isAnew = true;
  });
  try {
    while (!signal.aborted) {
      const startMs = steadyMs();
      try {
        await listed.source.refresh();
        const reader = await listed.source.reader();
        if (isAnew) {
          [isAnew, isBehind, nextSeq] = [false, true, 0];
          yield { event: 'anew', data: {} };
        }
        const run = listed.source.runs.get(runId) ?? (await reader.findRun(runId));
        if (run === undefined) throw viewerFault('not-found', `there is no run ${runId.slice(0, 200)} (any more)`);
        let given = 0;
        if (nextSeq <= run.lastSeq) {
          for await (const record of reader.readRun(runId, { fromSeq: nextSeq, limit: PAGE_RECORDS })) {
            // Two deletions and a beginning may have come between.
            if (signal.aborted || isAnew) break;
            yield { event: 'record', id: record.seq, data: shownRecord(record) };
            nextSeq = lastSeqOf(record) + 1;
            given += 1;
          }
        }
        if (problem !== '') yield { event: 'ok', data: {} };
        problem = '';
        if (given > 0) [isBehind, quietMs] = [true, 0];
        if (given === PAGE_RECORDS || isAnew) continue;
        if (isBehind) yield { event: 'caught-up', data: { lastSeq: Math.max(run.lastSeq, nextSeq - 1) } };
        isBehind = false;
      } catch (error) {
        const told = problemOf(error).problem;
        if (told.message !== problem) yield { event: 'problem', data: told };
        problem = told.message;
      }
      // In a folder of JSON lines every look reads its segment from the start.
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(POLL_MS, 4 * (steadyMs() - startMs)));
      await pause(pauseMs, signal);
      quietMs += pauseMs;
      if (quietMs < ALIVE_MS) continue;
      quietMs = 0;
      yield { event: 'alive', data: {} };
    }
  } finally {
    end();
  }
}
