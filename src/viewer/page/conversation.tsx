import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type ReactElement,
  type Ref,
  useCallback,
  useContext,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import type { Overview, RunRow } from '../server/api-shapes.ts';
import { FoldedTextContext } from './folded-text.tsx';
import type { RecordPages } from './record-pages.ts';
import { Cost, RecordView } from './record-view.tsx';
import { type Fold, foldRows, type Item, itemsOf, type Rows } from './rows.ts';
import { safeLine } from './safe-text.ts';

/** Distance of a shown row from the upper edge, below the strip. */
const LEAD_PX = 120;
/** Heights before measurement. */
const ESTIMATES_PX: Readonly<Partial<Record<RunRow['kind'], number>>> = { answer: 90, prompt: 90, advice: 110 };
const LINE_PX = 30.8;
const CALL_PX = 32;
const OPEN_PX = 150;
const END_PX = 24;
/** Events by which a user moves the page, and how long a move lasts. */
const MOVES = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;
const MOVE_MS = 1_000;
const MAX_TARGETS = 8;

export interface ConversationHandle {
  /** Scrolls to a row that is not wholly visible. */
  readonly show: (seq: number) => void;
  readonly showEnd: () => void;
  readonly firstSeq: () => number;
  /** Returns the item next to the chosen row, or the first visible one. */
  readonly nextSeq: (seq: number | undefined, direction: 1 | -1) => number | undefined;
}

export function ConversationView(props: {
  readonly rows: Rows;
  readonly pages: RecordPages;
  readonly overview: Pick<Overview, 'advice' | 'patterns'>;
  readonly onSelect: (seq: number) => void;
  readonly selected?: number | undefined;
  readonly labels?: ReadonlyMap<number, string>;
  readonly handle?: Ref<ConversationHandle>;
  readonly isFollowing?: boolean;
  readonly onLeftEnd?: () => void;
}): ReactElement {
  const { isFollowing = false, onSelect, overview, pages, rows, selected } = props;
  const list = useRef<HTMLDivElement>(null);
  const { words } = useContext(FoldedTextContext);
  useMarkedWords(list, words);
  useSyncExternalStore(pages.subscribe, pages.version);
  const [opened, setOpened] = useState<ReadonlyMap<number, boolean>>(new Map());
  const toggle = useCallback((seq: number, isOpen: boolean) => {
    setOpened((before) => new Map(before).set(seq, isOpen));
  }, []);
  const stuck = useMemo(() => overview.patterns.filter((pattern) => pattern.stuck), [overview]);
  const kept = useMemo(() => new Set(stuck.flatMap((span) => span.evidence.map(({ call }) => call))), [stuck]);
  const shown = useMemo(() => foldRows(rows.list, kept), [rows, kept]);
  const items = useMemo(
    () =>
      itemsOf(
        shown,
        ({ rows: folded }) =>
          opened.get(foldKey(folded)) ??
          (selected !== undefined && folded.some(({ end, seq }) => seq === selected || end === selected)),
      ),
    [shown, opened, selected],
  );
  const isOpen = useCallback(
    (row: RunRow) => opened.get(row.seq) ?? isOpenAtFirst(row, kept, selected),
    [opened, kept, selected],
  );
  const adviceAt = useMemo(() => new Map(overview.advice.map((mark) => [mark.seq, mark])), [overview]);

  const top = useTopOf(list);
  // After each measurement the list places all rows below again, so it asks for them often.
  const keys = useMemo(() => items.map(keyOf), [items]);
  const heights = useMemo(() => items.map((item) => estimateOf(item, isOpen)), [items, isOpen]);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: useCallback((at: number) => heights[at] ?? LINE_PX, [heights]),
    getItemKey: useCallback((at: number) => keys[at] ?? 0, [keys]),
    overscan: 8,
    scrollMargin: top,
    scrollPaddingStart: LEAD_PX,
    useFlushSync: false,
  });
  // A row above the view that grows moves the view, and then all rows are placed again. While the person scrolls down, this is not needed.
  const hasJumped = useRef(false);
  virtual.shouldAdjustScrollPositionOnItemSizeChange = ({ end, start }, _delta, { scrollDirection, scrollOffset }) =>
    scrollDirection === 'backward'
      ? start < (scrollOffset ?? 0)
      : (scrollDirection === null || hasJumped.current) && end <= (scrollOffset ?? 0);
  useEffect(() => {
    const stop = new AbortController();
    const onMoved = (): void => {
      hasJumped.current = false;
    };
    for (const event of ['wheel', 'touchmove', 'pointerdown', 'keydown'])
      addEventListener(event, onMoved, { capture: true, passive: true, signal: stop.signal });
    return () => stop.abort();
  }, []);
  const visible = virtual.getVirtualItems();
  const seen = visible.flatMap(({ index }) => seqsOf(items[index]));
  const seenKey = seen.join(' ');
  // The key has the sequence numbers.
  useEffect(() => pages.want(seen), [pages, seenKey]);

  const latest = useRef({ items, virtual });
  latest.current = { items, virtual };
  useImperativeHandle(
    props.handle,
    () => {
      const indexOf = (seq: number): number => latest.current.items.findIndex((item) => isAt(item, seq));
      const firstVisible = (): number => {
        const { virtual: rowList } = latest.current;
        const from = (rowList.scrollOffset ?? 0) + LEAD_PX / 2;
        return rowList.getVirtualItems().find(({ end }) => end > from)?.index ?? 0;
      };
      return {
        show: (seq) => {
          const index = indexOf(seq);
          const item = latest.current.virtual.getVirtualItems().find((one) => one.index === index);
          const from = (latest.current.virtual.scrollOffset ?? 0) + LEAD_PX / 2;
          const isSeen = item !== undefined && item.start >= from && item.end <= from + innerHeight - LEAD_PX / 2;
          if (index < 0 || isSeen) return;
          hasJumped.current = true;
          latest.current.virtual.scrollToIndex(index, { align: 'start' });
        },
        showEnd: () => scrollTo(0, document.documentElement.scrollHeight),
        firstSeq: () => seqOf(latest.current.items[firstVisible()]),
        nextSeq: (seq, direction) => {
          const { items: all } = latest.current;
          const index = seq === undefined ? firstVisible() : indexOf(seq) + direction;
          const next = all[index];
          // An open fold has the number of its first row.
          const item = next !== undefined && seqOf(next) === seq ? all[index + direction] : next;
          return item === undefined ? undefined : seqOf(item);
        },
      };
    },
    [],
  );
  useFollowedEnd(list, isFollowing, props.onLeftEnd);

  return (
    <div
      ref={list}
      className="talk-rows"
      style={{ height: virtual.getTotalSize() }}
      role="feed"
      aria-label="Conversation"
      aria-busy={visible.some(({ index }) => pages.at(seqOf(items[index])) === undefined)}
    >
      {visible.map(({ index, key, size, start }) => {
        const item = items[index];
        if (item === undefined) return null;
        const transform = `translateY(${start - top}px)`;
        const record = 'fold' in item ? undefined : pages.at(item.row.seq);
        if (!('fold' in item) && record === undefined) {
          // It is as high as the row to come, so that nothing moves.
          return (
            <div key={key} className="talk-item row is-waiting" style={{ height: size, transform }}>
              <div className="when">{item.row.call === undefined ? null : <b>{countText(item.row.call)}</b>}</div>
              <span className="dim">{waitingText(item.row)}</span>
            </div>
          );
        }
        return (
          <div key={key} ref={virtual.measureElement} className="talk-item" data-index={index} style={{ transform }}>
            {'fold' in item ? (
              <FoldLine fold={item.fold} isOpen={item.isOpen} onToggle={toggle} />
            ) : record === undefined ? null : (
              <RecordView
                row={item.row}
                record={record}
                end={item.row.end === undefined ? undefined : pages.at(item.row.end)}
                isOpen={isOpen(item.row)}
                marks={[
                  item.row.seq === selected ? 'is-selected' : '',
                  stuck.some(({ fromSeq, toSeq }) => isBetween(item.row.seq, fromSeq, toSeq)) ? 'is-stuck' : '',
                ].join(' ')}
                label={props.labels?.get(item.row.seq)}
                advice={adviceAt.get(item.row.seq)}
                onSelect={onSelect}
                onToggle={toggle}
              />
            )}
          </div>
        );
      })}
    </div>
  );
}

