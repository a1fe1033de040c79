import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactElement, useMemo, useRef, useState } from 'react';

import { countOf, countText, usdText } from '../../core/base/number-text.ts';
import type { CallRow, CompareAnswer, CompareRow, ListedRow } from '../server/api-shapes.ts';
import { getComparison, type RunAddress } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { runKey } from './route.ts';
import { choiceFor, stateOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';

const ROW_PX = 44;
const MIN_FOLDED = 4;

export function Comparison({ a, b }: { readonly a: string; readonly b: string }): ReactElement {
  const answer = useLoaded(`${a} ${b}`, () => getComparison(a, b));
  if (answer.error !== undefined) return <ErrorNotice error={answer.error} onRetry={answer.reload} />;
  if (answer.value === undefined) return <Notice title="Comparing…" />;
  return <Aligned answer={answer.value} />;
}

function Aligned({ answer }: { readonly answer: CompareAnswer }): ReactElement {
  const { a, b, rows } = answer;
  const scroller = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const shown = useMemo(() => foldEqual(rows, opened), [rows, opened]);
  const divergence = rows.findIndex(({ same }) => !same);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const toDivergence = (): void => {
    const index = shown.findIndex(({ at }) => at === divergence);
    virtual.scrollToIndex(index, { align: 'center' });
  };
  return (
    <div className="compare">
      <div className="compare-head">
        <h1>{a.title === b.title ? `Compare: ${safeLine(a.title)}` : 'Compare'}</h1>
        <p className="facts">
          <span>
            {countText(rows.filter(({ same }) => same).length)} of {countOf(rows.length, 'row')} are the same
          </span>
          {divergence < 0 ? (
            <span className="good">They do not differ.</span>
          ) : (
            <button type="button" className="link" onClick={toDivergence}>
              They part at row {countText(divergence + 1)}
            </button>
          )}
          {answer.truncated ? (
            <span className="bad">Only the first calls are compared: one of them is too long.</span>
          ) : null}
          <Link to={{ page: 'compare', a: runKey(b), b: runKey(a) }}>Swap</Link>
          <Link to={choiceFor(a)}>Choose another</Link>
        </p>
      </div>
      <div className="pair names">
        <RunName run={a} other={b} />
        <span />
        <RunName run={b} other={a} />
      </div>
      <div ref={scroller} className="compare-scroll" tabIndex={0} role="region" aria-label="Calls of both runs">
        {rows.length === 0 ? <Notice title="Neither run called a tool" /> : null}
        <div style={{ position: 'relative', height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const part = shown[item.index];
            if (part === undefined) return null;
            return 'equal' in part ? (
              <div key={item.index} className="pair line equal" style={{ transform: `translateY(${item.start}px)` }}>
                <button type="button" onClick={() => setOpened((before) => new Set(before).add(part.at))}>
                  {countText(part.equal)} equal calls
                </button>
              </div>
            ) : (
              <Pair key={item.index} row={part.row} top={item.start} isFirst={part.at === divergence} a={a} b={b} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** A row, or a stretch of equal rows that is folded. `at` is the index of the (first) row. */
type Shown = { readonly at: number; readonly row: CompareRow } | { readonly at: number; readonly equal: number };

/** Folds the equal rows between two differences, except one next to each. `opened`: indices of unfolded stretches. */
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
  readonly row: CompareRow;
  readonly top: number;
  readonly isFirst: boolean;
  readonly a: RunAddress;
  readonly b: RunAddress;
}): ReactElement {
  const { row } = props;
  const [sign, title] = signOf(row);
  const classes = ['pair line', row.same ? '' : 'differs', props.isFirst ? 'first' : ''];
  return (
    <div className={classes.join(' ')} style={{ transform: `translateY(${props.top}px)` }}>
      <Cell call={row.a} run={props.a} />
      <span className={row.same ? 'sign dim' : 'sign'} title={title}>
        {sign}
      </span>
      <Cell call={row.b} run={props.b} />
    </div>
  );
}

function signOf({ a, b, same }: CompareRow): readonly [sign: string, title: string] {
  if (same) return ['=', 'the same call'];
  if (a === undefined) return ['+', 'only in the second run'];
  return b === undefined ? ['−', 'only in the first run'] : ['≠', 'the same tool, other arguments'];
}

function Cell({ call, run }: { readonly call: CallRow | undefined; readonly run: RunAddress }): ReactElement {
  if (call === undefined) return <span className="cell dim" />;
  return (
    <Link className="cell" to={{ page: 'run', run: { source: run.source, runId: run.runId }, at: call.seq }}>
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
