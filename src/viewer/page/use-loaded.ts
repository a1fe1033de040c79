import { useCallback, useEffect, useRef, useState } from 'react';

/** A fetched value. The previous value stays available while the value is fetched again. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: Error | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface State<Value> extends Omit<Loaded<Value>, 'reload'> {
  readonly key: string;
}

/** Fetches a value again whenever `key` changes. Responses for older keys are dropped. */
export function useLoaded<Value>(key: string, load: () => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<State<Value>>({ key, value: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    let isCurrent = true;
    setState((before) =>
      before.key === key
        ? { ...before, isLoading: true }
        : { key, value: undefined, error: undefined, isLoading: true },
    );
    const fetchIt = async (): Promise<void> => {
      try {
        const value = await latest.current();
        if (isCurrent) setState({ key, value, error: undefined, isLoading: false });
      } catch (error) {
        if (isCurrent) setState((before) => ({ ...before, key, error: asError(error), isLoading: false }));
      }
    };
    void fetchIt();
    return () => {
      isCurrent = false;
    };
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isStale = state.key !== key;
  return {
    value: isStale ? undefined : state.value,
    error: isStale ? undefined : state.error,
    isLoading: isStale || state.isLoading,
    reload,
  };
}

const PENDING_MS = 1_500;

export function useReloadWhilePending(loaded: Loaded<{ readonly pending: number }>): void {
  const { isLoading, reload, value } = loaded;
  const isPending = (value?.pending ?? 0) > 0;
  useEffect(() => {
    if (!isPending || isLoading) return undefined;
    const timer = setTimeout(reload, PENDING_MS);
    return () => clearTimeout(timer);
  }, [isPending, isLoading, reload]);
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
