import { useCallback, useMemo, useState } from 'react';

import type { RecordPages } from './record-pages.ts';
import { repeatStretches, type RepeatStretch } from './repeat-stretches.ts';

/** Stretches of equal calls, and which of them are folded. */
export interface Repeats {
  /** By the first record of their second call, whose row represents them. */
  readonly at: ReadonlyMap<number, RepeatStretch>;
  readonly folded: readonly RepeatStretch[];
  /** Changes with the folded stretches. */
  readonly key: string;
  /** Folds or unfolds the stretch of a second call. */
  readonly toggle: (seq: number) => void;
}

/** Folds all stretches except those unfolded by the user and the one with the chosen row. */
export function useRepeats(
  pages: RecordPages,
  version: unknown,
  shown: { readonly selected: number | undefined; readonly isShownWhole: boolean },
): Repeats {
  const { isShownWhole, selected } = shown;
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const toggle = useCallback((seq: number) => {
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(seq)) after.add(seq);
      return after;
    });
  }, []);
  const stretches = useMemo(() => repeatStretches(pages.records(), pages), [pages, version]);
  return useMemo(() => {
    const isOpen = ({ calls: [first = 0, second = 0, ...rest] }: RepeatStretch): boolean =>
      isShownWhole ||
      opened.has(second) ||
      (selected !== undefined && selected > first && selected <= (rest.at(-1) ?? first));
    const folded = stretches.filter((stretch) => !isOpen(stretch));
    return {
      at: new Map(stretches.map((stretch) => [stretch.calls[1] ?? -1, stretch])),
      folded,
      key: folded.map(({ calls }) => `${calls[1]}+${calls.length}`).join(' '),
      toggle,
    };
  }, [stretches, opened, selected, isShownWhole, toggle]);
}
