import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import type { FeedStart, ListedRow, RunsAnswer, SourceRow } from '../server/api-shapes.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { getRows, getRuns, listenTo, type RunFilters } from './api.ts';
import { runKey } from './route.ts';
import { asError } from './use-loaded.ts';

const MAX_ROWS = 100;
const RETRY_MS = 700;

export interface RunListState {
  readonly rows: readonly ListedRow[];
  /** The latest answer without its rows; undefined before the first one. */
  readonly sums: Omit<RunsAnswer, 'runs' | 'next'> | undefined;
  readonly isLoading: boolean;
  readonly error: Error | undefined;
  /** True if the viewer does not respond, so that the list may be outdated. */
  readonly isLost: boolean;
  readonly arrived: number;
  readonly more: () => void;
  readonly reload: () => void;
  readonly complete: (rows: readonly ListedRow[]) => void;
}

interface State extends Omit<RunListState, 'isLost' | 'arrived' | 'more' | 'reload' | 'complete'> {
  readonly next: string | undefined;
}

const lists = new LruMap<State>(8);

const EMPTY: State = { rows: [], next: undefined, sums: undefined, isLoading: true, error: undefined };

export function useRunList(filters: RunFilters, sources: readonly SourceRow[], onSource: () => void): RunListState {
  const key = JSON.stringify(filters);
  const [state, setState] = useState<State>(() => lists.get(key) ?? EMPTY);
  const [arrived, setArrived] = useState<ReadonlySet<string>>(new Set());
  const round = useRef(0);
  const latest = useRef(state);
  latest.current = state;
  const known = useRef(sources);
  known.current = sources;
  const [startVersion, setStartVersion] = useState(0);
  const requested = useRef(new Set<string>());

  useEffect(() => {
    if (!state.isLoading) lists.set(key, state);
  }, [key, state]);

  const load = useCallback(
    async (after: string | undefined, limit?: number) => {
      const ownRound = round.current;
      setState((before) => ({ ...before, isLoading: true, error: undefined }));
      try {
        // The cast is safe: the key is the JSON of the filters.
        const { next, runs, ...sums } = await getRuns(JSON.parse(key) as RunFilters, after, limit);
        if (ownRound !== round.current) return;
        setState((before) => ({
          rows: after === undefined ? keepExtras(runs, before.rows) : appendRows(before.rows, runs),
          next,
          sums,
          isLoading: false,
          error: undefined,
        }));
      } catch (error) {
        if (ownRound === round.current) setState((before) => ({ ...before, isLoading: false, error: asError(error) }));
      }
    },
    [key],
  );

  const reload = useCallback(
    (limit?: number) => {
      round.current += 1;
      requested.current.clear();
      setArrived(new Set());
      void load(undefined, limit);
    },
    [load],
  );

  useEffect(() => {
    const saved = lists.get(key);
    setState(saved ?? EMPTY);
    // The list is loaded to its previous length, so that the scroll position is still valid.
    reload(saved?.rows.length);
  }, [key, reload]);

  const more = useCallback(() => {
    const { next, isLoading, error } = latest.current;
    if (next !== undefined && !isLoading && error === undefined) void load(next);
  }, [load]);

  const complete = useCallback((rows: readonly ListedRow[]) => {
    const incompleteRows = rows.filter((row) => !row.extras && !requested.current.has(runKey(row))).slice(0, MAX_ROWS);
    if (incompleteRows.length === 0) return;
    for (const row of incompleteRows) requested.current.add(runKey(row));
    const ownRound = round.current;
    const fetchRows = async (): Promise<void> => {
      const answer = await getRows(incompleteRows);
      if (ownRound !== round.current) return;
      setState((before) => ({ ...before, rows: replaceRows(before.rows, answer.rows) }));
      const unready = answer.rows.filter((row) => !row.extras);
      if (unready.length === 0) return;
      // The rows are requested again if they are still visible after a short delay.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      for (const row of unready) requested.current.delete(runKey(row));
      if (ownRound === round.current) setState((before) => ({ ...before, rows: [...before.rows] }));
    };
    // The rows stay. If the list itself fails, it reports the error.
    fetchRows().catch(() => {});
  }, []);

  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const sourceStates = new Map(known.current.map((source) => [source.id, sourceState(source)]));
    const handlers = {
      start: ({ version }: FeedStart) => setStartVersion(version),
      run: (row: ListedRow) => {
        const isKnown = latest.current.rows.some((listedRow) => runKey(listedRow) === runKey(row));
        requested.current.delete(runKey(row));
        if (isKnown) setState((before) => ({ ...before, rows: replaceRows(before.rows, [row]) }));
        else setArrived((before) => new Set([...before, runKey(row)]));
      },
      gone: () => reload(),
      reset: () => reload(),
      source: (source: SourceRow) => {
        const isNew = sourceState(source) !== sourceStates.get(source.id);
        sourceStates.set(source.id, sourceState(source));
        if (!isNew) return;
        onSource();
        reload();
      },
    };
    return listenTo('/api/events', handlers, setLost);
  }, [reload, onSource]);

  const { isLoading, sums } = state;
  const isOlder = !isLoading && sums !== undefined && sums.version < startVersion;
  useEffect(() => {
    // No event reports a change after the list was read and before its stream started.
    if (isOlder) reload(latest.current.rows.length);
  }, [isOlder, reload]);
  const { notLookedAt = 0, pending = 0, total = 0 } = sums ?? {};
  const [failedCounts, setFailedCounts] = useState(0);
  useEffect(() => {
    if (notLookedAt === 0 || isLoading) return undefined;
    const ownRound = round.current;
    // Only the sums are updated, because rows must not move while the user reads.
    const updateSums = async (): Promise<void> => {
      // The cast is safe: the key is the JSON of the filters.
      const { next: _next, runs: _runs, ...newSums } = await getRuns(JSON.parse(key) as RunFilters, undefined);
      if (ownRound !== round.current) return;
      setState((before) => ({ ...before, sums: { ...newSums, version: before.sums?.version ?? newSums.version } }));
    };
    // Each request passes over all runs.
    const pauseMs = Math.min(2_000, 300 + total);
    const timer = setTimeout(() => void updateSums().catch(() => setFailedCounts((before) => before + 1)), pauseMs);
    return () => clearTimeout(timer);
  }, [sums, failedCounts, isLoading, key, notLookedAt, total]);
  const isEmpty = state.rows.length === 0;
  // In an empty list no rows can move.
  const hasNews = pending > 0 || (isEmpty && arrived.size > 0);
  useEffect(() => {
    // This must not discard a pending request.
    if (!hasNews || isLoading) return undefined;
    const timer = setTimeout(() => reload(latest.current.rows.length), isEmpty ? RETRY_MS : 2_000);
    return () => clearTimeout(timer);
  }, [hasNews, isEmpty, isLoading, reload]);

  return useMemo(
    () => ({ ...state, isLost, arrived: arrived.size, more, reload: () => reload(), complete }),
    [state, isLost, arrived, more, reload, complete],
  );
}

