import type { RunRow } from '../server/api-shapes.ts';

const MIN_CALLS = 3;
const MAX_BACK = 200;

export class Rows {
  readonly list: readonly RunRow[];

  constructor(list: readonly RunRow[]) {
    this.list = list;
  }

  replaceFrom(index: number, rows: readonly RunRow[]): Rows {
    return new Rows([...this.list.slice(0, index), ...rows]);
  }

  /** The index from which rows may still change: the first of the last 2,000 that is a call without a result. */
  get firstOpen(): number {
    const from = Math.max(0, this.list.length - 2_000);
    const at = this.list.slice(from).findIndex(({ end, kind }) => kind === 'call' && end === undefined);
    return at < 0 ? this.list.length : from + at;
  }

  get lastSeq(): number {
    return Math.max(-1, ...this.list.slice(-MAX_BACK).map(({ end, seq }) => end ?? seq));
  }

  /** Returns the row that shows the record at `seq`: that of the call for a result, else its own or the next. */
  rowOf(seq: number): RunRow | undefined {
    const at = this.#indexAfter(seq);
    const own = this.list[at - 1];
    if (own?.seq === seq) return own;
    const call = this.list.slice(Math.max(0, at - MAX_BACK), at).findLast(({ end }) => end === seq);
    return call ?? this.list[at] ?? own;
  }

  /** Returns the number of the last call that started at or before the record at `seq`; 0 without one. */
  callAt(seq: number): number {
    for (let index = this.#indexAfter(seq) - 1; index >= 0; index -= 1) {
      const { call } = this.list[index] ?? {};
      if (call !== undefined) return call;
    }
    return 0;
  }

  seqOf(call: number): number | undefined {
    return this.list.find((row) => row.call === call)?.seq;
  }

  find(seq: number, direction: 1 | -1, isWanted: (row: RunRow) => boolean): RunRow | undefined {
    return direction === 1
      ? this.list.find((row) => row.seq > seq && isWanted(row))
      : this.list.findLast((row) => row.seq < seq && isWanted(row));
  }

  /** Returns the index of the first row after the record at `seq`. Cost: O(log rows). */
  #indexAfter(seq: number): number {
    let [low, high] = [0, this.list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.list[middle]?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export interface Fold {
  /** Calls equal to the one before them, calls that failed in the same way as the one before them, or calls that read. */
  readonly why: 'equal' | 'failure' | 'reads';
  readonly rows: readonly RunRow[];
}

export type Item = { readonly row: RunRow } | { readonly fold: Fold; readonly isOpen: boolean };

/** Returns the rows, with the series of equal calls, equal failures and reads folded, except the calls in `kept`. */
export function foldRows(rows: readonly RunRow[], kept: ReadonlySet<number>): readonly (RunRow | Fold)[] {
  const shown: (RunRow | Fold)[] = [];
  for (let at = 0; at < rows.length;) {
    const first = rows[at];
    if (first === undefined) break;
    const [series, ...others] = [
      seriesFrom(rows, at, 'equal', ({ call, same }) => (same ?? call) === (first.same ?? first.call)),
      seriesFrom(rows, at, 'failure', ({ failure }) => failure !== undefined && failure === first.failure),
      seriesFrom(rows, at, 'reads', (row) => row.tool === 'read' && row.failed !== true && !kept.has(row.call ?? 0)),
    ].sort((a, b) => b.calls - a.calls);
    if (series === undefined || others.length === 0 || series.calls < MIN_CALLS) {
      shown.push(first);
      at += 1;
      continue;
    }
    const from = series.why === 'reads' ? at : at + 1;
    if (from > at) shown.push(first);
    shown.push({ why: series.why, rows: rows.slice(from, series.end) });
    at = series.end;
  }
  return shown;
}

export function itemsOf(shown: readonly (RunRow | Fold)[], isOpen: (fold: Fold) => boolean): readonly Item[] {
  return shown.flatMap((part): readonly Item[] => {
    if (!('why' in part)) return [{ row: part }];
    const open = isOpen(part);
    return [{ fold: part, isOpen: open }, ...(open ? part.rows.map((row) => ({ row })) : [])];
  });
}

/** Returns the calls from `at` on that belong together. Words of the agent may stand between them, except between reads. */
function seriesFrom(
  rows: readonly RunRow[],
  at: number,
  why: Fold['why'],
  belongs: (row: RunRow) => boolean,
): { readonly why: Fold['why']; readonly calls: number; readonly end: number } {
  let [calls, end] = [0, at];
  for (let index = at; index < rows.length; index += 1) {
    const row = rows[index];
    if (row?.kind === 'call' && row.end !== undefined && belongs(row)) [calls, end] = [calls + 1, index + 1];
    else if (
      index === at ||
      row?.kind === 'call' ||
      (row?.kind !== 'thinking' && (row?.kind !== 'answer' || why === 'reads'))
    )
      break;
  }
  return { why, calls, end };
}
