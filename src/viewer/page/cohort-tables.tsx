import type { ReactElement, ReactNode } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import type { CohortAnswer, RunMoment, PatternCost } from '../server/cohort-shapes.ts';
import type { RunFilters } from './api.ts';
import { FilterTag } from './filter-tag.tsx';
import { Link } from './link.tsx';
import { shareOrDash } from './number-text.ts';
import { patternName } from './pattern-name.ts';
import { idTail, safeLine } from './safe-text.ts';
import { warningParts } from '../server/warning-key.ts';

const MAX_ID_CHARS = 15;

/** States that a panel has no figures, or none yet while runs are still being read. */
export function Empty(props: { readonly cohort: CohortAnswer; readonly children: ReactNode }): ReactElement {
  const { pending, seen } = props.cohort;
  return <p>{pending > 0 ? `None in the ${countOf(seen, 'run')} read so far.` : props.children}</p>;
}

/** Shows the patterns, the outcomes of their runs, and examples. */
export function PatternTable(props: { readonly cohort: CohortAnswer; readonly filters: RunFilters }): ReactElement {
  const { patterns } = props.cohort;
  if (patterns.length === 0) return <Empty cohort={props.cohort}>No pattern was flagged in these runs.</Empty>;
  const maxCallsAfter = Math.max(1, ...patterns.map(({ callsAfter }) => callsAfter));
  return (
    <div className="wide">
      <table>
        <thead>
          <tr>
            <th>Pattern</th>
            <th className="number">Runs</th>
            <th className="number">Succeeded</th>
            <th>Begins at call</th>
            <th className="number">Calls after it</th>
            <th>Examples</th>
          </tr>
        </thead>
        <tbody>
          {patterns.map((cost) => (
            <tr key={cost.kind}>
              <td>
                <FilterTag className="stuck" filters={{ ...props.filters, pattern: cost.kind }} title="Its runs">
                  {patternName(cost.kind)}
                </FilterTag>
              </td>
              <td className="number">{countText(cost.runs)}</td>
              <td className="number">
                <span className={isShort(cost) ? 'bad' : undefined}>
                  {shareOrDash(cost.judged === 0 ? null : cost.succeeded / cost.judged)}
                </span>{' '}
                <span className="dim">vs {shareOrDash(cost.expected)}</span>
              </td>
              <td>
                <Begins cost={cost} />
              </td>
              <td className="number">
                {countText(cost.callsAfter)}
                <svg className="bar-line" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(100 * cost.callsAfter) / maxCallsAfter} height={4} />
                </svg>
              </td>
              <td>
                <span className="examples">
                  {cost.examples.map((moment) => (
                    <MomentLink key={moment.runId} moment={moment} />
                  ))}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** True if the runs with the pattern succeeded less often than those without it. */
function isShort({ expected, judged, succeeded }: PatternCost): boolean {
  return expected !== null && succeeded < expected * judged;
}

/** Draws a histogram of the call at which a pattern was flagged: up to call 2, 5, 10, 20, 50, 100, 200, and later. */
function Begins({ cost: { begins } }: { readonly cost: PatternCost }): ReactElement {
  const maxCount = Math.max(1, ...begins);
  const label = `By call 2: ${begins[0] ?? 0} runs; 5: ${begins[1] ?? 0}; 10: ${begins[2] ?? 0}; 20: ${begins[3] ?? 0}; 50: ${begins[4] ?? 0}; later: ${begins.slice(5).reduce((all, one) => all + one, 0)}`;
  return (
    <svg className="begins" viewBox="0 0 64 18" role="img">
      <title>{label}</title>
      {begins.map((count, at) => (
        // The position identifies a column.
        <rect key={at} x={at * 8} y={18 - (17 * count) / maxCount} width={7} height={(17 * count) / maxCount} />
      ))}
    </svg>
  );
}

/** Shows clusters of similar stuck runs. Each leads to its runs, and an example to the first warning. */
export function ClusterTable(props: { readonly cohort: CohortAnswer; readonly filters: RunFilters }): ReactElement {
  const { cohort, filters } = props;
  const { clusters } = cohort;
  if (clusters.length === 0) return <Empty cohort={cohort}>No run was stuck.</Empty>;
  return (
    <div className="wide">
      <table>
        <thead>
          <tr>
            <th>First warning</th>
            <th className="number">Runs</th>
            <th className="number">Calls after</th>
            <th>Failed with</th>
            <th>Example</th>
          </tr>
        </thead>
        <tbody>
          {clusters.map(({ calls, example, key, runs }) => {
            const { kind, line, tool } = warningParts(key);
            const its = { page: 'runs', filters: { ...filters, stuck: key } } as const;
            return (
              <tr key={key}>
                <td>
                  <Link className="tag stuck" to={its} title="Its runs">
                    {patternName(kind)}
                  </Link>
                </td>
                <td className="number">
                  <Link to={its}>{countText(runs)}</Link>
                </td>
                <td className="number">{countText(calls)}</td>
                <td className="long">
                  {tool === undefined ? null : <span className="mono dim">{safeLine(tool)} </span>}
                  {line === undefined ? (
                    <span className="dim">no failure</span>
                  ) : (
                    <Link className="mono" to={its} title="Its runs">
                      {safeLine(line)}
                    </Link>
                  )}
                </td>
                <td>
                  <MomentLink moment={example} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function MomentLink({ moment: { call, runId } }: { readonly moment: RunMoment }): ReactElement {
  return (
    <Link className="mono moment" to={{ page: 'moment', runId, call }} title={`${safeLine(runId)}, call ${call}`}>
      {idTail(runId, MAX_ID_CHARS)}
    </Link>
  );
}
