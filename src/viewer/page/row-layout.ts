import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { guessHeight } from './guess-height.ts';
import { rowKindOf, type RowKind } from './record-row.ts';
import type { RecordPages } from './record-pages.ts';
import type { RepeatStretch } from './repeat-stretches.ts';
import { RowHeights } from './row-heights.ts';

/** Estimated row height in CSS pixels: about the mean of runs of shell calls. */
const ESTIMATE_PX = 44;
/** Rows are rendered so far beyond the view. */
const OVERSCAN_PX = 500;

/** A row to be shown. */
export interface PlacedRow {
  readonly seq: number;
  readonly top: number;
  /** Undefined until loaded. */
  readonly record: TrajectoryRecord | undefined;
  readonly kind: RowKind;
}

/**
 * Keeps the view in place while rows above it get their heights.
 *
 * - `at`: the row `seq` is `offset` pixels above the upper edge
 * - `show`: the row `seq` is in the middle
 * - `end`: the last row is visible
 */
export type Anchor =
  | { readonly by: 'at'; readonly seq: number; readonly offset: number }
  | { readonly by: 'show'; readonly seq: number }
  | { readonly by: 'end' };

/** The positions of a run's rows, most of which are neither loaded nor measured. */
export class RowLayout {
  readonly heights: RowHeights;
  anchor: Anchor = { by: 'at', seq: 0, offset: 0 };

  constructor(count: number) {
    this.heights = new RowHeights(count, ESTIMATE_PX);
  }

  /**
   * Collapses records without a row, and restores others. Cost: O(records).
   *
   * @param folded  stretches that show only the row of the second call
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
      // A gap may exceed a page; only the part that a user may scroll to is collapsed.
      const last = Math.min(payload.through_seq, seq + MAX_GAP);
      for (let lost = seq + 1; lost <= last; lost += 1) this.heights.set(lost, 0);
    }
  }

  /** The scroll position of the anchor. */
  scrollTopFor(viewportPx: number): number {
    const { heights, anchor } = this;
    const most = Math.max(0, heights.total - viewportPx);
    if (anchor.by === 'end') return most;
    const top = heights.top(anchor.seq);
    if (anchor.by === 'at') return Math.max(0, Math.min(most, top + anchor.offset));
    const room = Math.max(0, viewportPx - heights.height(anchor.seq));
    return Math.max(0, Math.min(most, top - Math.min(room / 2, viewportPx / 3)));
  }

  /** Anchors the row at the upper edge. */
  holdAt(scrollTop: number): void {
    const seq = this.heights.rowAt(scrollTop);
    this.anchor = { by: 'at', seq, offset: scrollTop - this.heights.top(seq) };
  }

  /** The rows in and around the view, in order. */
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
