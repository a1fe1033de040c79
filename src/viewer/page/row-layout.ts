import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { guessHeight } from './guess-height.ts';
import { rowKindOf, type RowKind } from './record-row.ts';
import type { RecordPages } from './record-pages.ts';
import type { RepeatStretch } from './repeat-stretches.ts';
import { RowHeights } from './row-heights.ts';

/** Height of a row that was not seen yet, in CSS pixels: about the mean of those of runs of shell calls. */
const ESTIMATE_PX = 44;
/** How far beyond what is seen rows are kept. */
const OVERSCAN_PX = 500;

/** A row to be shown. */
export interface PlacedRow {
  readonly seq: number;
  readonly top: number;
  /** Undefined while it is fetched. */
  readonly record: TrajectoryRecord | undefined;
  readonly kind: RowKind;
}

/**
 * What the reader looks at, so that it stays where it is while rows above it get their heights.
 *
 * - `at`: the row `seq` stands `offset` pixels above the upper edge
 * - `show`: the row `seq` is to be in the middle
 * - `end`: the last row is to be seen
 */
export type Anchor =
  | { readonly by: 'at'; readonly seq: number; readonly offset: number }
  | { readonly by: 'show'; readonly seq: number }
  | { readonly by: 'end' };

/** Where the rows of a run lie, of which most are neither loaded nor measured. */
export class RowLayout {
  readonly heights: RowHeights;
  anchor: Anchor = { by: 'at', seq: 0, offset: 0 };

  constructor(count: number) {
    this.heights = new RowHeights(count, ESTIMATE_PX);
  }

  /**
   * Gives records that no row shows no height, and others theirs back. Cost: O(records).
   *
   * @param folded  stretches of which the row of the second call alone is shown
   */
  settle(
    records: Iterable<TrajectoryRecord>,
    pages: RecordPages,
    { folded, withDetails }: { readonly folded: readonly RepeatStretch[]; readonly withDetails: boolean },
  ): void {
    const waiting = [...folded];
    for (const record of records) {
      const { seq, payload } = record;
      while (waiting[0] !== undefined && seq > (waiting[0].calls.at(-1) ?? 0)) waiting.shift();
      const [first = Number.MAX_SAFE_INTEGER, second] = waiting[0]?.calls ?? [];
      const isFolded = seq > first && seq !== second;
      if (isFolded || rowKindOf(record, pages, withDetails) === 'none') this.heights.set(seq, 0);
      else {
        if (this.heights.isKnown(seq) && this.heights.height(seq) === 0) this.heights.forget(seq);
        if (!this.heights.isGuessed(seq)) this.heights.guess(seq, guessHeight(record, pages));
      }
      if (payload.kind !== 'gap') continue;
      // Far gaps are wider than a page; only as much as a reader can come across is taken out at once.
      const last = Math.min(payload.through_seq, seq + MAX_GAP);
      for (let lost = seq + 1; lost <= last; lost += 1) this.heights.set(lost, 0);
    }
  }

  /** Where the upper edge must be for the anchor to hold. */
  scrollTopFor(viewportPx: number): number {
    const { heights, anchor } = this;
    const most = Math.max(0, heights.total - viewportPx);
    if (anchor.by === 'end') return most;
    const top = heights.top(anchor.seq);
    if (anchor.by === 'at') return Math.max(0, Math.min(most, top + anchor.offset));
    const room = Math.max(0, viewportPx - heights.height(anchor.seq));
    return Math.max(0, Math.min(most, top - Math.min(room / 2, viewportPx / 3)));
  }

  /** Holds on to the row at the upper edge. */
  holdAt(scrollTop: number): void {
    const seq = this.heights.rowAt(scrollTop);
    this.anchor = { by: 'at', seq, offset: scrollTop - this.heights.top(seq) };
  }

  /** The rows around what is seen, in order. */
  rowsAt(
    scrollTop: number,
    { viewportPx, pages, withDetails }: { viewportPx: number; pages: RecordPages; withDetails: boolean },
  ): readonly PlacedRow[] {
    const { heights } = this;
    const rows: PlacedRow[] = [];
    const last = scrollTop + viewportPx + OVERSCAN_PX;
    let seq = heights.rowAt(scrollTop - OVERSCAN_PX);
    let top = heights.top(seq);
    for (; seq < heights.count && top < last; seq += 1) {
      const height = heights.height(seq);
      if (height === 0) continue;
      const record = pages.at(seq);
      const kind = record === undefined ? 'none' : rowKindOf(record, pages, withDetails);
      rows.push({ seq, top, record, kind });
      top += height;
    }
    return rows;
  }
}

const MAX_GAP = 100_000;
