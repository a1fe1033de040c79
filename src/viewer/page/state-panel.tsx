import { Fragment, type ReactElement } from 'react';

import { countText } from '../../core/base/number-text.ts';
import { getState, type RunAddress } from './api.ts';
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
  const stepTo = (call: number): { readonly disabled: boolean; readonly onClick: () => void } => {
    const seq = call < 1 || call > calls ? undefined : rows.seqOf(call);
    return { disabled: seq === undefined, onClick: () => onGo(seq ?? 0) };
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
            <button type="button" aria-label="State at the previous call" {...stepTo(state.call - 1)}>
              ←
            </button>
            <h3>At call {countText(state.call)}</h3>
            <button type="button" aria-label="State at the next call" {...stepTo(state.call + 1)}>
              →
            </button>
          </div>
          <dl>
            {state.facts.map(([name, lines]) => (
              <Fragment key={name}>
                <dt>{name}</dt>
                <dd>
                  {lines.length === 0 ? 'none' : null}
                  {lines.map((line) => (
                    <div key={line}>{safeLine(line)}</div>
                  ))}
                </dd>
              </Fragment>
            ))}
          </dl>
        </article>
      )}
    </section>
  );
}
