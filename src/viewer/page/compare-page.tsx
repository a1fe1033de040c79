import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactElement, useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { countOf, countText, usdText } from '../../core/base/number-text.ts';
import type { CallRow, CompareAnswer, CompareRow, ListedRow } from '../server/api-shapes.ts';
import { getComparison, getRun, getRuns } from './api.ts';
import { isTyping } from './is-typing.ts';
import { Link } from './link.tsx';
import { ErrorBanner, ErrorNotice, Notice } from './notice.tsx';
import { dayText } from './number-text.ts';
import { addressOf, type Route, runKey } from './route.ts';
import { stateOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { asError, useLoaded } from './use-loaded.ts';

const ROW_PX = 44;
const MIN_FOLDED = 4;
/** Further rows are requested when the view is this many rows from the loaded ones' end. */
const AHEAD = 50;

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
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const shown = useMemo(() => foldEqual(rows, opened), [rows, opened]);
  const isWhole = rows.length === first.total;
  const virtual = useVirtualizer({
    // The last line stands for the rows that are not loaded.
    count: shown.length + (isWhole ? 0 : 1),
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const isAtEnd = !isWhole && (items.at(-1)?.index ?? 0) >= shown.length - AHEAD;
  const { firstDivergence } = first;
  const divergence = shown.findIndex((part) => part.at === firstDivergence);
  const isWanted = useRef(false);
  useEffect(() => {
    if (isAtEnd || (isWanted.current && divergence < 0)) more();
    if (!isWanted.current || divergence < 0) return;
    isWanted.current = false;
    virtual.scrollToIndex(divergence, { align: 'center' });
  }, [isAtEnd, divergence, more, virtual]);
  const toDivergence = useCallback(() => {
    isWanted.current = firstDivergence !== null && divergence < 0;
    if (isWanted.current) more();
    else if (divergence >= 0) virtual.scrollToIndex(divergence, { align: 'center' });
  }, [virtual, divergence, firstDivergence, more]);
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
          {items.map((item) => {
            const part = shown[item.index];
            return part !== undefined && 'equal' in part ? (
              <div key={item.index} className="pair line equal" style={{ transform: `translateY(${item.start}px)` }}>
                <button type="button" onClick={() => setOpened((before) => new Set(before).add(part.at))}>
                  {countText(part.equal)} equal calls
                </button>
              </div>
            ) : (
              <Pair
                key={item.index}
                row={part?.row}
                top={item.start}
                isFirst={part !== undefined && part.at === firstDivergence}
                a={a}
                b={b}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** A row, or a stretch of equal rows that is folded. `at` is the index of the (first) row. */
type Shown = { readonly at: number; readonly row: CompareRow } | { readonly at: number; readonly equal: number };

/**
 * Folds the equal rows between two differences, except the one next to each of them.
 *
 * @param opened  indices of unfolded stretches
 */
function foldEqual(rows: readonly CompareRow[], opened: ReadonlySet<number>): readonly Shown[] {
  const shown: Shown[] = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (rows[end]?.same === true) end += 1;
    const [from, to] = [at === 0 ? 0 : at + 1, end === rows.length ? end : end - 1];
    const isFolded = to - from >= MIN_FOLDED && !opened.has(from);
    const stretch = rows.slice(at, Math.max(end, at + 1));
    for (const [index, row] of stretch.entries()) {
      if (isFolded && at + index === from) shown.push({ at: from, equal: to - from });
      if (!isFolded || at + index < from || at + index >= to) shown.push({ at: at + index, row });
    }
    at = Math.max(end, at + 1);
  }
  return shown;
}

function RunName({ other, run }: { readonly run: ListedRow; readonly other: ListedRow }): ReactElement {
  const state = stateOf(run);
  return (
    <span>
      <Link to={{ page: 'run', run: { source: run.source, runId: run.runId } }}>{safeLine(run.runId)}</Link>{' '}
      <span className={`tag ${state.className}`} title={state.reason}>
        {state.text}
      </span>{' '}
      <span className="dim">
        {countOf(run.calls, 'call')}
        {run.costUsd === undefined ? '' : `, ${usdText(run.costUsd)}`}
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

function ChooseRun({ a }: { readonly a: string | undefined }): ReactElement {
  const [words, setWords] = useState('');
  const foundRuns = useLoaded(`choose ${words}`, () =>
    getRuns(words.trim() === '' ? {} : { q: words.trim() }, undefined),
  );
  const runsOfSameTask = useLoaded(`alike ${a ?? ''}`, () => (a === undefined ? Promise.resolve([]) : runsOfTask(a)));
  const sameTaskRuns = words.trim() === '' ? (runsOfSameTask.value ?? []) : [];
  const otherRuns = (foundRuns.value?.runs ?? []).filter((run) =>
    sameTaskRuns.every((other) => runKey(other) !== runKey(run)),
  );
  const runs = [...sameTaskRuns, ...otherRuns].filter((run) => runKey(run) !== a).slice(0, 50);
  return (
    <div className="sheet">
      <h1>{a === undefined ? 'Compare' : `Compare ${safeLine(a)} with…`}</h1>
      <p className="intro">
        Calls are aligned by tool and arguments, and the place where the runs part is marked. Only the latest 50 that
        match are listed{a === undefined ? '' : ', those of the same task first'}.
      </p>
      <p>
        <input
          type="search"
          aria-label="Search runs"
          placeholder="Search runs"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </p>
      {foundRuns.error === undefined ? null : <ErrorNotice error={foundRuns.error} onRetry={foundRuns.reload} />}
      {runs.length === 0 && !foundRuns.isLoading && foundRuns.error === undefined ? (
        <Notice title="No other run to compare with">
          <p className="dim">Start the viewer with a store or files that contain more than one run.</p>
        </Notice>
      ) : null}
      <table>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Started</th>
            <th scope="col">Calls</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={runKey(run)}>
              <th scope="row">
                <Link
                  to={a === undefined ? { page: 'compare', a: runKey(run) } : { page: 'compare', a, b: runKey(run) }}
                >
                  {safeLine(run.title)}
                </Link>
                <div className="dim">
                  {sameTaskRuns.includes(run) ? 'the same task, ' : ''}
                  {stateOf(run).text.toLowerCase()}, <span className="mono">{safeLine(run.runId)}</span>
                </div>
              </th>
              <td className="number">{dayText(run.startedAtMs)}</td>
              <td className="number">{countOf(run.calls, 'call')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

async function runsOfTask(key: string): Promise<readonly ListedRow[]> {
  const { run } = await getRun(addressOf(key));
  return run.task === undefined ? [] : (await getRuns({ task: run.task }, undefined)).runs;
}
