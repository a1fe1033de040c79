import { useMemo, useState, type MouseEvent, type ReactElement } from 'react';

import { countOf, countText, usdText } from '../../core/base/number-text.ts';
import type { Overview } from '../server/api-shapes.ts';
import { clockText } from './number-text.ts';

const HEIGHT = 28;
const COLUMNS = 240;
/** A click this far from a mark, as a share of the width, goes to the mark. */
const REACH = 0.008;

export function Strip(props: {
  readonly overview: Overview;
  readonly selected: number | undefined;
  readonly onGo: (seq: number) => void;
}): ReactElement {
  const { onGo, overview, selected } = props;
  const [hovered, setHovered] = useState<number>();
  const count = Math.max(1, overview.nextSeq);
  const columns = useMemo(() => columnsOf(overview), [overview]);
  const marks = useMemo(() => marksOf(overview), [overview]);
  const seqAt = (event: MouseEvent): number => Math.min(count - 1, Math.floor(shareOf(event) * count));
  const go = (event: MouseEvent): void => {
    const seq = seqAt(event);
    const distance = (mark: number): number => Math.abs(mark - seq);
    const [mark] = marks
      .filter((one) => distance(one) <= REACH * count)
      .sort((one, other) => distance(one) - distance(other));
    onGo(mark ?? seq);
  };
  const percent = (seq: number): string => `${(100 * seq) / count}%`;
  return (
    <div className="strip-row">
      <svg
        className="run-strip"
        height={HEIGHT}
        role="img"
        aria-label={describeStrip(overview)}
        onClick={go}
        onMouseMove={(event) => setHovered(seqAt(event))}
        onMouseLeave={() => setHovered(undefined)}
      >
        {columns.map(({ cost, errors }, at) => (
          // The position identifies a column.
          <g key={at}>
            {cost === 0 ? null : (
              <rect
                className="cost"
                x={`${(100 * at) / columns.length}%`}
                width={`${100 / columns.length}%`}
                y={HEIGHT - 4 - cost * 16}
                height={cost * 16}
              />
            )}
            {errors === 0 ? null : (
              <rect
                className="bad"
                x={`${(100 * at) / columns.length}%`}
                width={`${80 / columns.length}%`}
                y={18}
                height={6}
              />
            )}
          </g>
        ))}
        {overview.patterns.map(({ fromSeq, identity, stuck, toSeq }) => (
          <rect
            key={`${identity} ${fromSeq}`}
            className={stuck ? 'stuck' : 'pattern'}
            x={percent(fromSeq)}
            width={percent(Math.max(count / 400, (toSeq ?? count) - fromSeq))}
            y={HEIGHT - 4}
            height={3}
          />
        ))}
        {overview.prompts.map(({ seq }) => (
          <rect key={seq} className="prompt" x={percent(seq)} width={1.5} y={0} height={HEIGHT} />
        ))}
        {overview.advice.map(({ delivered, seq }) => (
          <circle
            key={seq}
            className={delivered === true ? 'advice' : 'advice unsaid'}
            cx={percent(seq)}
            cy={5}
            r={3.5}
          />
        ))}
        {selected === undefined ? null : (
          <rect className="selected" x={percent(selected)} width={2} y={0} height={HEIGHT} />
        )}
      </svg>
      <span className="place dim" aria-hidden="true">
        {placeText(overview, hovered ?? selected)}
      </span>
    </div>
  );
}

function shareOf(event: MouseEvent): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(1, (event.clientX - left) / Math.max(1, width)));
}

interface Column {
  /** Cost or tokens, relative to the dearest column. */
  readonly cost: number;
  readonly errors: number;
}

function columnsOf({ buckets, costUsd, errors: failed, nextSeq, seqsPerBucket, tokens }: Overview): readonly Column[] {
  const count = Math.min(COLUMNS, buckets);
  const list = costUsd.some((usd) => usd > 0) ? costUsd : tokens;
  const columns = Array.from({ length: count }, () => ({ cost: 0, errors: 0 }));
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const column = columns[Math.min(count - 1, Math.floor((bucket * seqsPerBucket * count) / Math.max(1, nextSeq)))];
    if (column === undefined) continue;
    column.cost += list[bucket] ?? 0;
    column.errors += failed[bucket] ?? 0;
  }
  const most = Math.max(...columns.map(({ cost }) => cost), Number.MIN_VALUE);
  return columns.map(({ cost, errors }) => ({ cost: cost / most, errors }));
}

function marksOf({ advice, patterns, prompts }: Overview): readonly number[] {
  const places = patterns.map(({ flaggedSeq, fromSeq }) => flaggedSeq ?? fromSeq);
  return [...places, ...[...advice, ...prompts].map(({ seq }) => seq)];
}

function placeText(overview: Overview, seq: number | undefined): string {
  if (seq === undefined) return '';
  const bucket = Math.min(overview.buckets - 1, Math.floor(seq / overview.seqsPerBucket));
  const call = (overview.firstCall[bucket] ?? 0) + ((overview.calls[bucket] ?? 0) > 0 ? 1 : 0);
  const sumUntil = (list: readonly number[]): number =>
    list.slice(0, bucket + 1).reduce((sum, value) => sum + value, 0);
  const [costUsd, tokens] = [sumUntil(overview.costUsd), sumUntil(overview.tokens)];
  const parts = [
    clockText(overview.atMs[bucket] ?? 0),
    ...(call === 0 ? [] : [`call ${countText(call)}`]),
    ...(tokens === 0 ? [] : [`${countText(tokens)} tokens so far, cached included`]),
    ...(costUsd === 0 ? [] : [usdText(costUsd)]),
  ];
  return parts.join(' · ');
}

function describeStrip({ advice, errors, patterns, prompts }: Overview): string {
  const errorCount = errors.reduce((sum, count) => sum + count, 0);
  const stuckCount = patterns.filter((pattern) => pattern.stuck).length;
  const unsaid = advice.filter(({ delivered }) => delivered !== true).length;
  return `The run in one strip: ${countOf(prompts.length, 'prompt')}, ${countOf(errorCount, 'error')}, ${countOf(patterns.length, 'pattern')} of which ${stuckCount} say stuck, ${countOf(advice.length, 'piece')} of advice${unsaid === 0 ? '' : `, ${unsaid} not known as said`}.`;
}
