import { useCallback, useEffect, useRef, useState } from 'react';

/** A fetched value. The previous value stays available while the value is fetched again. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
}

interface State<Value> extends Omit<Loaded<Value>, 'reload'> {
  readonly key: string;
}

const PENDING_MS = 1_500;

/** Fetches a value again whenever `key` changes, and after a pause while it is pending. Responses for older keys are dropped. */
export function useLoaded<Value>(
  key: string,
  load: () => Promise<Value>,
  isPending: (value: Value) => boolean = () => false,
): Loaded<Value> {
  const [state, setState] = useState<State<Value>>({ key, value: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const latest = useRef({ isPending, load });
  latest.current = { isPending, load };
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const fetchIt = async (): Promise<void> => {
      try {
        const value = await latest.current.load();
        if (!isCurrent) return;
        setState({ key, value, error: undefined });
        if (latest.current.isPending(value)) timer = setTimeout(reload, PENDING_MS);
      } catch (error) {
        if (!isCurrent) return;
        setState((before) => ({ key, value: before.key === key ? before.value : undefined, error: asError(error) }));
      }
    };
    void fetchIt();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key, round, reload]);
  return state.key === key ? { ...state, reload } : { value: undefined, error: undefined, reload };
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
