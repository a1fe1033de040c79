import type { ReactElement } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import type { AlignedAnswer, AlignedRun, CallRow } from '../server/api-shapes.ts';
import { getAligned } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { runKey } from './route.ts';
import { idTail, safeLine } from './safe-text.ts';
import { KIND_STYLES, kindColour } from './tool-kinds.ts';
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
      <h1>{headingOf(value.runs)}</h1>
      <p className="intro">{sameText(value.same)} Runs that succeeded stand first.</p>
      <Steps answer={value} />
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

/** Shows what the successful runs did and the failed ones did not. */
function Steps({ answer: { failed, passed, steps } }: { readonly answer: AlignedAnswer }): ReactElement | null {
  if (passed === 0 || failed === 0) return null;
  return (
    <section className="panel" aria-label="What the successful runs did">
      <h2>What the successful runs did</h2>
      {steps.length === 0 ? <p className="dim">Nothing that the failed runs did not do as often.</p> : null}
      <ul className="steps">
        {steps.map(({ example, kind, what, ...of }) => (
          <li key={`${kind} ${what}`}>
            <Link to={{ page: 'run', run: { source: example.source, runId: example.runId }, at: example.seq }}>
              {/* React's types do not include custom properties. */}
              <b className="key" style={{ ['--key' as string]: kindColour(kind) }}>
                {KIND_STYLES.find((style) => style.kind === kind)?.name}
              </b>{' '}
              <span className="mono">{safeLine(what).slice(0, SHOWN_CHARS)}</span>
            </Link>{' '}
            <span className="dim">
              {countText(of.passed)} of {countText(passed)} that succeeded, {countText(of.failed)} of{' '}
              {countText(failed)} that failed
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the task if all runs have the same. */
function headingOf(runs: readonly AlignedRun[]): string {
  const [title = '', ...others] = new Set(runs.map((run) => run.title));
  return `${countOf(runs.length, 'run')} side by side${others.length === 0 ? `: ${safeLine(title)}` : ''}`;
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
      <Link to={{ page: 'run', run: { source: run.source, runId: run.runId } }}>{idTail(run.runId, 40)}</Link>
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
