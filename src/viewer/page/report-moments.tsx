import type { ReactElement } from 'react';

import type { ExamplesReport, MomentReport } from '../../backtest/backtest-report.ts';
import { Link } from './link.tsx';
import { idTail, safeLine } from './safe-text.ts';

const MAX_ID_CHARS = 36;

/** The runs of a report that are known to be missing. */
export interface KnownRuns {
  /** Runs that no source contains. */
  readonly absent: ReadonlySet<string>;
}

/** False alarms come first, because they show best what is wrong with a rule. */
const KINDS: readonly (readonly [keyof ExamplesReport, string])[] = [
  ['negative', 'False alarms'],
  ['positive', 'In runs that went wrong'],
  ['unlabelled', 'In runs without an outcome'],
];

/** A row with links to the first firings of the rule above. Returns null without examples. */
export function SignalMoments(props: {
  readonly examples: ExamplesReport | undefined;
  /** Number of columns of the table. */
  readonly columns: number;
  readonly known: KnownRuns;
}): ReactElement | null {
  const { examples, columns, known } = props;
  if (examples === undefined) return null;
  const lists = KINDS.filter(([kind]) => examples[kind].length > 0);
  if (lists.length === 0) return null;
  return (
    <tr className="moments">
      <td colSpan={columns}>
        <div>
          {lists.map(([kind, name]) => (
            <div key={kind}>
              <span className="dim">{name}:</span>
              <ul aria-label={name}>
                {examples[kind].map((moment) => (
                  <li key={`${moment.run} ${moment.call}`}>
                    <Moment moment={moment} isAbsent={known.absent.has(moment.run)} />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      </td>
    </tr>
  );
}

function Moment({ moment, isAbsent }: { readonly moment: MomentReport; readonly isAbsent: boolean }): ReactElement {
  const { call, run, source } = moment;
  return (
    <>
      <Link to={{ page: 'moment', runId: run, call: call + 1 }} title={`${safeLine(run)}, of ${safeLine(source)}`}>
        <span className="mono">{idTail(run, MAX_ID_CHARS)}</span> call {call + 1}
      </Link>
      {isAbsent ? <span className="dim"> not here</span> : null}
    </>
  );
}
