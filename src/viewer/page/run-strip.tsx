import { memo, type ReactElement } from 'react';

const STEP = 3;
const HEIGHT = 18;

/** Vertical offset and height of a mark by kind. Errors are tall and successes are low. */
const MARKS: Readonly<Record<string, { readonly y: number; readonly height: number; readonly colour: string }>> = {
  '.': { y: 11, height: 3, colour: 'var(--kind-poll)' },
  x: { y: 5, height: 9, colour: 'var(--bad)' },
  '!': { y: 2, height: 12, colour: 'var(--stuck-mark)' },
  a: { y: 2, height: 12, colour: 'var(--advice)' },
};
const WORDS: readonly (readonly [string, string])[] = [
  ['x', 'with errors'],
  ['!', 'stuck'],
  ['a', 'with advice'],
];

/** Draws a small strip of the run, with its first call on the left. */
export const RunStrip = memo(function RunStrip({ strip }: { readonly strip: string }): ReactElement {
  const marks = strip.split('');
  const wordCounts = WORDS.map(
    ([mark, word]) => [marks.filter((otherMark) => otherMark === mark).length, word] as const,
  );
  const parts = wordCounts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const label = marks.length === 0 ? 'No calls' : `${marks.length} parts of the run: ${parts.join(', ') || 'all fine'}`;
  return (
    <svg
      className="strip"
      width="100%"
      height={HEIGHT}
      viewBox={`0 0 180 ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
    >
      <title>{label}</title>
      {marks.map((mark, at) => {
        const { y, height, colour } = MARKS[mark] ?? { y: 11, height: 3, colour: 'var(--kind-poll)' };
        // The position identifies a mark.
        return <rect key={at} x={at * STEP} y={y} width={2.2} height={height} rx={0.6} fill={colour} />;
      })}
    </svg>
  );
});
