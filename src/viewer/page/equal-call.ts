import type { ToolEnded, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
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

const argumentKeys = new WeakMap<TrajectoryRecord, string>();

/** Returns the last equal call before this one, if it is loaded. */
export function equalCallBefore(record: TrajectoryRecord, pages: RecordPages): EqualCall | undefined {
  const { payload } = record;
  if (payload.kind !== 'tool_started') return undefined;
  for (let seq = record.seq - 1; seq >= Math.max(0, record.seq - MAX_BACK); seq -= 1) {
    const earlierCall = pages.at(seq);
    if (earlierCall?.payload.kind !== 'tool_started' || earlierCall.payload.tool_name !== payload.tool_name) continue;
    if (keyOf(earlierCall) !== keyOf(record)) continue;
    const [earlierResult, result] = [resultText(earlierCall, pages), resultText(record, pages)];
    return { seq, sameResult: earlierResult !== undefined && earlierResult === result };
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
): ({ readonly seq: number } & ChangedRange) | undefined {
  const { payload } = record;
  if (payload.kind !== 'tool_started') return undefined;
  for (let seq = record.seq - 1; seq >= Math.max(0, record.seq - NEAR_BACK); seq -= 1) {
    const earlierCall = pages.at(seq)?.payload;
    if (earlierCall?.kind !== 'tool_started' || earlierCall.tool_name !== payload.tool_name) continue;
    const [earlierText, text] = [headlineOf(earlierCall.args).headline, headlineOf(payload.args).headline];
    const maxLength = Math.max(text.length, earlierText.length);
    const difference = differenceBetween(earlierText, text);
    const sameChars = text.length - (difference.to - difference.from);
    const isNear = text !== earlierText && maxLength >= MIN_NEAR_CHARS && sameChars >= NEAR_SHARE * maxLength;
    return isNear ? { seq, ...difference } : undefined;
  }
  return undefined;
}

/** The range in which a text differs from an earlier one, and what that one has there. */
export interface ChangedRange {
  readonly from: number;
  readonly to: number;
  readonly before: string;
}

/** Returns the difference between two texts without their common beginning and end. */
export function differenceBetween(earlierText: string, text: string): ChangedRange {
  const minLength = Math.min(text.length, earlierText.length);
  const sameStart = countSame(minLength, (index) => text[index] === earlierText[index]);
  const sameEnd = countSame(minLength - sameStart, (index) => text.at(-1 - index) === earlierText.at(-1 - index));
  const before = earlierText.slice(sameStart, earlierText.length - sameEnd);
  return { from: sameStart, to: text.length - sameEnd, before };
}

/** Counts the indices from 0 up to the first that is not the same, at most `limit`. */
function countSame(limit: number, isSame: (index: number) => boolean): number {
  let count = 0;
  while (count < limit && isSame(count)) count += 1;
  return count;
}

function keyOf(record: TrajectoryRecord): string {
  const knownKey = argumentKeys.get(record);
  if (knownKey !== undefined) return knownKey;
  const { payload } = record;
  const key = payload.kind === 'tool_started' ? JSON.stringify(payload.args) : '';
  argumentKeys.set(record, key);
  return key;
}

const results = new WeakMap<ToolEnded, string>();

function resultText(record: TrajectoryRecord, pages: RecordPages): string | undefined {
  if (record.payload.kind !== 'tool_started') return undefined;
  const end = pages.endOf(record.payload.tool_call_id, record.seq);
  const payload: ToolEnded | undefined = end === undefined ? undefined : toolEndedAt(end, pages);
  if (payload === undefined) return undefined;
  const text = results.get(payload) ?? JSON.stringify(payload.result);
  results.set(payload, text);
  return text;
}

function toolEndedAt(seq: number, pages: RecordPages): ToolEnded | undefined {
  const payload = pages.at(seq)?.payload;
  return payload?.kind === 'tool_ended' ? payload : undefined;
}
