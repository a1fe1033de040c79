import type { ToolEnded, TrajectoryRecord } from '../../records/trajectory-record.ts';
import type { RecordPages } from './record-pages.ts';

/** Records that are looked back over for an equal call. */
const MAX_BACK = 400;

/** An earlier call with the same tool and arguments. */
export interface EqualCall {
  /** The record that began it. */
  readonly seq: number;
  /** It came back with the same. */
  readonly sameResult: boolean;
}

const keys = new WeakMap<TrajectoryRecord, string>();

/** The last call before this one that is equal to it, where it is at hand. */
export function equalCallBefore(record: TrajectoryRecord, pages: RecordPages): EqualCall | undefined {
  const { payload } = record;
  if (payload.kind !== 'tool_started') return undefined;
  for (let seq = record.seq - 1; seq >= Math.max(0, record.seq - MAX_BACK); seq -= 1) {
    const other = pages.at(seq);
    if (other?.payload.kind !== 'tool_started' || other.payload.tool_name !== payload.tool_name) continue;
    if (keyOf(other) !== keyOf(record)) continue;
    const [before, now] = [resultText(other, pages), resultText(record, pages)];
    return { seq, sameResult: before !== undefined && before === now };
  }
  return undefined;
}

function keyOf(record: TrajectoryRecord): string {
  const known = keys.get(record);
  if (known !== undefined) return known;
  const { payload } = record;
  const key = payload.kind === 'tool_started' ? JSON.stringify(payload.args) : '';
  keys.set(record, key);
  return key;
}

function resultText(record: TrajectoryRecord, pages: RecordPages): string | undefined {
  if (record.payload.kind !== 'tool_started') return undefined;
  const end = pages.endOf(record.payload.tool_call_id, record.seq);
  const ended: ToolEnded | undefined = end === undefined ? undefined : endedAt(end, pages);
  return ended === undefined ? undefined : JSON.stringify(ended.result);
}

function endedAt(seq: number, pages: RecordPages): ToolEnded | undefined {
  const payload = pages.at(seq)?.payload;
  return payload?.kind === 'tool_ended' ? payload : undefined;
}
