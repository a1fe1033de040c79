import type { ReactElement } from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import type { FilesRow, SeenRequest } from '../server/api-shapes.ts';
import { getState, type RunAddress } from './api.ts';
import { tokenFacts } from '../../core/facts/usage-text.ts';
import { costText, spanText } from './number-text.ts';
import type { Rows } from './rows.ts';
import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';

export function StatePanel(props: {
  readonly run: RunAddress;
  readonly rows: Rows;
  readonly calls: number;
  /** `seq` of the chosen row. Undefined selects the end of the run. */
  readonly selected: number | undefined;
  readonly onGo: (seq: number) => void;
}): ReactElement {
  const { calls, onGo, rows, run, selected } = props;
  const chosen = selected === undefined ? calls : rows.callAt(selected);
  const runState = useLoaded(`${run.source}/${run.runId} ${chosen}`, () => getState(run, chosen));
  const goToCall = (call: number): void => {
    const seq = rows.seqOf(call);
    if (seq !== undefined) onGo(seq);
  };
  const { value: state } = runState;
  return (
    <section aria-label="State of the run">
      {runState.error === undefined ? null : <p className="card bad">{runState.error.message}</p>}
      {state === undefined ? (
        <p className="card dim">Reading the run…</p>
      ) : (
        <article className="card">
          <div className="card-head">
            <button
              type="button"
              aria-label="State at the previous call"
              disabled={state.call <= 1}
              onClick={() => goToCall(state.call - 1)}
            >
              ←
            </button>
            <h3>At call {countText(state.call)}</h3>
            <button
              type="button"
              aria-label="State at the next call"
              disabled={state.call >= calls}
              onClick={() => goToCall(state.call + 1)}
            >
              →
            </button>
          </div>
          <dl>
            {state.request === undefined ? null : <Seen request={state.request} />}
            <Files name="Read" files={state.read} />
            <Files name="Written" files={state.written} />
            <dt>Checks</dt>
            <dd>
              {state.checks.length === 0 ? 'none' : null}
              {state.checks.map(({ call, command, failed }) => (
                <div key={command}>
                  <span className={failed ? 'bad' : 'good'}>{failed ? 'failed' : 'passed'}</span> at call{' '}
                  {countText(call)}: <span className="mono">{safeLine(command)}</span>
                </div>
              ))}
            </dd>
            <dt>Failing</dt>
            <dd>
              {state.failures.length === 0 ? 'nothing' : null}
              {state.failures.map(({ call, line, tool }) => (
                <div key={call}>
                  call {countText(call)}, {safeLine(tool)}: <span className="mono">{safeLine(line)}</span>
                </div>
              ))}
              {state.errorsInARow > 1 ? <div>{countOf(state.errorsInARow, 'failure')} in a row</div> : null}
            </dd>
            <Fact name="Context" value={state.contextTokens} text={(count) => countOf(count, 'token')} />
            <Fact name="Tokens" value={state.tokens} text={() => tokenFacts(state).join(', ')} />
            <Fact name="Cost" value={state.costUsd} text={costText} />
            <dt>Time</dt>
            <dd>
              {spanText(state.elapsedMs)}
              {state.timeLeftMs === undefined
                ? ''
                : state.timeLeftMs < 0
                  ? `, ${spanText(-state.timeLeftMs)} past the deadline`
                  : `, ${spanText(state.timeLeftMs)} left`}
            </dd>
          </dl>
        </article>
      )}
    </section>
  );
}

function Seen({ request }: { readonly request: SeenRequest }): ReactElement {
  const { messages, modelId, systemChars, toolCount, tools } = request;
  const sizes = [countOf(messages, 'message'), `${countOf(systemChars, 'character')} of instructions`];
  return (
    <>
      <dt>What the model saw this turn</dt>
      <dd>
        {[...(modelId === undefined ? [] : [safeLine(modelId)]), ...sizes].join(' · ')}
        <div>
          {countOf(toolCount, 'tool')} offered
          {tools.length === 0 ? '' : ': '}
          <span className="mono">{tools.map((tool) => safeLine(tool)).join(', ')}</span>
          {toolCount > tools.length && tools.length > 0 ? ', …' : ''}
        </div>
      </dd>
    </>
  );
}

function Files({ name, files }: { readonly name: string; readonly files: FilesRow }): ReactElement {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {countOf(files.count, 'file')}
        {files.latest.map((file) => (
          <div key={file} className="mono">
            {safeLine(file)}
          </div>
        ))}
      </dd>
    </>
  );
}

function Fact(props: {
  readonly name: string;
  readonly value: number | undefined;
  readonly text: (value: number) => string;
}): ReactElement | null {
  if (props.value === undefined) return null;
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.text(props.value)}</dd>
    </>
  );
}
