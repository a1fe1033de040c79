import { useCallback, useEffect, useRef, useState, type ReactElement } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import type { Problem, SourceRow } from '../server/api-shapes.ts';
import type { TrialAnswer, TrialProgress } from '../server/trial-shapes.ts';
import { getRuns, openTrial, type RunFilters, type TrialChoice } from './api.ts';
import { ChooseConfiguration } from './choose-configuration.tsx';
import { EffectTable } from './effect-table.tsx';
import { ErrorBanner } from './notice.tsx';
import { ReportBody } from './report-body.tsx';
import type { Route } from './route.ts';
import { RunFiltersBar } from './run-filters-bar.tsx';
import { useLoaded } from './use-loaded.ts';
import { goTo } from './use-route.ts';

type ExperimentsRoute = Extract<Route, { page: 'experiments' }>;

/** Lets the user replay the matching runs under another configuration. */
export function TryConfiguration(props: {
  readonly route: ExperimentsRoute;
  readonly sources: readonly SourceRow[];
}): ReactElement {
  const { route, sources } = props;
  const { filters } = route;
  const choice = route.trial ?? { under: 'standard', against: 'recorded' };
  const list = useLoaded(JSON.stringify(filters), () => getRuns(filters, undefined));
  const runs = list.value?.total ?? 0;
  const [sweep, setSweep] = useState('');
  const trial = useTrial(filters, choice, sweep.trim());
  return (
    <>
      <RunFiltersBar
        filters={filters}
        sources={sources}
        facets={list.value?.facets}
        status={list.value === undefined ? 'Loading…' : countOf(runs, 'run')}
        to={(next) => ({ ...route, filters: next })}
      />
      <section className="panel" aria-label="Advice under another configuration">
        <h2>Advice under another configuration</h2>
        <p className="dim">
          Replays the runs above through another configuration: what it advises earlier, later, in addition, or no more.
          It only reads. A sweep instead replays them once for each value of one number.
        </p>
        <div className="try">
          <ChooseConfiguration
            trial={choice}
            onChoose={(chosen) =>
              goTo({ ...route, ...(chosen === undefined ? {} : { trial: chosen }) }, { replace: true })
            }
          />
          <label>
            Sweep
            <input
              placeholder="doomLoop.maxRepetitions=2..6"
              size={28}
              value={sweep}
              onChange={({ target }) => setSweep(target.value)}
            />
          </label>
          {trial.progress === undefined ? (
            <button type="button" className="primary" disabled={runs === 0} onClick={trial.start}>
              Replay {countOf(runs, 'run')}
            </button>
          ) : (
            <>
              <progress aria-label="Runs replayed" value={trial.progress.runs} max={trial.progress.of} />
              <span role="status">
                {countText(trial.progress.runs)} of {countOf(trial.progress.of, 'run')}
              </span>
              <button type="button" onClick={trial.cancel}>
                Cancel
              </button>
            </>
          )}
        </div>
        {trial.error === undefined ? null : <ErrorBanner error={trial.error} onRetry={trial.start} />}
      </section>
      {trial.answer === undefined ? null : (
        <>
          <ReportBody report={trial.answer.report} sources={sources} />
          <EffectTable effect={trial.answer.effect} />
        </>
      )}
    </>
  );
}

interface Trial {
  readonly answer: TrialAnswer | undefined;
  /** Present while a trial runs. */
  readonly progress: TrialProgress | undefined;
  readonly error: Error | undefined;
  readonly start: () => void;
  readonly cancel: () => void;
}

/** Runs a trial. Changing the filters or configurations discards the result and ends a running trial. */
function useTrial(filters: RunFilters, choice: TrialChoice, sweep: string): Trial {
  const [state, setState] = useState<Pick<Trial, 'answer' | 'progress' | 'error'>>(NOTHING);
  const events = useRef<EventSource | undefined>(undefined);
  const end = useCallback((next: typeof state): void => {
    events.current?.close();
    events.current = undefined;
    setState(next);
  }, []);
  useEffect(() => () => end(NOTHING), [end, JSON.stringify([filters, choice, sweep])]);
  const startTrial = (): void => {
    end({ ...NOTHING, progress: { runs: 0, of: 1 } });
    const stream = (events.current = openTrial(filters, choice, sweep));
    // The cast is safe: the server of the same package sends this event.
    stream.addEventListener('progress', ({ data }: MessageEvent<string>) =>
      setState({ ...NOTHING, progress: JSON.parse(data) as TrialProgress }),
    );
    stream.addEventListener('done', ({ data }: MessageEvent<string>) =>
      end({ ...NOTHING, answer: JSON.parse(data) as TrialAnswer }),
    );
    stream.addEventListener('problem', ({ data }: MessageEvent<string>) =>
      end({ ...NOTHING, error: new Error((JSON.parse(data) as Problem).message) }),
    );
    stream.addEventListener('error', () =>
      end({ ...NOTHING, error: new Error('The viewer refused the request or does not respond.') }),
    );
  };
  return { ...state, start: startTrial, cancel: () => end(NOTHING) };
}

const NOTHING = { answer: undefined, progress: undefined, error: undefined } as const;
