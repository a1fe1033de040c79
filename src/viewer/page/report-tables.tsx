import { Fragment, type ReactElement, type ReactNode } from 'react';

import type {
  ComparisonReport,
  GateReport,
  PartFigures,
  ShareReport,
  SignalReport,
  SweepReport,
} from '../../backtest/backtest-report.ts';
import { Link } from './link.tsx';
import { countText } from '../../base/number-text.ts';
import { shareOrDash } from './number-text.ts';
import { patternName } from './pattern-name.ts';
import { SignalMoments, type KnownRuns } from './report-moments.tsx';
import { safeLine } from './safe-text.ts';

const MAX_PLACES = 50;

/** Shows the gates of a backtest and their results. */
export function GatesTable({ gates }: { readonly gates: readonly GateReport[] }): ReactElement | null {
  if (gates.length === 0) return null;
  return (
    <Table title="Gates" head={['Gate', 'Result', 'Why']}>
      {gates.map(({ gate, passed, reason }) => (
        <tr key={gate}>
          <th scope="row">{gate}</th>
          <td>
            <span className={passed ? 'tag good' : 'tag bad'}>{passed ? 'holds' : 'fails'}</span>
          </td>
          <td>{safeLine(reason)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Shows the figures and examples of every provider and pattern. */
export function SignalsTable(props: {
  readonly title: string;
  readonly figures: PartFigures;
  readonly known: KnownRuns;
}): ReactElement {
  const { title, figures, known } = props;
  const titleSuffix = title === '' ? '' : `: ${title}`;
  return (
    <>
      <Signals title={`Advice${titleSuffix}`} signals={[figures.advice, ...figures.providers]} known={known} />
      <Signals title={`Advice by pattern and decision point${titleSuffix}`} signals={figures.details} known={known} />
      <Signals title={`Patterns${titleSuffix}`} signals={figures.patterns} known={known} />
    </>
  );
}

function Signals({
  title,
  signals,
  known,
}: {
  readonly title: string;
  readonly signals: readonly SignalReport[];
  readonly known: KnownRuns;
}): ReactElement | null {
  if (signals.length === 0) return null;
  const head = [
    'Rule',
    'Fired',
    'Runs',
    'Precision',
    'Recall',
    'False alarms',
    'F1',
    'Calls left, median',
    'Per 100 calls',
  ];
  return (
    <Table title={title} head={head}>
      {signals.map((signal) => (
        <Fragment key={JSON.stringify([signal.by, signal.name, signal.pattern, signal.point])}>
          <tr>
            <th scope="row">{nameOf(signal)}</th>
            <td className="number">{countText(signal.fired)}</td>
            <td className="number">{countText(signal.runs)}</td>
            <Share share={signal.precision} />
            <Share share={signal.recall} />
            <Share share={signal.falseRate} />
            <td className="number">{signal.f1 === null ? '—' : signal.f1.toFixed(2)}</td>
            <td className="number">{shareOrDash(signal.callsLeft.median)}</td>
            <td className="number">{signal.per100Calls === null ? '—' : signal.per100Calls.toFixed(1)}</td>
          </tr>
          <SignalMoments examples={signal.examples} columns={head.length} known={known} />
        </Fragment>
      ))}
    </Table>
  );
}

function nameOf(signal: SignalReport): ReactNode {
  if (signal.by === 'advice') return 'all advice';
  if (signal.by === 'provider') return safeLine(signal.name);
  if (signal.by === 'detail') {
    const pattern = typeof signal.pattern === 'string' ? patternName(signal.pattern) : 'no pattern';
    return (
      <>
        {safeLine(signal.name)} <span className="dim">{`${pattern}, ${patternName(signal.point ?? '')}`}</span>
      </>
    );
  }
  return <Link to={{ page: 'runs', filters: { pattern: signal.name } }}>{patternName(signal.name)}</Link>;
}

function Share({ share }: { readonly share: ShareReport }): ReactElement {
  const range = share.low === null ? '' : ` (95 %: ${shareOrDash(share.low)} to ${shareOrDash(share.high)})`;
  return (
    <td className="number" title={`${share.hits} of ${share.of}${range}`}>
      {shareOrDash(share.share)} <span className="dim">of {countText(share.of)}</span>
      <span className="bar" aria-hidden="true">
        <span style={{ width: `${100 * (share.share ?? 0)}%` }} />
      </span>
    </td>
  );
}

/** Shows the values of a sweep. */
export function SweepTable({ sweep }: { readonly sweep: SweepReport | undefined }): ReactElement | null {
  if (sweep === undefined) return null;
  return (
    <Table
      title={`Sweep of ${safeLine(sweep.field)}, for ${safeLine(sweep.signal.name)}, on ${sweep.part}`}
      head={['Value', 'Fired', 'Runs', 'Precision', 'Recall', 'False alarms', 'F1']}
    >
      {sweep.points.map((point) => (
        <tr key={point.value}>
          <th scope="row">{point.value}</th>
          <td className="number">{countText(point.fired)}</td>
          <td className="number">{countText(point.runs)}</td>
          <Share share={point.precision} />
          <Share share={point.recall} />
          <Share share={point.falseRate} />
          <td className="number">{point.f1 === null ? '—' : point.f1.toFixed(2)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Shows the changes under a second configuration, by provider. */
export function ComparisonTable(props: { readonly comparison: ComparisonReport | undefined }): ReactElement | null {
  const { comparison } = props;
  if (comparison === undefined) return null;
  return (
    <Table
      title={`What changes, in ${countText(comparison.changedRuns)} runs`}
      head={['Rule', 'Unchanged', 'Added', 'Removed', 'Moved']}
    >
      {[{ provider: 'all', ...comparison }, ...comparison.byProvider].map((row) => (
        <tr key={row.provider}>
          <th scope="row">{safeLine(row.provider)}</th>
          <td className="number">{countText(row.unchanged)}</td>
          <td className="number">{countText(row.added)}</td>
          <td className="number">{countText(row.removed)}</td>
          <td className="number">{countText(row.moved)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Shows the calls at which advice changed, with links to their runs. */
export function PlacesTable({
  comparison,
}: {
  readonly comparison: ComparisonReport | undefined;
}): ReactElement | null {
  if (comparison === undefined) return null;
  const { added, removed, moved } = comparison.places;
  const places = [
    ...added.map((place) => ({ place, what: 'added' })),
    ...removed.map((place) => ({ place, what: 'removed' })),
    ...moved.map((place) => ({ place, what: 'moved' })),
  ];
  if (places.length === 0) return null;
  return (
    <Table title="Moments" head={['Run', 'Call', 'Rule', 'Change']}>
      {places.slice(0, 3 * MAX_PLACES).map(({ place, what }) => (
        <tr key={`${what} ${place.run} ${place.call} ${place.provider}`}>
          <th scope="row">
            <Link to={{ page: 'moment', runId: place.run, call: (place.to ?? place.call) + 1 }}>
              {safeLine(place.run)}
            </Link>
          </th>
          <td className="number">{place.to === undefined ? place.call + 1 : `${place.call + 1} → ${place.to + 1}`}</td>
          <td>{safeLine(place.provider)}</td>
          <td>{what}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A table that scrolls horizontally if it is too wide. */
export function Table(props: {
  readonly title: string;
  readonly head: readonly string[];
  readonly children: ReactNode;
}): ReactElement {
  return (
    <section>
      <h2>{props.title}</h2>
      <div className="wide" tabIndex={0} role="region" aria-label={props.title}>
        <table>
          <thead>
            <tr>
              {props.head.map((name, at) => (
                <th key={name} scope="col" className={at === 0 || props.head.length < 5 ? undefined : 'number'}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{props.children}</tbody>
        </table>
      </div>
    </section>
  );
}