function sourceState({ indexing, problem }: SourceRow): string {
  return `${problem?.message ?? ''} ${indexing?.done ?? ''}`;
}

function appendRows(rows: readonly ListedRow[], nextRows: readonly ListedRow[]): readonly ListedRow[] {
  const listedKeys = new Set(rows.map(runKey));
  return [...rows, ...nextRows.filter((row) => !listedKeys.has(runKey(row)))];
}

/** Returns refetched rows. If a run has not changed, its row keeps the known extras. */
function keepExtras(rows: readonly ListedRow[], previousRows: readonly ListedRow[]): readonly ListedRow[] {
  const byKey = new Map(previousRows.map((row) => [runKey(row), row]));
  return rows.map((row) => {
    const old = byKey.get(runKey(row));
    return row.extras || old?.extras !== true || old.lastSeq !== row.lastSeq ? row : { ...old, ...row, extras: true };
  });
}

/** Replaces rows by newer ones. Fields that the newer row lacks keep their values. */
function replaceRows(rows: readonly ListedRow[], newerRows: readonly ListedRow[]): readonly ListedRow[] {
  const byKey = new Map(newerRows.map((row) => [runKey(row), row]));
  return rows.map((row) => {
    const newerRow = byKey.get(runKey(row));
    return newerRow === undefined ? row : { ...row, ...newerRow, extras: newerRow.extras };
  });
}
