import type { ReactElement } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import type { AlignedRun, CallRow } from '../server/api-shapes.ts';
import { getAligned } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { runKey } from './route.ts';
import { safeLine } from './safe-text.ts';
import { kindColour } from './tool-kinds.ts';
import { useLoaded } from './use-loaded.ts';

const SHOWN_CHARS = 120;

/** Shows several runs side by side from the first call that differs. Successful runs come first. */
export function AlignedPage({ runs }: { readonly runs: readonly string[] }): ReactElement {
  const { error, reload, value } = useLoaded(`aligned ${runs.join(' ')}`, () => getAligned(runs));
  if (error !== undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (value === undefined) return <Notice title="Comparing…" />;
  const rows = Math.max(0, ...value.runs.map(({ calls }) => calls.length));
  return (
    <div className="sheet aligned">
      <h1>{countOf(value.runs.length, 'run')} side by side</h1>
      <p className="intro">{sameText(value.same)} Runs that succeeded stand first.</p>
      <div className="wide" tabIndex={0} role="region" aria-label="Calls of all runs">
        <table>
          <thead>
            <tr>
              <th scope="col">Call</th>
              {value.runs.map((run) => (
                <th key={runKey(run)} scope="col">
                  <RunHead run={run} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: rows }, (_, at) => (
              <tr key={at} className={value.from + at === value.same ? 'first' : undefined}>
                <th scope="row">{countText(value.from + at + 1)}</th>
                {value.runs.map((run) => (
                  <td key={runKey(run)}>
                    <Cell run={run} call={run.calls[at]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function sameText(same: number): string {
  if (same === 0) return 'The first call differs.';
  return same === 1
    ? 'The first call is equal in all runs.'
    : `The first ${countText(same)} calls are the same in all of them.`;
}

function RunHead({ run }: { readonly run: AlignedRun }): ReactElement {
  const { modelId, success, total } = run;
  const state = success === true ? 'good' : success === false ? 'bad' : '';
  return (
    <>
      <Link to={{ page: 'run', run: { source: run.source, runId: run.runId } }}>{safeLine(run.runId).slice(-40)}</Link>
      <span className="dim">
        {state === '' ? null : <span className={`tag ${state}`}>{state === 'good' ? 'succeeded' : 'failed'}</span>}{' '}
        {modelId === undefined ? '' : `${safeLine(modelId)}, `}
        {countOf(total, 'call')}
      </span>
    </>
  );
}

function Cell({ call, run }: { readonly run: AlignedRun; readonly call: CallRow | undefined }): ReactElement {
  if (call === undefined) return <span className="dim">{run.calls.length < run.total ? '…' : ''}</span>;
  return (
    <Link to={{ page: 'run', run: { source: run.source, runId: run.runId }, at: call.seq }}>
      {/* React's types do not include custom properties. */}
      <b className="key" style={{ ['--key' as string]: kindColour(call.kind) }}>
        {safeLine(call.tool).slice(0, 40)}
      </b>{' '}
      <span>{safeLine(call.argsPreview).slice(0, SHOWN_CHARS)}</span>
      {call.failed ? <span className="bad">{safeLine(call.errorLine ?? 'failed').slice(0, SHOWN_CHARS)}</span> : null}
    </Link>
  );
}
