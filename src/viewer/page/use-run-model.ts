import { useCallback, useEffect, useRef, useState } from 'react';

import type { Problem, RunAnswer, RunRowsAnswer } from '../server/api-shapes.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import {
  ApiError,
  getRecord,
  getRecords,
  getRun,
  getRunRows,
  listenTo,
  runPath,
  type RunAddress,
  unreachable,
} from './api.ts';
import { PAGE_RECORDS, RecordPages, type LoadRecords } from './record-pages.ts';
import { Rows } from './rows.ts';
import { sharedRun } from './shared-runs.ts';
import { asError } from './use-loaded.ts';

/** The delay before an incomplete overview is requested again. It is short because the server waits too. */
const OVERVIEW_MS = 20;
const REFRESH_MS = 2_000;

export interface RunModel {
  readonly answer: RunAnswer | undefined;
  readonly pages: RecordPages | undefined;
  readonly rows: Rows;
  readonly error: Error | undefined;
  /** A problem of the run that is shown: a failed request, or a store that is locked or gone. */
  readonly trouble: Error | undefined;
  readonly reload: () => void;
  readonly fetchWhole: (seq: number) => Promise<void>;
}

interface State extends Pick<RunModel, 'answer' | 'pages' | 'error'> {
  readonly takeRows?: () => Promise<RunRowsAnswer> | undefined;
}

/** A followed run takes one of the few connections that a browser has to a server. */
export function useRunModel(run: RunAddress, at: number, isFollowed = true): RunModel {
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
    const fetchRun = async (): Promise<void> => {
      try {
        // The first page and the first rows do not depend on the response about the run, so all are requested in parallel.
        const from = startAt.current - (startAt.current % PAGE_RECORDS);
        const takePage = takeOnce(getRecords({ source, runId }, { from, limit: PAGE_RECORDS }));
        const takeRows = takeOnce(getRunRows({ source, runId }, 0));
        const answer = await getRun({ source, runId });
        if (!isCurrent) return;
        const load: LoadRecords = (query) =>
          (query.from === from ? takePage() : undefined) ?? getRecords({ source, runId }, query);
        const pages = new RecordPages(answer.run.lastSeq, load, (error) => setTrouble(asError(error)));
        setState({ answer, pages, takeRows, error: undefined });
        setLastSeq(answer.run.lastSeq);
      } catch (error) {
        if (isCurrent) setState({ answer: undefined, pages: undefined, error: asError(error) });
      }
    };
    void fetchRun();
    return () => {
      isCurrent = false;
    };
  }, [source, runId, round]);

  const { pages } = state;
  const setAnswer = useCallback(
    (answer: RunAnswer) => setState((before) => (before.pages === pages ? { ...before, answer } : before)),
    [pages],
  );
  const refresh = useRefresh({ source, runId }, setAnswer);
  const followed = isFollowed && sharedRun === undefined ? pages : undefined;
  useEffect(() => {
    if (followed === undefined) return undefined;
    let frame = 0;
    const notify = (): void => {
      frame = 0;
      setLastSeq(followed.lastSeq);
      refresh();
    };
    let isLost = false;
    const handlers = {
      record: (record: TrajectoryRecord) => {
        followed.add(record);
        if (frame === 0) frame = requestAnimationFrame(notify);
      },
      problem: (problem: Problem) => setTrouble(new ApiError(503, problem)),
      ok: () => setTrouble(undefined),
      reset: reload,
    };
    const stop = listenTo(
      `${runPath({ source, runId })}/events?from=${followed.lastSeq + 1}`,
      handlers,
      (isLostNow) => {
        if (isLostNow || isLost) setTrouble(isLostNow ? unreachable() : undefined);
        isLost = isLostNow;
      },
    );
    return () => {
      cancelAnimationFrame(frame);
      stop();
    };
  }, [followed, source, runId, refresh, reload]);
  const rows = useRows({ source, runId }, state, { lastSeq, firstSeq: startAt.current });
  useCompletion({ source, runId }, state, startAt.current, setAnswer);

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
  return { ...state, rows, trouble, reload, fetchWhole };
}

/** The first caller receives the answer, or its error. Without a caller, the run itself failed to load. */
function takeOnce<Answer>(answer: Promise<Answer>): () => Promise<Answer> | undefined {
  answer.catch(() => {});
  let left: Promise<Answer> | undefined = answer;
  return () => {
    const taken = left;
    left = undefined;
    return taken;
  };
}

const NO_ROWS = new Rows([]);
/** Maximum number of requests for rows that the server has not read yet. Each of them waits there. */
const ROWS_TRIES = 20;

function useRows(
  run: RunAddress,
  { answer, pages, takeRows }: State,
  { firstSeq, lastSeq }: { readonly firstSeq: number; readonly lastSeq: number },
): Rows {
  const { source, runId } = run;
  const [state, setState] = useState<{ readonly pages: RecordPages | undefined; readonly rows: Rows }>();
  const rows = state !== undefined && state.pages === pages ? state.rows : NO_ROWS;
  const latest = useRef(rows);
  latest.current = rows;
  const { complete = false, nextSeq = 0, usage } = answer?.overview ?? {};
  // The rows of a first look lack what takes long to find.
  const isFirstLook = usage !== undefined;
  // A run that is being read shows its first rows, and all once they are known.
  const fetchedAt = useRef(0);
  const readSeqs = nextSeq > lastSeq || rows.lastSeq < firstSeq ? nextSeq : fetchedAt.current;
  const wasFirstLook = useRef(false);
  useEffect(() => {
    if (pages === undefined) return undefined;
    let isCurrent = true;
    fetchedAt.current = readSeqs;
    const fetchRows = async (tries: number): Promise<void> => {
      const from = wasFirstLook.current && !isFirstLook ? 0 : latest.current.firstOpen;
      const { rows: next, upTo } = await ((from === 0 ? takeRows?.() : undefined) ??
        getRunRows({ source, runId }, from));
      if (!isCurrent) return;
      wasFirstLook.current = isFirstLook;
      latest.current = latest.current.replaceFrom(from, next);
      setState({ pages, rows: latest.current });
      if ((complete || next.length === 0) && upTo <= lastSeq && tries > 1) await fetchRows(tries - 1);
    };
    // The request for records reports the error.
    fetchRows(ROWS_TRIES).catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [pages, takeRows, source, runId, lastSeq, readSeqs, isFirstLook, complete]);
  return rows;
}

function useRefresh({ source, runId }: RunAddress, setAnswer: (answer: RunAnswer) => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), [setAnswer]);
  return useCallback(() => {
    if (timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      // The event stream reports the problem. The next record causes a retry.
      getRun({ source, runId }).then(setAnswer, () => {});
    }, REFRESH_MS);
  }, [source, runId, setAnswer]);
}

/** Fetches the run again until its overview covers it. If a request fails, the incomplete overview stays. */
function useCompletion(
  { source, runId }: RunAddress,
  { answer, pages }: State,
  firstSeq: number,
  setAnswer: (answer: RunAnswer) => void,
): void {
  useEffect(() => {
    if (answer === undefined || answer.overview.complete) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isCurrent = true;
    const fetchAgain = (): void => void getRun({ source, runId }, true).then(setAnswer, () => {});
    const schedule = (): void => {
      if (isCurrent) timer = setTimeout(fetchAgain, OVERVIEW_MS);
    };
    // `RecordPages` reports a failed request.
    pages?.ensure(firstSeq).then(schedule, schedule);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [answer, pages, source, runId, firstSeq, setAnswer]);
}
