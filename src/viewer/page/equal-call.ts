import type { ToolEnded, TrajectoryRecord } from '../../records/trajectory-record.ts';
import type { RecordPages } from './record-pages.ts';
import { headlineOf } from './text-of.ts';

/** Maximum number of earlier records searched for an equal call. */
const MAX_BACK = 400;

/** An earlier call with the same tool and arguments. */
export interface EqualCall {
  /** The `seq` of the first record of that call. */
  readonly seq: number;
  /** True if the results are also equal. */
  readonly sameResult: boolean;
}

const keys = new WeakMap<TrajectoryRecord, string>();

/** Returns the last equal call before this one, if it is loaded. */
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

/** Returns a key from the tool, arguments and result of a call. Undefined until the result is loaded. */
export function callKey(record: TrajectoryRecord, pages: RecordPages): string | undefined {
  if (record.payload.kind !== 'tool_started') return undefined;
  const result = resultText(record, pages);
  return result === undefined ? undefined : `${record.payload.tool_name}\n${keyOf(record)}\n${result}`;
}

/** Maximum number of earlier records searched for a similar call. */
const NEAR_BACK = 60;
const MIN_NEAR_CHARS = 16;
/** The minimum share of the longer headline that two similar calls have in common, at its beginning and end together. */
const NEAR_SHARE = 0.6;

/** Returns the range in which the headline of a call differs from a similar earlier call of the same tool, and what that call has there. */
export function nearCallBefore(
  record: TrajectoryRecord,
  pages: RecordPages,
): { readonly seq: number; readonly from: number; readonly to: number; readonly before: string } | undefined {
  const { payload } = record;
  if (payload.kind !== 'tool_started') return undefined;
  for (let seq = record.seq - 1; seq >= Math.max(0, record.seq - NEAR_BACK); seq -= 1) {
    const other = pages.at(seq)?.payload;
    if (other?.kind !== 'tool_started' || other.tool_name !== payload.tool_name) continue;
    const [before, now] = [headlineOf(other.args).headline, headlineOf(payload.args).headline];
    let from = 0;
    while (from < now.length && now[from] === before[from]) from += 1;
    let same = 0;
    while (same < Math.min(now.length, before.length) - from && now.at(-1 - same) === before.at(-1 - same)) same += 1;
    const longer = Math.max(now.length, before.length);
    const isNear = now !== before && longer >= MIN_NEAR_CHARS && from + same >= NEAR_SHARE * longer;
    return isNear ? { seq, from, to: now.length - same, before: before.slice(from, before.length - same) } : undefined;
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

const results = new WeakMap<ToolEnded, string>();

function resultText(record: TrajectoryRecord, pages: RecordPages): string | undefined {
  if (record.payload.kind !== 'tool_started') return undefined;
  const end = pages.endOf(record.payload.tool_call_id, record.seq);
  const ended: ToolEnded | undefined = end === undefined ? undefined : endedAt(end, pages);
  if (ended === undefined) return undefined;
  const text = results.get(ended) ?? JSON.stringify(ended.result);
  results.set(ended, text);
  return text;
}

function endedAt(seq: number, pages: RecordPages): ToolEnded | undefined {
  const payload = pages.at(seq)?.payload;
  return payload?.kind === 'tool_ended' ? payload : undefined;
}
