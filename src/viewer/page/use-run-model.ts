import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import type { Overview, Problem, RecordsAnswer, RunAnswer } from '../server/api-shapes.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { ApiError, getOverview, getRecord, getRecords, getRun, runPath, type RunAddress } from './api.ts';
import { PAGE_RECORDS, RecordPages, type LoadRecords } from './record-pages.ts';
import { asError } from './use-loaded.ts';

/** How soon an overview that is not complete is asked for again. */
const OVERVIEW_MS = 20;
/** A growing run's summary and overview are fetched again at most so often. */
const FRESH_MS = 2_000;

/** A run that is looked at. */
export interface RunModel {
  readonly answer: RunAnswer | undefined;
  readonly pages: RecordPages | undefined;
  /** What keeps the run from being seen at all. */
  readonly error: Error | undefined;
  /** What is wrong with what is seen: a request that failed, a store that is locked or gone. */
  readonly trouble: Error | undefined;
  readonly reload: () => void;
  /** Fetches a record whole, in the place of its shortened form. */
  readonly fetchWhole: (seq: number) => Promise<void>;
  /** Highest `seq` known of; it grows with a live run. */
  readonly lastSeq: number;
}

interface State {
  readonly answer: RunAnswer | undefined;
  readonly pages: RecordPages | undefined;
  readonly error: Error | undefined;
}

/**
 * Loads a run and follows it: records arrive as they are written.
 *
 * @param at  `seq` that will be shown first
 */
export function useRunModel(run: RunAddress, at: number): RunModel {
  const [state, setState] = useState<State>({ answer: undefined, pages: undefined, error: undefined });
  const [trouble, setTrouble] = useState<Error | undefined>();
  const [lastSeq, setLastSeq] = useState(-1);
  const [round, setRound] = useState(0);
  const { source, runId } = run;
  const startAt = useRef(at);
  const reload = useCallback(() => setRound((before) => before + 1), []);

  useEffect(() => {
    let isCurrent = true;
    setTrouble(undefined);
    const fetchIt = async (): Promise<void> => {
      try {
        // Asked for at once: the first page does not depend on what is known of the run.
        const begun = firstPage({ source, runId }, startAt.current);
        const answer = await getRun({ source, runId });
        if (!isCurrent) return;
        const load: LoadRecords = (query) => begun.take(query) ?? getRecords({ source, runId }, query);
        const pages = new RecordPages(answer.run.lastSeq, load, (error) => setTrouble(asError(error)));
        setState({ answer, pages, error: undefined });
        setLastSeq(answer.run.lastSeq);
      } catch (error) {
        if (isCurrent) setState({ answer: undefined, pages: undefined, error: asError(error) });
      }
    };
    void fetchIt();
    return () => {
      isCurrent = false;
    };
  }, [source, runId, round]);

  const { pages, answer } = state;
  const refresh = useRefresh({ source, runId }, pages, setState);
  useEvents(
    { source, runId },
    pages,
    useMemo(
      () => ({
        onRecords: (last: number) => {
          setLastSeq(last);
          refresh();
        },
        onProblem: (problem: Problem) => setTrouble(new ApiError(503, problem)),
        onFine: () => setTrouble(undefined),
        onReset: reload,
      }),
      [refresh, reload],
    ),
  );
  useCompletion({ source, runId }, answer, setState);

  const fetchWhole = useCallback(
    async (seq: number) => {
      try {
        pages?.replace(await getRecord({ source, runId }, seq));
      } catch (error) {
        setTrouble(asError(error));
      }
    },
    [pages, source, runId],
  );
  return { ...state, trouble, reload, fetchWhole, lastSeq };
}

/** Asks for the page of a `seq`, to be taken by whoever wants it first. */
function firstPage(
  run: RunAddress,
  at: number,
): { readonly take: (query: Parameters<LoadRecords>[0]) => Promise<RecordsAnswer> | undefined } {
  const from = at - (at % PAGE_RECORDS);
  let answer: Promise<RecordsAnswer> | undefined = getRecords(run, { from, limit: PAGE_RECORDS });
  // Whoever takes it hears of a fault; when nobody does, the run itself could not be had.
  answer.catch(() => {});
  return {
    take: (query) => {
      if (query.from !== from) return undefined;
      const taken = answer;
      answer = undefined;
      return taken;
    },
  };
}

type SetState = (change: (before: State) => State) => void;

/** Fetches the summary again a while after something changed, and no more often than `FRESH_MS`. */
function useRefresh(run: RunAddress, pages: RecordPages | undefined, setState: SetState): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const { source, runId } = run;
  useEffect(() => () => clearTimeout(timer.current), [pages]);
  return useCallback(() => {
    if (timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      getRun({ source, runId }).then(
        (answer) => setState((before) => (before.pages === pages ? { ...before, answer } : before)),
        () => {
          // The events say what is wrong; the next record asks again.
        },
      );
    }, FRESH_MS);
  }, [source, runId, pages, setState]);
}

/** Asks for the overview of a long run until it covers all of it. */
function useCompletion(run: RunAddress, answer: RunAnswer | undefined, setState: SetState): void {
  const { source, runId } = run;
  const overview = answer?.overview;
  useEffect(() => {
    if (overview === undefined || overview.complete) return undefined;
    const timer = setTimeout(() => {
      const put = (next: Overview): void =>
        setState((before) =>
          before.answer === undefined ? before : { ...before, answer: { ...before.answer, overview: next } },
        );
      // Left as it is when it fails: what is there is still right, only short.
      getOverview({ source, runId }).then(put, () => {});
    }, OVERVIEW_MS);
    return () => clearTimeout(timer);
  }, [overview, source, runId, setState]);
}

interface Heard {
  readonly onRecords: (lastSeq: number) => void;
  readonly onProblem: (problem: Problem) => void;
  readonly onFine: () => void;
  readonly onReset: () => void;
}

/** Records of a run as they are written; a connection that is lost is taken up again where it was. */
function useEvents(run: RunAddress, pages: RecordPages | undefined, heard: Heard): void {
  const { source, runId } = run;
  useEffect(() => {
    if (pages === undefined) return undefined;
    const events = new EventSource(`${runPath({ source, runId })}/events?from=${pages.lastSeq + 1}`);
    let frame = 0;
    const tell = (): void => {
      frame = 0;
      heard.onRecords(pages.lastSeq);
    };
    events.addEventListener('record', (event: MessageEvent<string>) => {
      // Sent by the same server as every answer.
      pages.add(JSON.parse(event.data) as TrajectoryRecord);
      if (frame === 0) frame = requestAnimationFrame(tell);
    });
    events.addEventListener('problem', (event: MessageEvent<string>) => {
      // As above.
      heard.onProblem(JSON.parse(event.data) as Problem);
    });
    let isLost = false;
    events.addEventListener('error', () => {
      isLost = true;
      heard.onProblem({
        code: 'unreachable',
        message: 'The viewer does not answer.',
        fix: 'What is shown may be old. The page tries again by itself.',
      });
    });
    events.addEventListener('open', () => {
      if (isLost) heard.onFine();
      isLost = false;
    });
    events.addEventListener('ok', heard.onFine);
    events.addEventListener('reset', heard.onReset);
    return () => {
      cancelAnimationFrame(frame);
      events.close();
    };
  }, [pages, source, runId, heard]);
}
