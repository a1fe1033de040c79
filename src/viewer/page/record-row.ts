import type { Row } from '../../records/field-types.ts';
import { rowOf as definedRow } from '../../records/kind-definition.ts';
import type { StoredContent } from '../../records/stored-message.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { PAGE_RECORDS, type RecordPages } from './record-pages.ts';

/** The row that a record has; `none`: it is shown with another record, or not at all. */
export type RowKind = Row | 'none';

/** How a record is shown, given what else is at hand. */
export function rowKindOf(record: TrajectoryRecord, pages: RecordPages, withDetails: boolean): RowKind {
  const kind = plainKind(record, pages);
  return kind === 'detail' && !withDetails ? 'none' : kind;
}

function plainKind(record: TrajectoryRecord, pages: RecordPages): RowKind {
  const { payload, seq } = record;
  if (payload.kind === 'tool_ended') return pages.startOf(payload.tool_call_id, seq) === undefined ? 'result' : 'none';
  if (payload.kind === 'message_appended') {
    // A result is shown with its call already.
    if (payload.message.role === 'tool_result') return 'detail';
    return hasSomethingToSay(payload.message.content) ? 'message' : 'detail';
  }
  if (payload.kind === 'turn_ended')
    return hasSomethingToSay(payload.assistant.content) && !wasSaid(record, pages) ? 'message' : 'detail';
  return definedRow(payload);
}

/** Whether there is more to a message than calls, which have rows of their own. */
function hasSomethingToSay(content: StoredContent): boolean {
  // What is stored may be shortened, and then it is neither text nor parts.
  if (typeof content === 'string') return content.trim() !== '';
  if (!Array.isArray(content)) return true;
  return content.some((block) => {
    if (block.type === 'tool_call') return false;
    return !('text' in block) || typeof block.text !== 'string' || block.text.trim() !== '';
  });
}

/** Most records that are looked back over for the beginning of a turn. */
const MAX_BACK = 120;

/** Whether the answer that ends a turn was appended as a message within it. */
function wasSaid(record: TrajectoryRecord, pages: RecordPages): boolean {
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

/** The first row from `seq` on in a direction; null where none is shown from there on. */
export async function nextRow(seq: number, pages: RecordPages, search: RowSearch): Promise<number | null> {
  for (let at = seq; at >= 0 && at <= pages.lastSeq; at += search.direction) {
    await ensureJoined(at, pages);
    const record = pages.at(at);
    if (record !== undefined && rowKindOf(record, pages, search.withDetails) !== 'none') return at;
  }
  return null;
}

/** Sees to it that a record is there, and for a result the page before it too, where its call may be. */
async function ensureJoined(seq: number, pages: RecordPages): Promise<void> {
  await pages.ensure(seq);
  const payload = pages.at(seq)?.payload;
  if (payload?.kind !== 'tool_ended' || pages.startOf(payload.tool_call_id, seq) !== undefined) return;
  await pages.ensure(seq - PAGE_RECORDS);
}

/** The row that shows the record at `seq`: its call's for a result, its own, or the next one there is. */
export async function recordRowOf(seq: number, pages: RecordPages, withDetails: boolean): Promise<number | null> {
  await ensureJoined(seq, pages);
  const payload = pages.at(seq)?.payload;
  const start = payload?.kind === 'tool_ended' ? pages.startOf(payload.tool_call_id, seq) : undefined;
  return start ?? (await nextRow(seq, pages, { direction: 1, withDetails }));
}

/** Whether what is found at `seq` is something else than the calls of an answer, which have rows of their own. */
export async function isSaidAt(seq: number, pages: RecordPages, words: readonly string[]): Promise<boolean> {
  await pages.ensure(seq);
  const payload = pages.at(seq)?.payload;
  const message = payload?.kind === 'message_appended' ? payload.message : undefined;
  if (message?.role !== 'assistant' || !Array.isArray(message.content)) return true;
  const said = message.content.filter((block) => block.type !== 'tool_call');
  const text = JSON.stringify(said).toLowerCase();
  return words.some((word) => text.includes(word));
}

/** The last `seq` that a row shows: where a call came back, else its own. */
export function endOfRow(seq: number, pages: RecordPages): number {
  const payload = pages.at(seq)?.payload;
  return payload?.kind === 'tool_started' ? (pages.endOf(payload.tool_call_id, seq) ?? seq) : seq;
}
