import type { Row } from '../../records/field-types.ts';
import { rowOf as definedRow } from '../../records/kind-definition.ts';
import type { StoredContent } from '../../records/stored-message.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { PAGE_RECORDS, type RecordPages } from './record-pages.ts';

/** The row of a record; `none`: the record is shown in another row, or not shown. */
export type RowKind = Row | 'none';

/** The row of a record, given the loaded records. */
export function rowKindOf(record: TrajectoryRecord, pages: RecordPages, withDetails: boolean): RowKind {
  const kind = plainKind(record, pages);
  return kind === 'detail' && !withDetails ? 'none' : kind;
}

function plainKind(record: TrajectoryRecord, pages: RecordPages): RowKind {
  const { payload, seq } = record;
  if (payload.kind === 'tool_ended') return pages.startOf(payload.tool_call_id, seq) === undefined ? 'result' : 'none';
  if (payload.kind === 'message_appended') {
    // The result is part of its call's row.
    if (payload.message.role === 'tool_result') return 'detail';
    return hasContent(payload.message.content) ? 'message' : 'detail';
  }
  if (payload.kind === 'turn_ended')
    return hasContent(payload.assistant.content) && !isRepeated(record, pages) ? 'message' : 'detail';
  return definedRow(payload);
}

/** Returns true if a message contains more than calls, which have separate rows. */
function hasContent(content: StoredContent): boolean {
  // A cut value is neither text nor parts.
  if (typeof content === 'string') return content.trim() !== '';
  if (!Array.isArray(content)) return true;
  return content.some((block) => {
    if (block.type === 'tool_call') return false;
    return !('text' in block) || typeof block.text !== 'string' || block.text.trim() !== '';
  });
}

/** Records searched back for the start of a turn. */
const MAX_BACK = 120;

/** Returns true if the answer that ends a turn was appended as a message within it. */
function isRepeated(record: TrajectoryRecord, pages: RecordPages): boolean {
  for (let seq = record.seq - 1; seq >= Math.max(0, record.seq - MAX_BACK); seq -= 1) {
    const payload = pages.at(seq)?.payload;
    if (payload === undefined) return false;
    if (payload.kind === 'message_appended' && payload.message.role === 'assistant') return true;
    if (payload.kind === 'turn_started' || payload.kind === 'turn_ended') return false;
  }
  return false;
}

/** Where rows are looked for. */
export interface RowSearch {
  readonly direction: 1 | -1;
  readonly withDetails: boolean;
}

/** The first row from `seq` on in a direction; null without one. */
export async function nextRow(seq: number, pages: RecordPages, search: RowSearch): Promise<number | null> {
  for (let at = seq; at >= 0 && at <= pages.lastSeq; at += search.direction) {
    await ensureJoined(at, pages);
    const record = pages.at(at);
    if (record !== undefined && rowKindOf(record, pages, search.withDetails) !== 'none') return at;
  }
  return null;
}

/** Loads a record, and for a result also the previous page, which may contain its call. */
async function ensureJoined(seq: number, pages: RecordPages): Promise<void> {
  await pages.ensure(seq);
  const payload = pages.at(seq)?.payload;
  if (payload?.kind !== 'tool_ended' || pages.startOf(payload.tool_call_id, seq) !== undefined) return;
  await pages.ensure(seq - PAGE_RECORDS);
}

/** The row that shows the record at `seq`: the call of a result, the record itself, or the next row. */
export async function recordRowOf(seq: number, pages: RecordPages, withDetails: boolean): Promise<number | null> {
  await ensureJoined(seq, pages);
  const payload = pages.at(seq)?.payload;
  const start = payload?.kind === 'tool_ended' ? pages.startOf(payload.tool_call_id, seq) : undefined;
  return start ?? (await nextRow(seq, pages, { direction: 1, withDetails }));
}

/** Returns false if the words at `seq` occur only in the calls of an answer, which have separate rows. */
export async function isSaidAt(seq: number, pages: RecordPages, words: readonly string[]): Promise<boolean> {
  await pages.ensure(seq);
  const payload = pages.at(seq)?.payload;
  const message = payload?.kind === 'message_appended' ? payload.message : undefined;
  if (message?.role !== 'assistant' || !Array.isArray(message.content)) return true;
  const blocks = message.content.filter((block) => block.type !== 'tool_call');
  const text = JSON.stringify(blocks).toLowerCase();
  return words.some((word) => text.includes(word));
}

/** The last `seq` of a row: the result of a call, else its own. */
export function endOfRow(seq: number, pages: RecordPages): number {
  const payload = pages.at(seq)?.payload;
  return payload?.kind === 'tool_started' ? (pages.endOf(payload.tool_call_id, seq) ?? seq) : seq;
}
