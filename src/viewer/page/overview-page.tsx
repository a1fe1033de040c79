import type { ReactElement, ReactNode } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import type { CohortAnswer } from '../server/cohort-shapes.ts';
import { getCohort, type RunFilters } from './api.ts';
import { DayBars, FateBars, StopCurve } from './cohort-charts.tsx';
import { CohortRows } from './cohort-rows.tsx';
import { ClusterTable, PatternTable } from './cohort-tables.tsx';
import { Link } from './link.tsx';
import { ErrorNotice, Notice, SourceProblems } from './notice.tsx';
import { costText, shareOrDash } from './number-text.ts';
import type { Route } from './route.ts';
import { RunFiltersBar } from './run-filters-bar.tsx';
import { useLoaded, useReloadWhilePending } from './use-loaded.ts';
import { warningParts } from '../server/warning-key.ts';
import { goTo } from './use-route.ts';

/** The start page. It shows figures of the matching runs. */
export function OverviewPage(props: {
  readonly route: Extract<Route, { page: 'overview' }>;
  readonly sources: readonly SourceRow[];
}): ReactElement {
  const { route, sources } = props;
  const { filters } = route;
  const loaded = useLoaded(JSON.stringify(filters), () => getCohort(filters));
  const { error, reload, value: cohort } = loaded;
  useReloadWhilePending(loaded);
  return (
    <div className="overview-page">
      <h1 className="visually-hidden">Overview</h1>
      <RunFiltersBar
        filters={filters}
        sources={sources}
        facets={cohort?.facets}
        status={cohort === undefined ? 'Loading…' : statusOf(cohort)}
        to={(next) => ({ ...route, filters: next })}
      />
      <SourceProblems sources={sources} />
      {cohort === undefined && error !== undefined ? <ErrorNotice error={error} onRetry={reload} /> : null}
      {cohort === undefined ? null : cohort.runs === 0 ? (
        <Notice title={cohort.pending > 0 ? 'Reading the runs…' : 'No run matches'} />
      ) : (
        <Panels cohort={cohort} route={route} />
      )}
    </div>
  );
}

function statusOf({ pending, runs }: CohortAnswer): string {
  return `${countOf(runs, 'run')}${pending > 0 ? `, ${countText(pending)} not read yet` : ''}`;
}

function Panels(props: {
  readonly cohort: CohortAnswer;
  readonly route: Extract<Route, { page: 'overview' }>;
}): ReactElement {
  const { cohort, route } = props;
  const { filters } = route;
  return (
    <>
      <Figures cohort={cohort} filters={filters} />
      <div className="panels">
        <div>
          <Panel
            title="Which patterns cost outcomes"
            note="Compared with runs that reached the same call without the pattern; the largest shortfall of successes first."
          >
            <PatternTable cohort={cohort} filters={filters} />
          </Panel>
          <Panel
            title="Every run, one row each"
            note={`${countText(cohort.rows.length)} of ${countText(cohort.seen)} drawn, calls from left to right, by first pattern. Click a row to open the run; drag over rows to list their runs.`}
          >
            <CohortRows rows={cohort.rows} filters={filters} />
          </Panel>
        </div>
        <div>
          <Panel
            title="What if runs had been stopped after the first warning?"
            note={`${countOf(cohort.judged, 'run')} with a known outcome, each cut at that call. Exact for these recordings.`}
          >
            <StopCurve
              cohort={cohort}
              stop={route.stop ?? 0}
              onStop={(stop) => goTo({ ...route, stop }, { replace: true })}
            />
          </Panel>
          <Panel title="What agents did after advice" note="The next call, side by side. This does not show why.">
            <FateBars cohort={cohort} filters={filters} />
          </Panel>
          {cohort.costUsd + cohort.tokens === 0 ? null : (
            <Panel title={cohort.costUsd > 0 ? 'Cost by day' : 'Tokens by day'} note="After the first warning in red.">
              <DayBars cohort={cohort} filters={filters} />
            </Panel>
          )}
        </div>
        <Panel title="What stuck runs fail with" note={explainedText(cohort)}>
          <ClusterTable cohort={cohort} filters={filters} />
        </Panel>
      </div>
    </>
  );
}

function explainedText({ clusters, stuck }: CohortAnswer): string {
  const once = 'A run counts once, by its first warning; quoted names and numbers are masked.';
  const withLine = clusters.filter(({ key }) => warningParts(key).line !== undefined);
  const lines = new Set(withLine.map(({ key }) => warningParts(key).line)).size;
  const runs = withLine.reduce((all, one) => all + one.runs, 0);
  if (runs === 0) return once;
  return `${countOf(lines, 'error line')} explain${lines === 1 ? 's' : ''} ${shareOrDash(runs / stuck)} of the stuck runs. ${once}`;
}

function Panel(props: { readonly title: string; readonly note: string; readonly children: ReactNode }): ReactElement {
  return (
    <section className="panel" aria-label={props.title}>
      <h2>{props.title}</h2>
      <p className="dim">{props.note}</p>
      {props.children}
    </section>
  );
}

function Figures({ cohort, filters }: { readonly cohort: CohortAnswer; readonly filters: RunFilters }): ReactElement {
  const share = (part: number, all: number): string => shareOrDash(all === 0 ? null : part / all);
  const { calls, costUsd, judged, runs, stuck, stuckJudged, stuckSucceeded, succeeded, wastedCalls, wastedUsd } =
    cohort;
  return (
    <dl className="figure-cards">
      <Figure
        name="runs"
        value={countText(runs)}
        note={
          cohort.pending > 0
            ? `${countText(cohort.seen)} read so far`
            : `${countOf(cohort.models, 'model')}, ${countOf(cohort.agents, 'agent')}`
        }
        to={filters}
      />
      <Figure
        name="succeeded"
        value={share(succeeded, judged)}
        note={`${countText(succeeded)} of ${countText(judged)} with a known outcome`}
        to={{ ...filters, status: 'success' }}
      />
      <Figure
        name="stuck at some point"
        value={share(stuck, cohort.seen)}
        note={`${share(stuckSucceeded, stuckJudged)} of these succeeded`}
        to={{ ...filters, pattern: 'stuck' }}
      />
      <Figure
        name="calls after the first warning"
        value={share(wastedCalls, calls)}
        note={`${countText(wastedCalls)} of ${countText(calls)}`}
        to={{ ...filters, sort: 'wasted' }}
      />
      {costUsd > 0 ? (
        <Figure
          name="cost after the first warning"
          value={costText(wastedUsd)}
          note={`of ${costText(costUsd)}, known for ${countOf(cohort.costRuns, 'run')}`}
          to={{ ...filters, sort: 'cost' }}
        />
      ) : cohort.tokens === 0 ? null : (
        <Figure
          name="tokens after the first warning"
          value={share(cohort.wastedTokens, cohort.tokens)}
          note={`${countText(cohort.wastedTokens)} of ${countText(cohort.tokens)}, cached included`}
          to={{ ...filters, sort: 'tokens' }}
        />
      )}
    </dl>
  );
}

function Figure(props: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly to: RunFilters;
}): ReactElement {
  return (
    <div className="panel">
      <dt>{props.name}</dt>
      <dd>
        <Link to={{ page: 'runs', filters: props.to }}>{props.value}</Link>
      </dd>
      <dd className="dim">{props.note}</dd>
    </div>
  );
}
