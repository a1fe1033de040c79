import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { guessHeight } from './guess-height.ts';
import { rowKindOf, type RowKind } from './record-row.ts';
import type { RecordPages } from './record-pages.ts';
import type { RepeatStretch } from './repeat-stretches.ts';
import { RowHeights } from './row-heights.ts';

/** Estimated row height in CSS pixels. It is about the mean height in runs of shell calls. */
const ESTIMATE_PX = 44;
/** Distance beyond the view within which rows are rendered. */
const OVERSCAN_PX = 500;

/** A row and its position. */
export interface PlacedRow {
  readonly seq: number;
  readonly top: number;
  /** Undefined until the record is loaded. */
  readonly record: TrajectoryRecord | undefined;
  readonly kind: RowKind;
}

/**
 * Keeps a part of the view in place while the heights of rows above are measured.
 *
 * - `at`: the row `seq` stays `offset` pixels above the upper edge
 * - `show`: the row `seq` stays in the middle
 * - `end`: the last row stays visible
 */
export type Anchor =
  | { readonly by: 'at'; readonly seq: number; readonly offset: number }
  | { readonly by: 'show'; readonly seq: number }
  | { readonly by: 'end' };

/** The positions of a run's rows. Most rows are neither loaded nor measured. */
export class RowLayout {
  readonly heights: RowHeights;
  anchor: Anchor = { by: 'at', seq: 0, offset: 0 };

  constructor(count: number) {
    this.heights = new RowHeights(count, ESTIMATE_PX);
  }

  /**
   * Collapses the records that have no row, and restores the others. Cost: O(records).
   *
   * @param folded  series of equal calls; after the first call, only the row of the second call is shown
   */
  collapseHiddenRows(
    records: Iterable<TrajectoryRecord>,
    pages: RecordPages,
    { folded, withDetails }: { readonly folded: readonly RepeatStretch[]; readonly withDetails: boolean },
  ): void {
    const remainingStretches = [...folded];
    for (const record of records) {
      const { seq, payload } = record;
      while (remainingStretches[0] !== undefined && seq > (remainingStretches[0].calls.at(-1) ?? 0))
        remainingStretches.shift();
      const [firstCall = Number.MAX_SAFE_INTEGER, secondCall] = remainingStretches[0]?.calls ?? [];
      const isFolded = seq > firstCall && seq !== secondCall;
      if (isFolded || rowKindOf(record, pages, withDetails) === 'none') this.heights.setHeight(seq, 0);
      else {
        if (this.heights.isKnown(seq) && this.heights.heightOf(seq) === 0) this.heights.resetHeight(seq);
        if (!this.heights.isGuessed(seq)) this.heights.setGuess(seq, guessHeight(record, pages));
      }
      if (payload.kind !== 'gap') continue;
      // A gap may be longer than a page. Only the part that a user may scroll to is collapsed.
      const lastLost = Math.min(payload.through_seq, seq + MAX_GAP);
      for (let lost = seq + 1; lost <= lastLost; lost += 1) this.heights.setHeight(lost, 0);
    }
  }

  /** Returns the scroll position that belongs to the anchor. */
  scrollTopFor(viewportPx: number): number {
    const { heights, anchor } = this;
    const maxScrollTop = Math.max(0, heights.total - viewportPx);
    if (anchor.by === 'end') return maxScrollTop;
    const top = heights.topOf(anchor.seq);
    if (anchor.by === 'at') return Math.max(0, Math.min(maxScrollTop, top + anchor.offset));
    const freePx = Math.max(0, viewportPx - heights.heightOf(anchor.seq));
    return Math.max(0, Math.min(maxScrollTop, top - Math.min(freePx / 2, viewportPx / 3)));
  }

  /** Anchors the row at the upper edge. */
  holdAt(scrollTop: number): void {
    const seq = this.heights.rowAt(scrollTop);
    this.anchor = { by: 'at', seq, offset: scrollTop - this.heights.topOf(seq) };
  }

  /** Returns the rows in and around the view, in order. */
  rowsAt(
    scrollTop: number,
    { viewportPx, pages, withDetails }: { viewportPx: number; pages: RecordPages; withDetails: boolean },
  ): readonly PlacedRow[] {
    const { heights } = this;
    const rows: PlacedRow[] = [];
    const bottom = scrollTop + viewportPx + OVERSCAN_PX;
    let seq = heights.rowAt(scrollTop - OVERSCAN_PX);
    let top = heights.topOf(seq);
    for (; seq < heights.count && top < bottom; seq += 1) {
      const height = heights.heightOf(seq);
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
