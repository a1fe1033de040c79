import { describe, expect, test } from 'vitest';

import type { RecordsAnswer } from '../server/api-shapes.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { MAX_PAGES, PAGE_RECORDS, RecordPages } from './record-pages.ts';

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
function pagesOf(count: number, most = 500) {
  const queries: number[] = [];
  const load = async ({ from, limit }: { from: number; limit: number }): Promise<RecordsAnswer> => {
    queries.push(from);
    const to = Math.min(count, from + Math.min(limit, most));
    const records = Array.from({ length: Math.max(0, to - from) }, (_, index) => callAt(from + index));
    return { records, nextSeq: to, lastSeq: count - 1 };
  };
  const faults: unknown[] = [];
  return { pages: new RecordPages(count - 1, load, (error) => faults.push(error)), queries, faults };
}

describe('pages of records', () => {
  test('are fetched once, also in parts, and dropped when others are used', async () => {
    const { pages, queries } = pagesOf(100_000, 90);
    await Promise.all([pages.ensure(10), pages.ensure(20)]);
    expect(queries).toEqual([0, 90, 180, 270, 360, 450]);
    expect(pages.at(499)?.seq).toBe(499);
    expect(pages.at(500)).toBeUndefined();
    for (let page = 1; page <= MAX_PAGES; page += 1) await pages.ensure(page * PAGE_RECORDS);
    expect(pages.size).toBe(MAX_PAGES);
    expect(pages.at(0)).toBeUndefined();
    expect(pages.at(PAGE_RECORDS)?.seq).toBe(PAGE_RECORDS);
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

  test('are fetched ahead of the way that is scrolled, what is seen first, and not those that were passed meanwhile', async () => {
    const answers: (() => void)[] = [];
    const asked: number[] = [];
    const load = async ({ from, limit }: { from: number; limit: number }): Promise<RecordsAnswer> => {
      asked.push(from / PAGE_RECORDS);
      await new Promise<void>((resolve) => answers.push(resolve));
      const records = Array.from({ length: limit }, (_, index) => callAt(from + index));
      return { records, nextSeq: from + limit, lastSeq: 99 * PAGE_RECORDS };
    };
    const pages = new RecordPages(99 * PAGE_RECORDS, load, () => {});
    const see = (page: number): void => pages.want([page * PAGE_RECORDS, page * PAGE_RECORDS + 100]);
    const answerAll = async (): Promise<void> => {
      for (let round = 0; round < 50; round += 1) {
        for (const answer of answers.splice(0)) answer();
        await Promise.resolve();
      }
    };
    see(10);
    expect(asked).toEqual([10, 11, 12]);
    for (const page of [13, 16, 19]) see(page);
    expect(asked).toHaveLength(3);
    await answerAll();
    expect(asked[3]).toBe(19);
    // Three pages a step: the next steps are fetched too.
    expect(asked.slice(3).toSorted((a, b) => a - b)).toEqual([18, 19, 20, 21, 22, 23, 24, 25]);
    see(19);
    see(18);
    await answerAll();
    expect(asked.slice(-4)).toEqual([17, 16, 15, 14]);
    // A jump is no way that is scrolled.
    see(60);
    await answerAll();
    expect(asked.slice(-4).toSorted((a, b) => a - b)).toEqual([59, 60, 61, 62]);
  });

  test('end when the server has fewer records than promised', async () => {
    const load = async (): Promise<RecordsAnswer> => ({ records: [], nextSeq: 0, lastSeq: 10 });
    const pages = new RecordPages(10, load, () => {});
    await pages.ensure(0);
    expect(pages.at(0)).toBeUndefined();
  });
});
