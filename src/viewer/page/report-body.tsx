import type { ReactElement } from 'react';

import type { BacktestReport } from '../../backtest/backtest-report.ts';
import { countText } from '../../base/number-text.ts';
import type { SourceRow } from '../server/api-shapes.ts';
import { ComparisonTable, GatesTable, PlacesTable, SignalsTable, SweepTable } from './report-tables.tsx';
import { safeLine } from './safe-text.ts';
import { useKnownRuns } from './use-known-runs.ts';

/** Shows a backtest report: its input, the changes, then the figures of each signal. */
export function ReportBody(props: {
  readonly report: BacktestReport;
  readonly sources: readonly SourceRow[];
}): ReactElement {
  const { report, sources } = props;
  const { input, configurations } = report;
  const knownRuns = useKnownRuns(report, sources);
  const figures: readonly (readonly [string, number])[] = [
    ['runs', input.runs],
    ['calls', input.calls],
    [report.truth === 'labels' ? 'labelled stuck' : 'failed', input.positive],
    [report.truth === 'labels' ? 'labelled fine' : 'succeeded', input.negative],
    ['no outcome', input.unlabelled],
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
      <ComparisonTable comparison={report.comparison} />
      <PlacesTable comparison={report.comparison} />
      <SweepTable sweep={report.sweep} />
      {report.parts.map((part) =>
        part.byConfiguration.map((part_, at) => {
          const name = [
            ...(report.parts.length > 1 ? [part.name] : []),
            ...(configurations.length > 1 ? [configurations[at]?.name ?? ''] : []),
          ].join(', ');
          return <SignalsTable key={`${part.name} ${at}`} title={safeLine(name)} figures={part_} known={knownRuns} />;
        }),
      )}
    </>
  );
}
