import type { ReactElement } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import { inWords } from '../../records/words.ts';
import type { CohortAnswer } from '../server/cohort-shapes.ts';
import type { RunFilters } from './api.ts';
import { Empty } from './cohort-tables.tsx';
import { Link } from './link.tsx';
import { costText, shareOrDash } from './number-text.ts';

const WIDTH = 400;
const HEIGHT = 150;

/** Plots the calls saved and the successes lost by the number of calls after the warning. A slider selects a number. */
export function StopCurve(props: {
  readonly cohort: CohortAnswer;
  readonly stop: number;
  readonly onStop: (stop: number) => void;
}): ReactElement {
  const { calls, stops, succeeded } = props.cohort;
  const chosenStop = stops[Math.min(props.stop, stops.length - 1)];
  if (chosenStop === undefined || stops[0]?.stopped === 0)
    return <Empty cohort={props.cohort}>No run with a known outcome had a warning.</Empty>;
  const [mostSaved, mostLost] = [
    Math.max(1, ...stops.map(({ saved }) => saved)),
    Math.max(1, ...stops.map(({ lost }) => lost)),
  ];
  const x = (saved: number): number => 8 + (saved / mostSaved) * (WIDTH - 16);
  const y = (lost: number): number => HEIGHT - 8 - (lost / mostLost) * (HEIGHT - 34);
  const sentence = `Stopped ${chosenStop.after === 0 ? 'at once' : `${countOf(chosenStop.after, 'call')} later`}: ${countText(chosenStop.saved)} calls saved (${shareOrDash(calls === 0 ? null : chosenStop.saved / calls)} of all), ${countText(chosenStop.lost)} of ${countText(succeeded)} successes lost.`;
  return (
    <>
      <svg className="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={sentence}>
        <path className="axis" d={`M8 4V${HEIGHT - 8}H${WIDTH - 4}`} />
        <polyline points={stops.map(({ lost, saved }) => `${x(saved)},${y(lost)}`).join(' ')} />
        {stops.map(({ after, lost, saved }) => (
          <circle key={after} cx={x(saved)} cy={y(lost)} r={after === chosenStop.after ? 6 : 3} />
        ))}
        <text x={12} y={14}>
          ↑ successes lost, up to {countText(mostLost)}
        </text>
        <text x={WIDTH - 8} y={HEIGHT - 14} textAnchor="end">
          calls saved, up to {countText(mostSaved)} →
        </text>
      </svg>
      <label className="slider">
        Stop after
        <input
          type="range"
          min={0}
          max={stops.length - 1}
          value={chosenStop.after}
          onChange={(event) => props.onStop(Number(event.target.value))}
        />
        {countOf(chosenStop.after, 'call')}
      </label>
      <p role="status">{sentence}</p>
    </>
  );
}

const FATES = [
  ['repeated', 'made the very same call', '--bad'],
  ['same-failure', 'failed in the same way', '--stuck-mark'],
  ['other-failure', 'failed in another way', '--kind-note'],
  ['succeeded', 'next call succeeded', '--good'],
  ['open', 'no result on record', '--kind-poll'],
  ['none', 'the run ended there', '--line-strong'],
] as const;

/** A smaller part has no space for its figure. */
const LABELLED_SHARE = 0.08;

/** Shows which calls followed advice, with one bar per delivery. */
export function FateBars(props: { readonly cohort: CohortAnswer; readonly filters: RunFilters }): ReactElement {
  const arms = Object.entries(props.cohort.fates).sort(
    ([a], [b]) => Number(b === 'delivered') - Number(a === 'delivered'),
  );
  if (arms.length === 0) return <Empty cohort={props.cohort}>There was no advice in these runs.</Empty>;
  return (
    <>
      {arms.map(([arm, counts = {}]) => {
        const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
        const label = FATES.map(([fate, words]) => `${words} ${shareOrDash((counts[fate] ?? 0) / total)}`).join(', ');
        return (
          <div key={arm} className="fate">
            <Link to={{ page: 'runs', filters: { ...props.filters, advice: arm } }}>{inWords('delivery', arm)}</Link>{' '}
            <span className="dim">{countText(total)}</span>
            <div className="fate-bar" role="img" aria-label={label} title={label}>
              {FATES.map(([fate, , colour]) => {
                const share = (counts[fate] ?? 0) / total;
                return share === 0 ? null : (
                  // React's types do not include custom properties.
                  <span key={fate} style={{ flexGrow: share, ['--key' as string]: `var(${colour})` }}>
                    {share < LABELLED_SHARE ? '' : shareOrDash(share)}
                  </span>
                );
              })}
            </div>
          </div>
        );
      })}
      <p>
        {FATES.map(([fate, words, colour]) => (
          // React's types do not include custom properties.
          <span key={fate} className="key" style={{ ['--key' as string]: `var(${colour})` }}>
            {words}{' '}
          </span>
        ))}
      </p>
      <p>
        <Link to={{ page: 'runs', filters: { ...props.filters, advice: 'ignored' } }}>
          Runs where advice was ignored
        </Link>
      </p>
    </>
  );
}

/** Shows the cost of each day, and the part of it after the first warning. */
export function DayBars(props: { readonly cohort: CohortAnswer; readonly filters: RunFilters }): ReactElement {
  const { costUsd, days } = props.cohort;
  const isMoney = costUsd > 0;
  const maxAmount = Math.max(...days.map((day) => (isMoney ? day.costUsd : day.tokens)), 0);
  if (days.length === 0 || maxAmount === 0)
    return <Empty cohort={props.cohort}>The model's answers contain no cost.</Empty>;
  const text = (amount: number): string => (isMoney ? costText(amount) : countOf(amount, 'token'));
  return (
    <>
      <div className="days">
        {days.map((day) => {
          const [total, wasted] = isMoney ? [day.costUsd, day.wastedUsd] : [day.tokens, day.wastedTokens];
          const label = `${day.day}: ${text(total)}, ${text(wasted)} of it after the first warning, in ${countOf(day.runs, 'run')}`;
          return (
            <Link
              key={day.day}
              title={label}
              to={{ page: 'runs', filters: { ...props.filters, since: day.day, until: day.day } }}
            >
              <span className="visually-hidden">{label}</span>
              <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
                <rect
                  className="all"
                  y={100 - (100 * total) / maxAmount}
                  width={10}
                  height={(100 * total) / maxAmount}
                />
                <rect
                  className="wasted"
                  y={100 - (100 * wasted) / maxAmount}
                  width={10}
                  height={(100 * wasted) / maxAmount}
                />
              </svg>
            </Link>
          );
        })}
      </div>
      <p className="days-axis dim">
        <span>{days[0]?.day}</span>
        <span>at most {text(maxAmount)} a day</span>
        <span>{days.at(-1)?.day}</span>
      </p>
    </>
  );
}
