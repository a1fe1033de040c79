import { useCallback, useMemo, useState } from 'react';

import { present } from '../../core/base/present.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { callKey } from './equal-call.ts';
import type { RecordPages } from './record-pages.ts';
import { rowKindOf } from './record-row.ts';
import type { Calls } from './use-calls.ts';

/** Minimum number of consecutive calls that are folded. */
const MIN_CALLS = 3;

/** A series of equal calls with equal results, or of calls that failed with the same line. Only messages are between them. */
export interface RepeatStretch {
  /** The `seq` of the first record of each call. */
  readonly calls: readonly number[];
  /** The failure line of calls with different arguments or results. Absent for equal calls. */
  readonly failure?: string;
  /** Number of messages between the calls. */
  readonly messages: number;
}

interface SeriesCall {
  readonly seq: number;
  /** Number of messages between the previous call of the series and this one. */
  readonly messages: number;
  /** Tool, arguments and result. */
  readonly key: string | undefined;
  readonly tool: string;
  readonly failure: string | undefined;
}

/** Finds the series of equal calls and of equal failures in the loaded records. @param records  in order */
export function repeatStretches(
  records: Iterable<TrajectoryRecord>,
  pages: RecordPages,
  calls: Pick<Calls, 'at'>,
): readonly RepeatStretch[] {
  const found: RepeatStretch[] = [];
  let series: SeriesCall[] = [];
  let lastSeq = -1;
  let messages = 0;
  const end = (): void => {
    found.push(...stretchesIn(series));
    series = [];
  };
  for (const record of records) {
    const { payload, seq } = record;
    if (seq !== lastSeq + 1) end();
    lastSeq = seq;
    if (payload.kind === 'tool_started') {
      const failure = calls.at(seq)?.failure;
      series.push({ seq, messages, key: callKey(record, pages), tool: payload.tool_name, failure });
      messages = 0;
    } else if (rowKindOf(record, pages, false) !== 'none') {
      if (isAssistantMessage(payload)) messages += 1;
      else end();
    }
  }
  end();
  return found;
}

/** Divides consecutive calls from the first on. Of equal calls and equal failures, the longer stretch counts. */
function stretchesIn(series: readonly SeriesCall[]): readonly RepeatStretch[] {
  const found: RepeatStretch[] = [];
  for (let from = 0; from < series.length;) {
    const first = series[from];
    if (first === undefined) break;
    const { failure, key, tool } = first;
    const equalEnd = endOf(series, from, (call) => key !== undefined && call.key === key);
    const failedEnd = endOf(
      series,
      from,
      (call) => failure !== undefined && call.failure === failure && call.tool === tool,
    );
    const end = Math.max(equalEnd, failedEnd);
    if (end - from >= MIN_CALLS) {
      const [, ...repeats] = series.slice(from, end);
      found.push({
        calls: [first.seq, ...repeats.map(({ seq }) => seq)],
        messages: repeats.reduce((sum, call) => sum + call.messages, 0),
        ...(failedEnd > equalEnd ? present({ failure }) : {}),
      });
      from = end;
    } else from += 1;
  }
  return found;
}

function endOf(series: readonly SeriesCall[], from: number, isSame: (call: SeriesCall) => boolean): number {
  let end = from;
  for (let call = series[end]; call !== undefined && isSame(call); call = series[end]) end += 1;
  return end;
}

function isAssistantMessage(payload: TrajectoryPayload): boolean {
  return payload.kind === 'turn_ended' || (payload.kind === 'message_appended' && payload.message.role === 'assistant');
}

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
