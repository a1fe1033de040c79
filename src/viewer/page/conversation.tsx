import {
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useSyncExternalStore,
  type ReactElement,
} from 'react';

import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { AdviceMark, PatternSpan } from '../server/api-shapes.ts';
import { equalCallBefore, nearCallBefore } from './equal-call.ts';
import { FoldedTextContext } from './folded-text.tsx';
import { useMarkedWords } from './mark-words.ts';
import type { RecordPages } from './record-pages.ts';
import { RecordView } from './record-view.tsx';
import type { Calls } from './use-calls.ts';
import { RowLayout, type PlacedRow } from './row-layout.ts';
import { useRepeats, type RepeatStretch } from './repeat-stretches.ts';
import { safeLine } from './safe-text.ts';
import { headlineOf } from './text-of.ts';
import type { VisibleRange } from './visible-range.ts';

/** Maximum number of measuring passes per frame. Further passes wait for the next frame. */
const MAX_ROUNDS = 5;

/** Methods that other components can call on the conversation. */
export interface ConversationHandle {
  /** Scrolls a row to the middle. If the whole row is visible, it scrolls only if `always` is set. */
  readonly show: (seq: number, always?: boolean) => void;
  readonly showEnd: () => void;
}

/** Renders the records of a run as a conversation: messages, calls with their results, patterns and advice. */
export function ConversationView(props: {
  readonly pages: RecordPages;
  /** Number of rows, which is the highest `seq` plus one. */
  readonly count: number;
  readonly withDetails: boolean;
  readonly selected: number | undefined;
  readonly patterns: readonly PatternSpan[];
  readonly advice: readonly AdviceMark[];
  readonly evidence: ReadonlySet<number>;
  readonly calls: Calls;
  /** Labels of calls, keyed by `seq`. */
  readonly labels: ReadonlyMap<number, string>;
  readonly range: VisibleRange;
  readonly handle: { current: ConversationHandle | undefined };
  readonly onSelect: (seq: number) => void;
  /** Called when the user scrolls away from the end, or back to it. */
  readonly onAtEnd: (isAtEnd: boolean) => void;
}): ReactElement {
  const { pages, count, withDetails, selected, evidence, calls, range, handle, onSelect, onAtEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((round: number) => round + 1, 0);
  const layout = useMemo(() => new RowLayout(count), [pages]);
  /** The last scroll position that this component set, and the maximum position at that time. */
  const applied = useRef({ top: 0, most: 0 });
  const rounds = useRef(0);
  const version = useSyncExternalStore(pages.subscribe, pages.version);
  const settledFor = useRef('');
  const { words } = useContext(FoldedTextContext);
  useMarkedWords(scroller, words);
  const repeats = useRepeats(pages, version, { calls, selected, isShownWhole: withDetails || words.length > 0 });
  const settleKey = `${version} ${withDetails} ${count} ${repeats.key}`;
  if (settledFor.current !== settleKey) {
    layout.heights.resize(count);
    layout.collapseHiddenRows(pages.records(), pages, { folded: repeats.folded, withDetails });
    settledFor.current = settleKey;
  }
  const stuck = useMemo(() => props.patterns.filter((pattern) => pattern.stuck), [props.patterns]);

  const adviceAt = useMemo(() => new Map(props.advice.map((mark) => [mark.seq, mark])), [props.advice]);

  const viewportPx = scroller.current?.clientHeight ?? 600;
  const scrollTop = layout.scrollTopFor(viewportPx);
  const rows = layout.rowsAt(scrollTop, { viewportPx, pages, withDetails });

  /** Anchors the row that the user scrolled to. @returns true if the user scrolled */
  const takeMove = useCallback(
    (current: HTMLElement): boolean => {
      const { top, most } = applied.current;
      const mostNow = current.scrollHeight - current.clientHeight;
      if (Math.abs(current.scrollTop - top) < 1) return false;
      // The content became shorter and moved the position. The user did not scroll.
      if (top > mostNow && current.scrollTop >= mostNow - 1) return false;
      const isAtEnd = current.scrollTop >= Math.min(most, mostNow) - 4;
      // At the end, the view stays there, even if the heights of the rows above change.
      if (isAtEnd) layout.anchor = { by: 'end' };
      else layout.holdAt(current.scrollTop);
      applied.current = { top: current.scrollTop, most: mostNow };
      onAtEnd(isAtEnd);
      return true;
    },
    [layout, onAtEnd],
  );

  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return;
    let isChanged = false;
    for (const item of current.querySelectorAll<HTMLElement>('.talk-item[data-ready]')) {
      isChanged = layout.heights.setHeight(Number(item.dataset['row']), item.offsetHeight) || isChanged;
    }
    rounds.current += 1;
    if (isChanged && rounds.current < MAX_ROUNDS) {
      redraw();
      return;
    }
    rounds.current = 0;
    // The scroll event is still pending. The user's position takes precedence over the previous anchor.
    if (takeMove(current)) redraw();
    const wanted = layout.scrollTopFor(current.clientHeight);
    if (Math.abs(wanted - current.scrollTop) >= 1) current.scrollTop = wanted;
    applied.current = { top: current.scrollTop, most: current.scrollHeight - current.clientHeight };
    tellRange(
      rows,
      { from: current.scrollTop, to: current.scrollTop + current.clientHeight },
      { range, layout, pages, calls },
    );
  });

  useEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const onScroll = (): void => {
      if (takeMove(current)) redraw();
    };
    current.addEventListener('scroll', onScroll, { passive: true });
    const sizes = new ResizeObserver(() => redraw());
    sizes.observe(current);
    const content = current.firstElementChild;
    if (content !== null) sizes.observe(content);
    return () => {
      current.removeEventListener('scroll', onScroll);
      sizes.disconnect();
    };
  }, [takeMove]);

  const rowSizes = useRowSizes(layout, redraw);

  handle.current = useMemo(
    () => ({
      show: (seq, always = false) => {
        const { current } = scroller;
        if (current === null) return;
        const top = layout.heights.topOf(seq);
        const bottom = top + layout.heights.heightOf(seq);
        const isSeen =
          layout.heights.isKnown(seq) && top >= current.scrollTop && bottom <= current.scrollTop + current.clientHeight;
        current.scrollIntoView({ block: 'end' });
        if (isSeen && !always) return;
        layout.anchor = { by: 'show', seq };
        applied.current = { ...applied.current, top: current.scrollTop };
        redraw();
      },
      showEnd: () => {
        layout.anchor = { by: 'end' };
        scroller.current?.scrollIntoView({ block: 'end' });
        if (scroller.current !== null) applied.current = { ...applied.current, top: scroller.current.scrollTop };
        redraw();
      },
    }),
    [layout],
  );

  const marksOf = useCallback(
    (seq: number): string => {
      const isStuck = stuck.some(({ fromSeq, toSeq }) => seq >= fromSeq && seq < (toSeq ?? Number.POSITIVE_INFINITY));
      return [
        seq === selected ? 'is-selected' : '',
        isStuck ? 'is-stuck' : '',
        evidence.has(seq) ? 'is-evidence' : '',
      ].join(' ');
    },
    [selected, stuck, evidence],
  );

  return (
    <div ref={scroller} className="talk-scroll" tabIndex={0} role="region" aria-label="Conversation">
      <div
        className="talk-rows"
        style={{ height: layout.heights.total }}
        role="feed"
        aria-busy={rows.some((row) => row.record === undefined)}
      >
        {rows.map(({ seq, top, record, kind }) => (
          <div
            key={seq}
            ref={rowSizes}
            className="talk-item"
            data-row={seq}
            data-ready={record === undefined ? undefined : ''}
            style={{ transform: `translateY(${top}px)` }}
          >
            {record === undefined ? (
              <div className="row is-waiting" />
            ) : (
              <RecordView
                record={record}
                end={endOf(record, pages)}
                kind={kind}
                call={calls.at(seq)}
                equal={equalOf(record, pages, calls)}
                stretch={repeats.at.get(seq)}
                headlines={headlinesOf(repeats.at.get(seq), pages)}
                isFolded={repeats.folded.some(({ calls: [, second] }) => second === seq)}
                onFold={repeats.toggle}
                label={props.labels.get(seq)}
                advice={adviceAt.get(seq)}
                marks={marksOf(seq)}
                onSelect={onSelect}
              />
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

function endOf(record: Exclude<PlacedRow['record'], undefined>, pages: RecordPages): PlacedRow['record'] {
  if (record.payload.kind !== 'tool_started') return undefined;
  const end = pages.endOf(record.payload.tool_call_id, record.seq);
  return end === undefined ? undefined : pages.at(end);
}

/**
 * Returns the earlier call that this one repeats or resembles, as text. The text does not change between renders. It is undefined if
 * there is no such call. For a similar call, it includes the differing range of the headline: `~ call 4 12 15`.
 */
function equalOf(record: TrajectoryRecord, pages: RecordPages, calls: Calls): string | undefined {
  const equal = equalCallBefore(record, pages);
  const number = equal === undefined ? undefined : calls.at(equal.seq)?.call;
  if (number !== undefined) return `${equal?.sameResult === true ? '=' : '≈'} call ${number}`;
  const near = nearCallBefore(record, pages);
  const like = near === undefined ? undefined : calls.at(near.seq)?.call;
  return near === undefined || like === undefined ? undefined : `~ call ${like} ${near.from} ${near.to} ${near.before}`;
}

/** Returns the headlines of calls that failed alike, one per line. The text does not change between renders. */
function headlinesOf(stretch: RepeatStretch | undefined, pages: RecordPages): string | undefined {
  if (stretch?.failure === undefined) return undefined;
  const headlines = stretch.calls.map((seq) => {
    const payload = pages.at(seq)?.payload;
    return payload?.kind === 'tool_started' ? safeLine(headlineOf(payload.args).headline) : '';
  });
  return headlines.join('\n');
}

/** Requests the records around the view, and publishes the visible range. */
function tellRange(
  rows: readonly PlacedRow[],
  view: { readonly from: number; readonly to: number },
  { range, layout, pages, calls }: { range: VisibleRange; layout: RowLayout; pages: RecordPages; calls: Calls },
): void {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) pages.want(0, 0);
  else {
    pages.want(first.seq - 20, last.seq + 60);
    calls.want(first.seq, last.seq + 1);
  }
  const from = layout.heights.rowAt(view.from);
  range.set({ from, to: Math.max(from + 1, layout.heights.rowAt(view.to) + 1) });
}

/** Renders again when the height of a visible row changes, for example because a text is unfolded or an image loads. */
function useRowSizes(layout: RowLayout, redraw: () => void): (item: HTMLElement | null) => (() => void) | undefined {
  const observer = useMemo(
    () =>
      new ResizeObserver((entries) => {
        const isOther = entries.some(({ target }) => {
          if (!(target instanceof HTMLElement) || target.dataset['ready'] === undefined) return false;
          return Math.abs(layout.heights.heightOf(Number(target.dataset['row'])) - target.offsetHeight) >= 1;
        });
        if (isOther) redraw();
      }),
    [layout, redraw],
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  return useCallback(
    (item) => {
      if (item === null) return undefined;
      observer.observe(item);
      return () => observer.unobserve(item);
    },
    [observer],
  );
}
