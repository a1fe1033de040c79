import type { ReactElement } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import { inWords } from '../../records/words.ts';
import type { CohortAnswer } from '../server/cohort-shapes.ts';
import type { RunFilters } from './api.ts';
import { Empty } from './cohort-tables.tsx';
import { Link } from './link.tsx';
import { costText, shareOrDash } from './number-text.ts';

const WIDTH = 400;
const HEIGHT = 190;
/** Space for the figures at the axes. */
const LEFT = 42;
const BOTTOM = HEIGHT - 34;
const TOP = 30;
const RIGHT = WIDTH - 16;
/** Minimum distance between two points with figures, and from the first to the next. */
const POINT_GAP = 24;
const FIRST_GAP = 56;

/** Plots the share of calls saved and of successes lost by the number of calls after the warning. A slider selects a number. */
export function StopCurve(props: {
  readonly cohort: CohortAnswer;
  readonly stop: number;
  readonly onStop: (stop: number) => void;
}): ReactElement {
  const { calls, stops, succeeded } = props.cohort;
  const chosenStop = stops[Math.min(props.stop, stops.length - 1)];
  if (chosenStop === undefined || stops[0]?.stopped === 0)
    return <Empty cohort={props.cohort}>No run with a known outcome had a warning.</Empty>;
  const savedShare = (saved: number): number => saved / Math.max(1, calls);
  const lostShare = (lost: number): number => lost / Math.max(1, succeeded);
  const savedTicks = axisTicks(Math.max(...stops.map(({ saved }) => savedShare(saved))));
  const lostTicks = axisTicks(Math.max(...stops.map(({ lost }) => lostShare(lost))));
  const x = (share: number): number => LEFT + (share / (savedTicks.at(-1) ?? 1)) * (RIGHT - LEFT);
  const y = (share: number): number => BOTTOM - (share / (lostTicks.at(-1) ?? 1)) * (BOTTOM - TOP);
  const points = stops.map((stop) => ({ ...stop, x: x(savedShare(stop.saved)), y: y(lostShare(stop.lost)) }));
  // From the earliest stop, which saves most.
  let nextX = Infinity;
  const named = points.filter(({ after, ...at }) => {
    if (at.x > nextX) return false;
    nextX = at.x - (after === 0 ? FIRST_GAP : POINT_GAP);
    return true;
  });
  const sentence = `Stopped ${chosenStop.after === 0 ? 'at once' : `${countOf(chosenStop.after, 'call')} later`}: ${countText(chosenStop.saved)} calls saved (${shareOrDash(calls === 0 ? null : chosenStop.saved / calls)} of all), ${countText(chosenStop.lost)} of ${countText(succeeded)} successes lost.`;
  return (
    <>
      <svg className="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={sentence}>
        {lostTicks.map((share) => (
          <g key={share}>
            <path className="axis" d={`M${LEFT} ${y(share)}H${RIGHT}`} />
            <text x={LEFT - 4} y={y(share) + 3} textAnchor="end">
              {shareOrDash(share)}
            </text>
          </g>
        ))}
        {savedTicks.map((share) => (
          <g key={share}>
            <path className="axis" d={`M${x(share)} ${TOP}V${BOTTOM}`} />
            <text x={x(share)} y={BOTTOM + 13} textAnchor="middle">
              {shareOrDash(share)}
            </text>
          </g>
        ))}
        <polyline points={points.map((point) => `${point.x},${point.y}`).join(' ')} />
        {points.map((point) => (
          <circle key={point.after} cx={point.x} cy={point.y} r={point.after === chosenStop.after ? 5 : 2.5} />
        ))}
        {named.map(({ after, ...at }) => (
          <text key={after} className="name" x={at.x} y={at.y - 8} textAnchor={after === 0 ? 'end' : 'middle'}>
            {after === 0 ? 'at once' : `+${after}`}
          </text>
        ))}
        <text x={4} y={12}>
          ↑ successes lost
        </text>
        <text x={RIGHT} y={HEIGHT - 4} textAnchor="end">
          calls saved, share of all →
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

/** Returns two to six round figures from 0 to at least `max`. */
function axisTicks(max: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(max || 1));
  const step = power * ([0.2, 0.5, 1, 2].find((factor) => max / power / factor <= 5) ?? 2);
  return Array.from({ length: 1 + Math.max(1, Math.ceil(max / step - 1e-9)) }, (_, index) => index * step);
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

/** Maximum number of bars. With more days, a bar covers several of them. */
const MAX_BARS = 20;

/** Shows the cost of each day or of a few days, and the part of it after the first warning. Without any cost, it shows tokens. */
export function DayBars(props: { readonly cohort: CohortAnswer; readonly filters: RunFilters }): ReactElement {
  const { costUsd, days } = props.cohort;
  const amounts = days.map(({ day, runs, ...of }) => ({
    day,
    runs,
    total: costUsd > 0 ? of.costUsd : of.tokens,
    wasted: costUsd > 0 ? of.wastedUsd : of.wastedTokens,
  }));
  const firstIndex = amounts.findIndex(({ total }) => total > 0);
  if (firstIndex < 0) return <Empty cohort={props.cohort}>The model's answers contain no cost.</Empty>;
  const daysPerBar = Math.ceil((amounts.length - firstIndex) / MAX_BARS);
  const bars: (typeof amounts)[] = [];
  for (let end = amounts.length; end > firstIndex; end -= daysPerBar)
    bars.unshift(amounts.slice(Math.max(0, end - daysPerBar), end));
  const sumOf = (bar: typeof amounts, name: 'total' | 'wasted' | 'runs'): number =>
    bar.reduce((sum, day) => sum + day[name], 0);
  const maxAmount = Math.max(...bars.map((bar) => sumOf(bar, 'total')));
  const text = (amount: number): string => (costUsd > 0 ? costText(amount) : countOf(amount, 'token'));
  const [since, until] = [bars[0]?.[0]?.day ?? '', amounts.at(-1)?.day ?? ''];
  return (
    <>
      <div className="days">
        {bars.map((bar) => {
          const [first = '', last = ''] = [bar[0]?.day, bar.at(-1)?.day];
          const period = first === last ? first : `${first} to ${last}`;
          const label = `${period}: ${text(sumOf(bar, 'total'))}, ${text(sumOf(bar, 'wasted'))} of it after the first warning, in ${countOf(sumOf(bar, 'runs'), 'run')}`;
          return (
            <Link
              key={first}
              title={label}
              to={{ page: 'runs', filters: { ...props.filters, since: first, until: last } }}
            >
              <span className="visually-hidden">{label}</span>
              <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
                {(['total', 'wasted'] as const).map((name) => {
                  const height = (100 * sumOf(bar, name)) / maxAmount;
                  return <rect key={name} className={name} y={100 - height} width={10} height={height} />;
                })}
              </svg>
            </Link>
          );
        })}
      </div>
      <p className="days-axis dim">
        <span>{since}</span>
        <span>
          at most {text(maxAmount)} {daysPerBar === 1 ? 'a day' : `in ${daysPerBar} days`}
        </span>
        <span>{until}</span>
      </p>
    </>
  );
}