/** What is known of a row before its record is fetched. */
function waitingText({ failure, kind, target, tool }: RunRow): string {
  return safeLine([tool ?? kind, target, failure].filter((part) => part !== undefined).join(' · '));
}

/** A call is one line, unless it failed, changed something, or is evidence of a pattern. */
function isOpenAtFirst(
  { call, failed, kind, seq, tool }: RunRow,
  kept: ReadonlySet<number>,
  selected?: number,
): boolean {
  return kind !== 'call' || failed === true || tool === 'write' || kept.has(call ?? 0) || seq === selected;
}

function isBetween(seq: number, from: number, to: number | null): boolean {
  return seq >= from && seq < (to ?? Number.POSITIVE_INFINITY);
}

const FOLD_WORDS = {
  equal: ['more call', 'the same with the same result'],
  failure: ['more call', 'the same failure'],
  reads: ['read', ''],
} as const;

function FoldLine(props: {
  readonly fold: Fold;
  readonly isOpen: boolean;
  readonly onToggle: (seq: number, isOpen: boolean) => void;
}): ReactElement {
  const { fold, isOpen } = props;
  const calls = fold.rows.filter(({ kind }) => kind === 'call');
  const answers = fold.rows.filter(({ kind }) => kind === 'answer').length;
  const [first, last] = [calls[0]?.call ?? 0, calls.at(-1)?.call ?? 0];
  const [noun, words] = FOLD_WORDS[fold.why];
  const costUsd = fold.rows.reduce((sum, row) => sum + (row.costUsd ?? 0), 0);
  return (
    <article className="row">
      <div className="when">
        <b>
          {countText(first)}–{countText(last)}
        </b>
      </div>
      <button
        type="button"
        className={`fold-line ${fold.why}`}
        aria-expanded={isOpen}
        onClick={() => props.onToggle(foldKey(fold.rows), !isOpen)}
      >
        <span>
          {countOf(calls.length, noun)}
          {words === '' ? '' : `, ${words}`}
          {fold.why === 'reads' ? `: ${targetsOf(calls)}` : ''}
          {fold.why === 'failure' ? ': ' : ''}
          {fold.why === 'failure' ? <code>{safeLine(calls[0]?.failure ?? '')}</code> : null}
          {answers === 0 ? '' : ` · ${countOf(answers, 'message')} between them`}
        </span>
      </button>
      <Cost usd={costUsd} />
    </article>
  );
}

