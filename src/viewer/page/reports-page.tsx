import type { ReactElement } from 'react';

import type { BacktestReport } from '../../backtest/backtest-report.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import { getReport, getReports } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { countText } from '../../base/number-text.ts';
import { ComparisonTable, GatesTable, PlacesTable, SignalsTable, SweepTable } from './report-tables.tsx';
import type { Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { useKnownRuns } from './use-known-runs.ts';
import { useLoaded } from './use-loaded.ts';

/** The backtests that the viewer was started with: one of them, or a list. */
export function ReportsPage(props: {
  readonly route: Extract<Route, { page: 'reports' }>;
  readonly sources: readonly SourceRow[];
}): ReactElement {
  const { route, sources } = props;
  const list = useLoaded('reports', getReports);
  if (list.error !== undefined) return <ErrorNotice error={list.error} onRetry={list.reload} />;
  if (list.value === undefined) return <Notice title="Loading…" />;
  const { reports } = list.value;
  if (reports.length === 0) {
    return (
      <Notice title="No backtest">
        <p className="dim">
          Write a report with <code>coxswain backtest PATH --json {'>'} report.json</code> and start the viewer with{' '}
          <code>--report report.json</code>.
        </p>
      </Notice>
    );
  }
  const [only] = reports;
  const id = route.report ?? (reports.length === 1 ? only?.id : undefined);
  return (
    <div className="sheet">
      <h1>Backtests</h1>
      {reports.length === 1 ? null : (
        <ul className="tags">
          {reports.map((report) => (
            <li key={report.id}>
              <Link className="button" to={{ page: 'reports', report: report.id }} isCurrent={report.id === id}>
                {safeLine(report.name)}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {id === undefined ? <p className="intro">Choose a report.</p> : <Report key={id} id={id} sources={sources} />}
    </div>
  );
}

function Report({ id, sources }: { readonly id: string; readonly sources: readonly SourceRow[] }): ReactElement {
  const loaded = useLoaded(`report ${id}`, () => getReport(id));
  if (loaded.error !== undefined) return <ErrorNotice error={loaded.error} onRetry={loaded.reload} />;
  if (loaded.value === undefined) return <Notice title="Loading…" />;
  return <ReportBody report={loaded.value} sources={sources} />;
}

function ReportBody(props: { readonly report: BacktestReport; readonly sources: readonly SourceRow[] }): ReactElement {
  const { report, sources } = props;
  const { input, configurations } = report;
  const known = useKnownRuns(report, sources);
  const figures: readonly (readonly [string, number])[] = [
    ['runs', input.runs],
    ['calls', input.calls],
    [report.truth === 'labels' ? 'labelled stuck' : 'failed', input.positive],
    [report.truth === 'labels' ? 'labelled fine' : 'succeeded', input.negative],
    ['nobody says', input.unlabelled],
  ];
  return (
    <>
      <p className="intro">
        {report.paths.map(safeLine).join(', ')} · {configurations.map(({ name }) => safeLine(name)).join(', ')}
      </p>
      <dl className="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{countText(value)}</dd>
          </div>
        ))}
      </dl>
      <div className="notes">
        {report.notes.map((note) => (
          <p key={note}>{safeLine(note)}</p>
        ))}
      </div>
      <GatesTable gates={report.gates} />
      {report.parts.map((part) =>
        part.byConfiguration.map((part_, at) => {
          const name = [
            ...(report.parts.length > 1 ? [part.name] : []),
            ...(configurations.length > 1 ? [configurations[at]?.name ?? ''] : []),
          ].join(', ');
          return <SignalsTable key={`${part.name} ${at}`} title={safeLine(name)} figures={part_} known={known} />;
        }),
      )}
      <SweepTable sweep={report.sweep} />
      <ComparisonTable comparison={report.comparison} />
      <PlacesTable comparison={report.comparison} />
    </>
  );
}
