import { useState, type ReactElement } from 'react';

import type { ListedRow } from '../server/api-shapes.ts';
import { getRun, getRuns } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { countOf } from '../../core/base/number-text.ts';
import { dayText } from './number-text.ts';
import { addressOf, runKey } from './route.ts';
import { stateOf } from './run-list-row.tsx';
import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';

/** Lets the user choose the runs of a comparison. @param a  the first run, if it was chosen before */
export function ChooseRun({ a }: { readonly a: string | undefined }): ReactElement {
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

/** Fetches the runs with the same task. */
async function runsOfTask(key: string): Promise<readonly ListedRow[]> {
  const { run } = await getRun(addressOf(key));
  return run.task === undefined ? [] : (await getRuns({ task: run.task }, undefined)).runs;
}
