import type { ReactElement, ReactNode } from 'react';

import type { ListedRow, RunAnswer } from '../server/api-shapes.ts';
import { tokenFacts } from '../../core/facts/usage-text.ts';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
import { countOf, countText } from '../../core/base/number-text.ts';
import { costText, dayText, fullTimeText, spanText } from './number-text.ts';
import { runKey } from './route.ts';
import { runRouteOf, stateOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { ShareButton } from './share-button.tsx';
import { placeInList } from './use-run-list.ts';

/** Shows the title, the outcome and the actions of a run. */
export function RunTitle({
  answer,
  label,
  children,
}: {
  readonly answer: RunAnswer;
  /** The label of the run. */
  readonly label: string | undefined;
  readonly children: ReactNode;
}): ReactElement {
  const { run, parent } = answer;
  const state = stateOf(run);
  return (
    <header className="run-title">
      <div className="what">
        <h1 title={run.task === undefined ? undefined : safeLine(run.task)}>{safeLine(run.title)}</h1>
        <div className="facts">
          <FilterTag className={state.className} filters={state.filters}>
            {state.text}
          </FilterTag>
          {state.reason === '' ? null : <span>{state.reason}</span>}
          {label === undefined ? null : <span className="tag label">labelled {label}</span>}
          {parent === undefined ? null : (
            <span>
              child of{' '}
              <Link to={{ page: 'run', run: { source: parent.source, runId: parent.runId } }}>
                {safeLine(parent.runId)}
              </Link>
            </span>
          )}
          <span className="mono">{safeLine(run.runId)}</span>
          {run.modelId === undefined ? null : (
            <FilterTag filters={{ model: run.modelId }}>{safeLine(run.modelId)}</FilterTag>
          )}
          <span title={fullTimeText(run.startedAtMs)}>
            {dayText(run.startedAtMs)}
            {run.startedAtMs === 0 ? '' : ` for ${spanText(run.lastAtMs - run.startedAtMs)}`}
          </span>
          {run.turns === 0 ? null : <span>{countOf(run.turns, 'turn')}</span>}
          <span>{countOf(run.calls, 'call')}</span>
          <span className={run.errors > 0 ? 'bad' : undefined}>{countOf(run.errors, 'error')}</span>
          {run.refused === undefined ? null : <span>{run.refused} refused</span>}
          {tokenFacts(run).map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
          {run.costUsd === undefined ? null : (
            <span>
              {run.answersWithoutCost === undefined ? '' : 'at least '}
              {costText(run.costUsd)}
            </span>
          )}
          {run.reward === undefined ? null : <span>reward {Number(run.reward.toPrecision(3))}</span>}
        </div>
      </div>
      <div className="actions">
        <Neighbours run={run} />
        {children}
        <Link className="button" to={{ page: 'compare', a: runKey(run) }}>
          Compare
        </Link>
        <ShareButton run={run} />
      </div>
    </header>
  );
}

/** Links to the previous and next run of the list. */
function Neighbours({ run }: { readonly run: ListedRow }): ReactElement | null {
  const place = placeInList(run);
  if (place === undefined) return null;
  const neighbourLink = (row: ListedRow | undefined, words: string, sign: string): ReactElement =>
    row === undefined ? (
      <span className="button is-off" aria-hidden="true">
        {sign}
      </span>
    ) : (
      <Link className="button" to={runRouteOf(row, place.filters)} title={words}>
        <span aria-hidden="true">{sign}</span>
        <span className="visually-hidden">{words}</span>
      </Link>
    );
  return (
    <span className="neighbours">
      run {countText(place.number)} of {countText(place.total)} {neighbourLink(place.before, 'Previous run (K)', '‹')}{' '}
      {neighbourLink(place.next, 'Next run (J)', '›')}
    </span>
  );
}
