import type { Row } from '../../core/records/field-types.ts';
import { rowOf as definedRow } from '../../core/records/kind-definition.ts';
import type { StoredContent } from '../../core/records/stored-message.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { PAGE_RECORDS, type RecordPages } from './record-pages.ts';

/** How a record is displayed. `none` means that another row shows the record, or that it is not shown. */
export type RowKind = Row | 'none';

/** Returns the kind of row for a record. It depends on the loaded records. */
export function rowKindOf(record: TrajectoryRecord, pages: RecordPages, withDetails: boolean): RowKind {
  const kind = plainKind(record, pages);
  return kind === 'detail' && !withDetails ? 'none' : kind;
}

function plainKind(record: TrajectoryRecord, pages: RecordPages): RowKind {
  const { payload, seq } = record;
  if (payload.kind === 'tool_ended') return pages.startOf(payload.tool_call_id, seq) === undefined ? 'result' : 'none';
  if (payload.kind === 'message_appended') {
    // The row of the call shows this result.
    if (payload.message.role === 'tool_result') return 'detail';
    return hasContent(payload.message.content) ? 'message' : 'detail';
  }
  if (payload.kind === 'turn_ended')
    return hasContent(payload.assistant.content) && !isRepeated(record, pages) ? 'message' : 'detail';
  return definedRow(payload);
}

/** Returns true if a message contains anything besides calls. Calls have separate rows. */
function hasContent(content: StoredContent): boolean {
  // A truncated value is neither a text nor a list of parts.
  if (typeof content === 'string') return content.trim() !== '';
  if (!Array.isArray(content)) return true;
  return content.some((block) => {
    if (block.type === 'tool_call') return false;
    return !('text' in block) || typeof block.text !== 'string' || block.text.trim() !== '';
  });
}

/** Maximum number of earlier records searched for the start of a turn. */
const MAX_BACK = 120;

/** Returns true if the response that ends a turn was also recorded as a message within the turn. */
function isRepeated(record: TrajectoryRecord, pages: RecordPages): boolean {
  for (let seq = record.seq - 1; seq >= Math.max(0, record.seq - MAX_BACK); seq -= 1) {
    const payload = pages.at(seq)?.payload;
    if (payload === undefined) return false;
    if (payload.kind === 'message_appended' && payload.message.role === 'assistant') return true;
    if (payload.kind === 'turn_started' || payload.kind === 'turn_ended') return false;
  }
  return false;
}

/** Options for searching a row. */
export interface RowSearch {
  readonly direction: 1 | -1;
  readonly withDetails: boolean;
}

/** Returns the first row from `seq` on, in the given direction, or null. */
export async function nextRow(seq: number, pages: RecordPages, search: RowSearch): Promise<number | null> {
  for (let currentSeq = seq; currentSeq >= 0 && currentSeq <= pages.lastSeq; currentSeq += search.direction) {
    await ensureJoined(currentSeq, pages);
    const record = pages.at(currentSeq);
    if (record !== undefined && rowKindOf(record, pages, search.withDetails) !== 'none') return currentSeq;
  }
  return null;
}

/** Loads a record. For a result it also loads the previous page, which may contain the call. */
async function ensureJoined(seq: number, pages: RecordPages): Promise<void> {
  await pages.ensure(seq);
  const payload = pages.at(seq)?.payload;
  if (payload?.kind !== 'tool_ended' || pages.startOf(payload.tool_call_id, seq) !== undefined) return;
  await pages.ensure(seq - PAGE_RECORDS);
}

/** Returns the row that shows the record at `seq`: the row of the call for a result, otherwise the record's own row or the next row. */
export async function recordRowOf(seq: number, pages: RecordPages, withDetails: boolean): Promise<number | null> {
  await ensureJoined(seq, pages);
  const payload = pages.at(seq)?.payload;
  const start = payload?.kind === 'tool_ended' ? pages.startOf(payload.tool_call_id, seq) : undefined;
  return start ?? (await nextRow(seq, pages, { direction: 1, withDetails }));
}

/** Returns false if the words at `seq` occur only in the calls of a response. Calls have separate rows. */
export async function isSaidAt(seq: number, pages: RecordPages, words: readonly string[]): Promise<boolean> {
  await pages.ensure(seq);
  const payload = pages.at(seq)?.payload;
  const message = payload?.kind === 'message_appended' ? payload.message : undefined;
  if (message?.role !== 'assistant' || !Array.isArray(message.content)) return true;
  const blocks = message.content.filter((block) => block.type !== 'tool_call');
  const text = JSON.stringify(blocks).toLowerCase();
  return words.some((word) => text.includes(word));
}

/** Returns the last `seq` of a row: that of the call's result, or the row's own. */
export function endOfRow(seq: number, pages: RecordPages): number {
  const payload = pages.at(seq)?.payload;
  return payload?.kind === 'tool_started' ? (pages.endOf(payload.tool_call_id, seq) ?? seq) : seq;
}
