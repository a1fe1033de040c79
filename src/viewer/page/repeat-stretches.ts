import { present } from '../../base/present.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../records/trajectory-record.ts';
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
