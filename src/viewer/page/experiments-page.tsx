import type { ReactElement } from 'react';

import type { SourceRow } from '../server/api-shapes.ts';
import { getReport, getReports } from './api.ts';
import { Link } from './link.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { ReportBody } from './report-body.tsx';
import type { Route } from './route.ts';
import { safeLine } from './safe-text.ts';
import { TryConfiguration } from './try-configuration.tsx';
import { useLoaded } from './use-loaded.ts';

/** The page that tries a configuration on the runs and shows the backtest reports passed to the viewer. */
export function ExperimentsPage(props: {
  readonly route: Extract<Route, { page: 'experiments' }>;
  readonly sources: readonly SourceRow[];
}): ReactElement {
  const { route, sources } = props;
  return (
    <div className="sheet">
      <h1 className="visually-hidden">Experiments</h1>
      <TryConfiguration route={route} sources={sources} />
      <Reports route={route} sources={sources} />
    </div>
  );
}

function Reports(props: Parameters<typeof ExperimentsPage>[0]): ReactElement | null {
  const { route, sources } = props;
  const list = useLoaded('reports', getReports);
  if (list.error !== undefined) return <ErrorNotice error={list.error} onRetry={list.reload} />;
  const { reports = [] } = list.value ?? {};
  if (reports.length === 0) return null;
  const [only] = reports;
  const id = route.report ?? (reports.length === 1 ? only?.id : undefined);
  return (
    <>
      <h2>Backtest reports</h2>
      {reports.length === 1 ? null : (
        <ul className="tags">
          {reports.map((report) => (
            <li key={report.id}>
              <Link className="button" to={{ ...route, report: report.id }} isCurrent={report.id === id}>
                {safeLine(report.name)}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {id === undefined ? <p className="intro">Choose a report.</p> : <Report key={id} id={id} sources={sources} />}
    </>
  );
}

function Report({ id, sources }: { readonly id: string; readonly sources: readonly SourceRow[] }): ReactElement {
  const loadedReport = useLoaded(`report ${id}`, () => getReport(id));
  if (loadedReport.error !== undefined) return <ErrorNotice error={loadedReport.error} onRetry={loadedReport.reload} />;
  if (loadedReport.value === undefined) return <Notice title="Loading…" />;
  return <ReportBody report={loadedReport.value} sources={sources} />;
}
