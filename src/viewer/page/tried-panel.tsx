import { useCallback, type ReactElement } from 'react';

import { countText } from '../../base/number-text.ts';
import { safeText } from '../../base/shown-text.ts';
import type { AdviceChange, TriedAdvice, TriedRunAnswer } from '../server/trial-shapes.ts';
import { getTried, type TrialChoice } from './api.ts';
import { ChooseConfiguration } from './choose-configuration.tsx';
import { runKey, type Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { withoutBlankLines } from './text-of.ts';
import { useLoaded, type Loaded } from './use-loaded.ts';
import { goTo } from './use-route.ts';

type RunRoute = Extract<Route, { page: 'run' }>;

/** The replay of the run on the page, under the configuration in the address. */
export interface TriedRun {
  readonly choice: TrialChoice | undefined;
  readonly loaded: Loaded<TriedRunAnswer | undefined>;
  readonly onChoose: (trial: TrialChoice | undefined) => void;
}

/** @param lastSeq  the replay restarts when this value grows */
export function useTriedRun(route: RunRoute, lastSeq: number): TriedRun {
  const { run, trial } = route;
  const key = trial === undefined ? 'none' : `${runKey(run)} ${lastSeq} ${trial.under} ${trial.against}`;
  const triedRun = useLoaded(key, async () => (trial === undefined ? undefined : getTried(run, trial)));
  const onChoose = useCallback(
    (chosen: TrialChoice | undefined) => {
      const { trial: _before, ...rest } = route;
      goTo(chosen === undefined ? rest : { ...rest, trial: chosen }, { replace: true });
    },
    [route],
  );
  return { choice: trial, loaded: triedRun, onChoose };
}

const CHANGES: Readonly<Record<AdviceChange, { readonly text: string; readonly tag: string }>> = {
  new: { text: 'new', tag: 'good' },
  earlier: { text: 'earlier', tag: 'good' },
  later: { text: 'later', tag: 'stuck' },
  gone: { text: 'gone', tag: 'bad' },
  same: { text: 'the same', tag: '' },
};

/** Shows the advice of the run under another configuration, compared with the run's own advice. */
export function TriedPanel(props: { readonly tried: TriedRun; readonly onGo: (seq: number) => void }): ReactElement {
  const { choice, loaded, onChoose } = props.tried;
  const { error, value } = loaded;
  return (
    <div className="lane-scroll" role="tabpanel" id="lane-panel" aria-labelledby="tab-tried" tabIndex={0}>
      <div className="card">
        <ChooseConfiguration trial={choice} onChoose={onChoose} />
        {choice === undefined ? (
          <p className="dim">Replays this run through another configuration and shows what it would have advised.</p>
        ) : error !== undefined ? (
          <p className="bad">This configuration cannot be used: {error.message}</p>
        ) : value === undefined ? (
          <p className="dim">Replaying the run…</p>
        ) : (
          <Summary answer={value} />
        )}
      </div>
      {(value?.advice ?? []).map((advice, at) => (
        // The entries of an answer have a fixed order.
        <Card key={at} advice={advice} onGo={props.onGo} />
      ))}
    </div>
  );
}

function Summary({ answer }: { readonly answer: TriedRunAnswer }): ReactElement {
  const names = answer.unanswered.map((name) => safeLine(name)).join(', ');
  if (names !== '') return <p className="bad">{names} asks a model, and this run holds no answer of it.</p>;
  if (answer.advice.length === 0) return <p className="dim">Neither configuration advises anything in this run.</p>;
  // The cast is safe: the names are the keys of this object.
  const changes = (Object.keys(CHANGES) as AdviceChange[]).filter((change) => answer.counts[change] > 0);
  return (
    <>
      <p className="changes">
        {changes.map((change) => (
          <span key={change} className={`tag ${CHANGES[change].tag}`}>
            {countText(answer.counts[change])} {CHANGES[change].text}
          </span>
        ))}
      </p>
      <p className="dim">After the first change the agent might have acted differently.</p>
    </>
  );
}

function Card(props: { readonly advice: TriedAdvice; readonly onGo: (seq: number) => void }): ReactElement {
  const { call, change, provider, seq, text, wasCall } = props.advice;
  return (
    <article className={`card tried is-${change}`}>
      <div className="card-head">
        <h3>
          <button type="button" className="link" onClick={() => props.onGo(seq)}>
            {safeLine(provider).slice(0, 100)}
          </button>
        </h3>
        <span className={`tag ${CHANGES[change].tag}`}>{CHANGES[change].text}</span>
        <span className="dim">
          {wasCall === undefined ? `call ${countText(call)}` : `call ${countText(wasCall)} → ${countText(call)}`}
        </span>
      </div>
      <p dir="auto">{withoutBlankLines(safeText(text))}</p>
    </article>
  );
}
