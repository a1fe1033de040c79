import { describe, expect, test } from 'vitest';

import type { RecordsAnswer } from '../server/api-shapes.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { MAX_PAGES, PAGE_RECORDS, RecordPages } from './record-pages.ts';
import { endOfRow, nextRow, rowKindOf, recordRowOf } from './record-row.ts';

function recordOf(seq: number, payload: TrajectoryPayload): TrajectoryRecord {
  return { schema_version: 1, seq, run_id: 'run', depth: 0, recorded_at_unix_ms: 0, payload };
}

/** Every even `seq` begins a call, every odd one ends it. */
function callAt(seq: number): TrajectoryRecord {
  const id = `call-${Math.floor(seq / 2)}`;
  return seq % 2 === 0
    ? recordOf(seq, { kind: 'tool_started', tool_call_id: id, tool_name: 'bash', args: {} })
    : recordOf(seq, { kind: 'tool_ended', tool_call_id: id, tool_name: 'bash', result: '', is_error: false });
}

/** A run of `count` records on a server that gives at most `most` at a time. */
function pagesOf(count: number, most = 500, at: (seq: number) => TrajectoryRecord = callAt) {
  const queries: number[] = [];
  const load = async ({ from, limit }: { from: number; limit: number }): Promise<RecordsAnswer> => {
    queries.push(from);
    const to = Math.min(count, from + Math.min(limit, most));
    const records = Array.from({ length: Math.max(0, to - from) }, (_, index) => at(from + index));
    return { records, nextSeq: to, lastSeq: count - 1 };
  };
  const faults: unknown[] = [];
  return { pages: new RecordPages(count - 1, load, (error) => faults.push(error)), queries, faults };
}

describe('pages of records', () => {
  test('are fetched once, also in parts, and dropped when others are used', async () => {
    const { pages, queries } = pagesOf(100_000, 90);
    await Promise.all([pages.ensure(10), pages.ensure(20)]);
    expect(queries).toEqual([0, 90, 180]);
    expect(pages.at(199)?.seq).toBe(199);
    expect(pages.at(200)).toBeUndefined();
    for (let page = 1; page <= MAX_PAGES; page += 1) await pages.ensure(page * PAGE_RECORDS);
    expect(pages.size).toBe(MAX_PAGES);
    expect(pages.isLoaded(0)).toBe(false);
    expect(pages.isLoaded(PAGE_RECORDS)).toBe(true);
  });

  test('find the start of the call of a result, also on the previous page', async () => {
    const { pages } = pagesOf(1_000, 500, (seq) => recordOf(seq, callAt(seq + 1).payload));
    await pages.ensure(0);
    await pages.ensure(PAGE_RECORDS);
    // With an odd number of records before it, a call begins on one page and comes back on the next.
    expect(pages.endOf(`call-${PAGE_RECORDS / 2}`, PAGE_RECORDS - 1)).toBe(PAGE_RECORDS);
    expect(pages.startOf(`call-${PAGE_RECORDS / 2}`, PAGE_RECORDS)).toBe(PAGE_RECORDS - 1);
  });

  test('add new records, and skip known ones', async () => {
    const { pages, queries } = pagesOf(4);
    await pages.ensure(0);
    for (const seq of [3, 4, 5]) pages.add(callAt(seq));
    expect([pages.lastSeq, pages.at(5)?.seq, queries.length]).toEqual([5, 5, 1]);
  });

  test('keep a record that arrives while its page is fetched', async () => {
    const { pages } = pagesOf(4);
    const fetched = pages.ensure(0);
    pages.add(callAt(4));
    await fetched;
    expect(pages.at(4)?.seq).toBe(4);
  });

  test('report a failed request, and retry on the next request', async () => {
    let isDown = true;
    const faults: unknown[] = [];
    const load = async (): Promise<RecordsAnswer> => {
      if (isDown) throw new Error('down');
      return { records: [callAt(0)], nextSeq: 1, lastSeq: 0 };
    };
    const pages = new RecordPages(0, load, (error) => faults.push(error));
    await expect(pages.ensure(0)).rejects.toThrow('down');
    expect(faults).toHaveLength(1);
    isDown = false;
    await pages.ensure(0);
    expect(pages.at(0)?.seq).toBe(0);
  });

  test('end when the server has fewer records than promised', async () => {
    const load = async (): Promise<RecordsAnswer> => ({ records: [], nextSeq: 0, lastSeq: 10 });
    const pages = new RecordPages(10, load, () => {});
    await pages.ensure(0);
    expect(pages.at(0)).toBeUndefined();
  });
});

describe('rows of records', () => {
  test('join a result to its call, or show it alone if the call is far away', async () => {
    const { pages } = pagesOf(10);
    await pages.ensure(0);
    expect([0, 1].map((seq) => rowKindOf(callAt(seq), pages, false))).toEqual(['call', 'none']);
    expect(endOfRow(0, pages)).toBe(1);
    expect(await recordRowOf(3, pages, false)).toBe(2);
    expect(await nextRow(3, pages, { direction: 1, withDetails: false })).toBe(4);
    expect(await nextRow(3, pages, { direction: -1, withDetails: false })).toBe(2);
    expect(await nextRow(9, pages, { direction: 1, withDetails: false })).toBeNull();
    const alone = recordOf(5, {
      kind: 'tool_ended',
      tool_call_id: 'x',
      tool_name: 'bash',
      result: '',
      is_error: false,
    });
    expect(rowKindOf(alone, pages, false)).toBe('result');
  });

  test('are found for a result whose call is on a previous page that was not loaded', async () => {
    const { pages } = pagesOf(1_000, 500, (seq) => recordOf(seq, callAt(seq + 1).payload));
    expect(await recordRowOf(PAGE_RECORDS, pages, false)).toBe(PAGE_RECORDS - 1);
  });

  test('omit bookkeeping unless it is requested', () => {
    const { pages } = pagesOf(10);
    const evaluation = recordOf(4, { kind: 'evaluation', point: 'pre_render' });
    expect([false, true].map((withDetails) => rowKindOf(evaluation, pages, withDetails))).toEqual(['none', 'detail']);
  });

  test('show an answer once if it is both appended and the end of a turn', async () => {
    const message = { role: 'assistant', content: 'Done.' } as const;
    const payloads: readonly TrajectoryPayload[] = [
      { kind: 'turn_started' },
      { kind: 'message_appended', message },
      { kind: 'turn_ended', assistant: message, tool_results: [] },
      { kind: 'turn_started' },
      { kind: 'turn_ended', assistant: message, tool_results: [] },
    ];
    const at = (seq: number): TrajectoryRecord => recordOf(seq, payloads[seq] ?? { kind: 'turn_started' });
    const { pages } = pagesOf(payloads.length, 500, at);
    await pages.ensure(0);
    expect(payloads.map((_, seq) => rowKindOf(at(seq), pages, false))).toEqual([
      'none',
      'message',
      'none',
      'none',
      'message',
    ]);
  });
});
