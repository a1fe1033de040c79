import { countOf, countText } from '../../core/base/number-text.ts';
import { costText } from '../../core/facts/usage-text.ts';
import type { RunsAnswer, SourceRow } from '../server/api-shapes.ts';

/** The line of totals. It names everything that the totals leave out. */
export function totalsText(
  sums: Omit<RunsAnswer, 'runs' | 'next'> | undefined,
  sources: readonly Pick<SourceRow, 'indexing' | 'name' | 'runs' | 'truncated'>[],
): string {
  if (sums === undefined) return 'Loading…';
  const { costUsd, damaged, groups, notIndexed, notLookedAt, pending, total, withoutPrice } = sums;
  const reading = sources.flatMap(({ indexing }) => indexing ?? []);
  // A store may still be listed or searched.
  const isOpen = pending > 0 && notLookedAt + reading.length === 0;
  const isLeast = sums.isLeast || isOpen || notLookedAt + damaged + reading.length > 0;
  return [
    countOf(total, 'run'),
    ...(costUsd > 0 ? [costText(costUsd, isLeast)] : []),
    ...(groups.needs > 0 ? [`${countText(groups.needs)} ${groups.needs === 1 ? 'needs' : 'need'} you`] : []),
    ...(notLookedAt > 0 ? [`${countText(notLookedAt)} not read yet`] : []),
    ...(isOpen ? ['still reading'] : []),
    ...(withoutPrice > 0 ? [`${countText(withoutPrice)} without a price`] : []),
    ...(damaged > 0 ? [`${countText(damaged)} damaged`] : []),
    ...reading.map(({ done, files }) =>
      files === 0 ? 'looking for files' : `${countText(done)} of ${countOf(files, 'file')} read`,
    ),
    ...sources.flatMap(({ name, runs, truncated }) =>
      truncated === true ? [`only the newest ${countText(runs)} of ${name}`] : [],
    ),
    ...(notIndexed > 0 ? [`${countOf(notIndexed, 'record')} not searched yet`] : []),
  ].join(', ');
}