function targetsOf(calls: readonly RunRow[]): string {
  const counts = new Map<string, number>();
  for (const { target = 'other' } of calls) counts.set(target, (counts.get(target) ?? 0) + 1);
  const names = [...counts].map(([name, count]) => (count === 1 ? safeLine(name) : `${safeLine(name)} ×${count}`));
  const more = names.length > MAX_TARGETS ? `, ${countText(names.length - MAX_TARGETS)} more` : '';
  return names.slice(0, MAX_TARGETS).join(', ') + more;
}

/** Folds and rows have different keys, because an open fold stands before its first row. */
function foldKey(rows: readonly RunRow[]): number {
  return -1 - (rows[0]?.seq ?? 0);
}

function keyOf(item: Item | undefined): number {
  return item === undefined ? 0 : 'fold' in item ? foldKey(item.fold.rows) : item.row.seq;
}

function seqOf(item: Item | undefined): number {
  return item === undefined ? 0 : 'fold' in item ? (item.fold.rows[0]?.seq ?? 0) : item.row.seq;
}

function seqsOf(item: Item | undefined): readonly number[] {
  if (item === undefined || 'fold' in item) return [];
  const { end, seq } = item.row;
  return end === undefined ? [seq] : [seq, end];
}

function isAt(item: Item, seq: number): boolean {
  return 'fold' in item ? !item.isOpen && item.fold.rows.some((row) => row.seq === seq) : item.row.seq === seq;
}

function estimateOf(item: Item | undefined, isOpen: (row: RunRow) => boolean): number {
  if (item === undefined || 'fold' in item) return LINE_PX;
  if (item.row.kind === 'call') return isOpen(item.row) ? OPEN_PX : CALL_PX;
  return ESTIMATES_PX[item.row.kind] ?? LINE_PX;
}

function useTopOf(element: { readonly current: HTMLElement | null }): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = (): void => {
      const { current } = element;
      if (current !== null) setTop(Math.round(current.getBoundingClientRect().top + scrollY));
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(document.body);
    return () => sizes.disconnect();
  }, [element]);
  return top;
}

function useFollowedEnd(
  list: { readonly current: HTMLElement | null },
  isFollowing: boolean,
  onLeftEnd: (() => void) | undefined,
): void {
  useEffect(() => {
    const { current } = list;
    if (current === null || onLeftEnd === undefined) return undefined;
    let last = scrollY;
    let movedAtMs = -MOVE_MS;
    const onMove = (): void => void (movedAtMs = performance.now());
    const isAtEnd = (): boolean => scrollY + innerHeight >= document.documentElement.scrollHeight - END_PX;
    const toEnd = (): void => {
      if (isFollowing) scrollTo(0, document.documentElement.scrollHeight);
    };
    const onScroll = (): void => {
      // Rows that get their heights move the view too.
      if (!isAtEnd() && scrollY < last && performance.now() - movedAtMs < MOVE_MS) onLeftEnd();
      last = scrollY;
    };
    toEnd();
    const sizes = new ResizeObserver(toEnd);
    sizes.observe(current);
    addEventListener('scroll', onScroll, { passive: true });
    for (const name of MOVES) addEventListener(name, onMove, { passive: true });
    return () => {
      removeEventListener('scroll', onScroll);
      for (const name of MOVES) removeEventListener(name, onMove);
      sizes.disconnect();
    };
  }, [list, onLeftEnd, isFollowing]);
}

const NAME = 'found';
const MAX_MARKS = 500;

/** Leaves the elements as they are, so Markdown and code stay. A word of one letter is marked where it stands alone. */
function useMarkedWords(container: { readonly current: HTMLElement | null }, words: readonly string[]): void {
  useEffect(() => {
    const { current } = container;
    // Older browsers show the match without marks.
    if (current === null || words.length === 0 || typeof Highlight === 'undefined') return undefined;
    const mark = (): void => void CSS.highlights.set(NAME, new Highlight(...rangesOf(current, words)));
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(current, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      CSS.highlights.delete(NAME);
    };
  }, [container, words]);
}

function rangesOf(container: HTMLElement, words: readonly string[]): readonly Range[] {
  const pattern = new RegExp(words.map(patternOf).join('|'), 'giu');
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < MAX_MARKS; node = walker.nextNode()) {
    for (const { 0: found, index } of (node.nodeValue ?? '').matchAll(pattern)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      ranges.push(range);
    }
  }
  return ranges;
}

function patternOf(word: string): string {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return word.length === 1 ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped;
}
