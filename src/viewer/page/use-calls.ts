import { useMemo, useReducer } from 'react';

import type { NumberedCall } from '../server/api-shapes.ts';
import { getCalls, type RunAddress } from './api.ts';

/** Number of records per request for calls. */
const STRETCH = 1_000;

/** The calls of a run near the view, keyed by their first record. */
export interface Calls {
  readonly at: (seq: number) => NumberedCall | undefined;
  /** Fetches the calls of a range of records. */
  readonly want: (fromSeq: number, toSeq: number) => void;
}

/** @param nextSeq  how far the server has read the run; a range is fetched again until all of it has been read */
export function useCalls({ source, runId }: RunAddress, nextSeq: number): Calls {
  const [round, redraw] = useReducer((before: number) => before + 1, 0);
  const known = useMemo(
    () => ({ calls: new Map<number, NumberedCall>(), upTo: new Map<number, number>() }),
    [source, runId],
  );
  return useMemo(() => {
    const fetchCalls = async (at: number, from: number, to: number): Promise<void> => {
      try {
        const { calls, upTo } = await getCalls({ source, runId }, from, to);
        known.upTo.set(at, upTo);
        for (const call of calls) known.calls.set(call.seq, call);
        redraw();
      } catch {
        // The rows stay without numbers. The request for records reports the error.
        known.upTo.delete(at);
      }
    };
    return {
      at: (seq) => known.calls.get(seq),
      want: (fromSeq, toSeq) => {
        // The server has read nothing yet. A request would start this reading before the rows are shown.
        if (nextSeq === 0) return;
        for (let at = Math.floor(Math.max(0, fromSeq) / STRETCH); at * STRETCH < toSeq; at += 1) {
          const [from, to] = [at * STRETCH, (at + 1) * STRETCH];
          const readTo = known.upTo.get(at) ?? -1;
          if (readTo >= Math.min(to, nextSeq)) continue;
          known.upTo.set(at, nextSeq);
          void fetchCalls(at, from, to);
        }
      },
    };
    // The value changes with the known calls, and when the server has read more, because calls that returned since then have a kind.
  }, [known, source, runId, nextSeq, round]);
}
