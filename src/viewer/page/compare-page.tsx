import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState, type ReactElement } from 'react';

import type { CallRow, CompareAnswer, ComparedRunAnswer, CompareRow } from '../server/api-shapes.ts';
import { getComparison } from './api.ts';
import { ChooseRun } from './choose-run.tsx';
import { isTyping } from './is-typing.ts';
import { Link } from './link.tsx';
import { ErrorBanner, ErrorNotice, Notice } from './notice.tsx';
import { countOf, countText } from '../../core/base/number-text.ts';
import { addressOf, type Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { asError, useLoaded } from './use-loaded.ts';

const ROW_PX = 44;

/** Shows two runs side by side, aligned by tool and arguments. The first difference is marked. */
export function ComparePage({ route }: { readonly route: Extract<Route, { page: 'compare' }> }): ReactElement {
  const { a, b } = route;
  if (a === undefined || b === undefined) return <ChooseRun a={a} />;
  return <Comparison key={`${a} ${b}`} a={a} b={b} />;
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }): ReactElement {
  const firstPage = useLoaded(`${a} ${b}`, () => getComparison(a, b, 0));
  if (firstPage.error !== undefined) return <ErrorNotice error={firstPage.error} onRetry={firstPage.reload} />;
  if (firstPage.value === undefined) return <Notice title="Comparing…" />;
  return <Aligned a={a} b={b} first={firstPage.value} />;
}

function Aligned(props: { readonly a: string; readonly b: string; readonly first: CompareAnswer }): ReactElement {
  const { a, b, first } = props;
  const { rows, more, error } = useRows(a, b, first);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: first.total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastIndex >= rows.length - 50) more();
  }, [lastIndex, rows.length, more]);
  const { firstDivergence } = first;
  const toDivergence = useCallback(() => {
    if (firstDivergence !== null) virtual.scrollToIndex(firstDivergence, { align: 'center' });
  }, [virtual, firstDivergence]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'e' || isTyping(event)) return;
      event.preventDefault();
      toDivergence();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [toDivergence]);
  return (
    <div className="compare">
      <div className="compare-head">
        <h1>{first.a.title === first.b.title ? `Compare: ${safeLine(first.a.title)}` : 'Compare'}</h1>
        <p className="facts">
          <span>
            {countText(first.same)} of {countOf(first.total, 'row')} are the same
          </span>
          {firstDivergence === null ? (
            <span className="good">They do not differ.</span>
          ) : (
            <button type="button" className="link" onClick={toDivergence}>
              They part at row {countText(firstDivergence + 1)}
            </button>
          )}
          {first.truncated ? (
            <span className="bad">Only the first calls are compared: one of them is too long.</span>
          ) : null}
          <Link to={{ page: 'compare', a: b, b: a }}>Swap</Link>
          <Link to={{ page: 'compare', a }}>Choose another</Link>
        </p>
        {error === undefined ? null : <ErrorBanner error={error} onRetry={more} />}
      </div>
      <div className="pair names">
        <RunName run={first.a} other={first.b} />
        <span />
        <RunName run={first.b} other={first.a} />
      </div>
      <div ref={scroller} className="compare-scroll" tabIndex={0} role="region" aria-label="Calls of both runs">
        {first.total === 0 ? <Notice title="Neither run called a tool" /> : null}
        <div style={{ position: 'relative', height: virtual.getTotalSize() }}>
          {items.map((item) => (
            <Pair
              key={item.index}
              row={rows[item.index]}
              top={item.start}
              isFirst={item.index === firstDivergence}
              a={a}
              b={b}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Names a run by its id, and by its task if the other run has another. */
function RunName(props: { readonly run: ComparedRunAnswer; readonly other: ComparedRunAnswer }): ReactElement {
  const { other, run } = props;
  return (
    <span>
      <Link to={{ page: 'run', run: { source: run.source, runId: run.runId } }}>{safeLine(run.runId)}</Link>{' '}
      <span className="dim">
        {countOf(run.calls, 'call')}
        {run.title === run.runId || run.title === other.title ? '' : `, ${safeLine(run.title)}`}
      </span>
    </span>
  );
}

function Pair(props: {
  readonly row: CompareRow | undefined;
  readonly top: number;
  readonly isFirst: boolean;
  readonly a: string;
  readonly b: string;
}): ReactElement {
  const { row } = props;
  const classes = ['pair line', row === undefined || row.same ? '' : 'differs', props.isFirst ? 'first' : ''];
  return (
    <div className={classes.join(' ')} style={{ transform: `translateY(${props.top}px)` }}>
      <Cell call={row?.a} run={props.a} />
      <span className="sign">{row === undefined ? '…' : signOf(row)}</span>
      <Cell call={row?.b} run={props.b} />
    </div>
  );
}

function signOf(row: CompareRow): ReactElement {
  if (row.same)
    return (
      <span className="dim" title="the same call">
        =
      </span>
    );
  if (row.a === undefined) return <span title="only in the second run">+</span>;
  if (row.b === undefined) return <span title="only in the first run">−</span>;
  return <span title="the same tool, other arguments">≠</span>;
}

function Cell({ call, run }: { readonly call: CallRow | undefined; readonly run: string }): ReactElement {
  if (call === undefined) return <span className="cell dim" />;
  return (
    <Link className="cell" to={{ page: 'run', run: addressOf(run), at: call.seq }}>
      <span className="at">{call.call}</span>
      <span className="first">
        {/* React's types do not include custom properties. */}
        <b className="key" style={{ ['--key' as string]: `var(--kind-${call.kind})` }}>
          {safeLine(call.tool).slice(0, 80)}
        </b>{' '}
        {safeLine(call.argsPreview)}
      </span>
      {call.failed ? <span className="second bad">{safeLine(call.errorLine ?? 'failed')}</span> : null}
    </Link>
  );
}

/** Returns the rows loaded until now, in order. */
function useRows(
  a: string,
  b: string,
  first: CompareAnswer,
): { readonly rows: readonly CompareRow[]; readonly more: () => void; readonly error: Error | undefined } {
  const [rows, setRows] = useState(first.rows);
  const [error, setError] = useState<Error | undefined>();
  const nextOffset = useRef(first.next);
  const isLoading = useRef(false);
  const loadMore = useCallback(() => {
    const offset = nextOffset.current;
    if (offset === undefined || isLoading.current) return;
    isLoading.current = true;
    setError(undefined);
    const fetchRows = async (): Promise<void> => {
      try {
        const page = await getComparison(a, b, offset);
        nextOffset.current = page.next;
        setRows((before) => [...before, ...page.rows]);
      } catch (thrown) {
        setError(asError(thrown));
      } finally {
        isLoading.current = false;
      }
    };
    void fetchRows();
  }, [a, b]);
  return { rows, more: loadMore, error };
}
