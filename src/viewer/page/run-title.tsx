import { type ReactElement, type ReactNode, useState } from 'react';

import { bytesText, countOf, countText, usdText } from '../../core/base/number-text.ts';
import { isLeast, tokenFacts } from '../../core/facts/usage-text.ts';
import type { RunAnswer } from '../server/api-shapes.ts';
import { exportPath, getExport, type RunAddress } from './api.ts';
import { Dialog } from './dialog.tsx';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
import { dayText, fullTimeText, spanText } from './number-text.ts';
import { choiceFor, stateOf } from './run-list-row.tsx';
import { sharedRunsIn } from '../server/shared-data.ts';
import { sharedRun } from './shared-runs.ts';
import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';

export function RunTitle({
  answer,
  label,
  children,
}: {
  readonly answer: RunAnswer;
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
          {run.cancelled === undefined ? null : <span>{run.cancelled} cancelled</span>}
          {tokenFacts(run).map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
          {run.costUsd === undefined ? null : (
            <span>
              {isLeast(run) ? 'at least ' : ''}
              {usdText(run.costUsd)}
            </span>
          )}
          {run.reward === undefined ? null : <span>reward {Number(run.reward.toPrecision(3))}</span>}
        </div>
      </div>
      <div className="actions">
        {children}
        {sharedRun === undefined ? (
          <>
            {answer.isAlone === true ? null : (
              <Link className="button" to={choiceFor(run)}>
                Compare
              </Link>
            )}
            <ShareButton run={run} />
          </>
        ) : null}
      </div>
    </header>
  );
}

const MASKED = /\[REDACTED:([a-z0-9-]{1,40})/g;

function ShareButton({ run }: { readonly run: RunAddress }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Share
      </button>
      {isOpen ? <ShareDialog run={run} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function ShareDialog({ run, onClose }: { readonly run: RunAddress; readonly onClose: () => void }): ReactElement {
  const path = exportPath(run);
  const { error, value } = useLoaded(path, async () => contentOf(await getExport(run)));
  return (
    <Dialog title="Share this run" onClose={onClose}>
      {error === undefined ? null : <p className="bad">{error.message}</p>}
      {value === undefined ? (
        <p className="dim">Writing the file…</p>
      ) : (
        <>
          <Masked {...value} />
          <a className="button primary" href={path} download="" onClick={onClose}>
            Save the file
          </a>
        </>
      )}
    </Dialog>
  );
}

interface FileContent {
  readonly bytes: number;
  /** How many places each rule masked. */
  readonly masked: ReadonlyMap<string, number>;
}

async function contentOf(page: string): Promise<FileContent> {
  const masked = new Map<string, number>();
  const records = JSON.stringify((await sharedRunsIn(page)).map((run) => run.records));
  for (const [, rule = ''] of records.matchAll(MASKED)) masked.set(rule, (masked.get(rule) ?? 0) + 1);
  return { bytes: new Blob([page]).size, masked };
}

function Masked({ bytes, masked }: FileContent): ReactElement {
  const total = [...masked.values()].reduce((sum, count) => sum + count, 0);
  return (
    <>
      <p>
        One HTML file that makes no request, {bytesText(bytes)}.{' '}
        {total === 0
          ? 'No secret was found in it. Read it before you send it: only known forms of secrets are found.'
          : `${countOf(total, 'place')} in it ${total === 1 ? 'is' : 'are'} masked:`}
      </p>
      {total === 0 ? null : (
        <ul className="masked">
          {[...masked].map(([rule, count]) => (
            <li key={rule}>
              <code>{rule}</code> {countText(count)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
