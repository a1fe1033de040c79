import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { callKey } from './equal-call.ts';
import type { RecordPages } from './record-pages.ts';
import { rowKindOf } from './record-row.ts';

/** Minimum number of consecutive equal calls that are folded. */
const MIN_CALLS = 3;

/** A series of equal calls with equal results. Only messages are between them. */
export interface RepeatStretch {
  /** The `seq` of the first record of each call. */
  readonly calls: readonly number[];
}

/** Finds the series of equal calls in the loaded records. @param records  in order */
export function repeatStretches(records: Iterable<TrajectoryRecord>, pages: RecordPages): readonly RepeatStretch[] {
  const found: RepeatStretch[] = [];
  let calls: number[] = [];
  let key: string | undefined;
  let lastSeq = -1;
  const end = (): void => {
    if (calls.length >= MIN_CALLS) found.push({ calls });
    [calls, key] = [[], undefined];
  };
  for (const record of records) {
    const { payload, seq } = record;
    if (seq !== lastSeq + 1) end();
    lastSeq = seq;
    if (payload.kind === 'tool_started') {
      const own = callKey(record, pages);
      if (own === undefined || own !== key) end();
      calls.push(seq);
      key = own;
    } else if (calls.length > 0 && breaksOff(record, pages)) end();
  }
  end();
  return found;
}

function breaksOff(record: TrajectoryRecord, pages: RecordPages): boolean {
  const { payload } = record;
  if (payload.kind === 'turn_ended') return false;
  if (payload.kind === 'message_appended' && payload.message.role === 'assistant') return false;
  return rowKindOf(record, pages, false) !== 'none';
}
