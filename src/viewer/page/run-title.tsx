import type { ReactElement, ReactNode } from 'react';

import type { RunAnswer } from '../server/api-shapes.ts';
import { runPath } from './api.ts';
import { Link } from './link.tsx';
import { costText, countOf, dayText, fullTimeText, spanText } from './number-text.ts';
import { runKey } from './route.ts';
import { stateOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';

/** What the run is, how it went, and what can be done with it. */
export function RunTitle({
  answer,
  children,
}: {
  readonly answer: RunAnswer;
  readonly children: ReactNode;
}): ReactElement {
  const { run, parent } = answer;
  const state = stateOf(run);
  return (
    <header className="run-title">
      <div className="what">
        <h1 title={run.task === undefined ? undefined : safeLine(run.task)}>
          {safeLine(run.task ?? '') || safeLine(run.runId)}
        </h1>
        <div className="facts">
          <span className={`tag ${state.className}`}>{state.text}</span>
          {parent === undefined ? null : (
            <span>
              child of{' '}
              <Link to={{ page: 'run', run: { source: parent.source, runId: parent.runId } }}>
                {safeLine(parent.runId)}
              </Link>
            </span>
          )}
          <span className="mono">{safeLine(run.runId)}</span>
          {run.modelId === undefined ? null : <span>{safeLine(run.modelId)}</span>}
          <span title={fullTimeText(run.startedAtMs)}>
            {dayText(run.startedAtMs)}
            {run.startedAtMs === 0 ? '' : ` for ${spanText(run.lastAtMs - run.startedAtMs)}`}
          </span>
          <span>{countOf(run.turns, 'turn')}</span>
          <span>{countOf(run.calls, 'call')}</span>
          <span className={run.errors > 0 ? 'bad' : undefined}>{countOf(run.errors, 'error')}</span>
          {run.costUsd === undefined ? null : <span>{costText(run.costUsd)}</span>}
          {run.reward === undefined ? null : <span>reward {run.reward}</span>}
        </div>
      </div>
      <div className="actions">
        {children}
        <Link className="button" to={{ page: 'compare', a: runKey(run) }}>
          Compare
        </Link>
        <a className="button" href={`${runPath(run)}/export.html`} download={`${fileName(run.runId)}.html`}>
          Export
        </a>
      </div>
    </header>
  );
}

function fileName(runId: string): string {
  return runId.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80) || 'run';
}
