import { useCallback, useMemo, useState } from 'react';

import type { RecordPages } from './record-pages.ts';
import { repeatStretches, type RepeatStretch } from './repeat-stretches.ts';
import type { Calls } from './use-calls.ts';

/** The series of equal calls and equal failures, and which of them are folded. */
export interface Repeats {
  /** Keyed by the first record of the second call, whose row represents the series. */
  readonly at: ReadonlyMap<number, RepeatStretch>;
  readonly folded: readonly RepeatStretch[];
  /** A key that changes when the set of folded series changes. */
  readonly key: string;
  /** Folds or unfolds the series whose second call has this `seq`. */
  readonly toggle: (seq: number) => void;
}

/** Folds all series, except those that the user unfolded and the one that contains the chosen row. */
export function useRepeats(
  pages: RecordPages,
  version: unknown,
  shown: { readonly calls: Calls; readonly selected: number | undefined; readonly isShownWhole: boolean },
): Repeats {
  const { calls, isShownWhole, selected } = shown;
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const toggle = useCallback((seq: number) => {
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(seq)) after.add(seq);
      return after;
    });
  }, []);
  const stretches = useMemo(() => repeatStretches(pages.records(), pages, calls), [pages, version, calls]);
  return useMemo(() => {
    const isOpen = ({ calls: [first = 0, second = 0, ...rest] }: RepeatStretch): boolean =>
      isShownWhole ||
      opened.has(second) ||
      (selected !== undefined && selected > first && selected <= (rest.at(-1) ?? first));
    const folded = stretches.filter((stretch) => !isOpen(stretch));
    return {
      at: new Map(stretches.map((stretch) => [stretch.calls[1] ?? -1, stretch])),
      folded,
      key: folded.map((stretch) => `${stretch.calls[1]}+${stretch.calls.length}`).join(' '),
      toggle,
    };
  }, [stretches, opened, selected, isShownWhole, toggle]);
}
