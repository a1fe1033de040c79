import { useSyncExternalStore, type ReactElement } from 'react';

import { countOf, countText } from '../../core/base/number-text.ts';
import type { ListedRow } from '../server/api-shapes.ts';
import { DamageNotice } from './notice.tsx';
import type { RecordPages } from './record-pages.ts';

/** States which part of a damaged run is missing. */
export function RunDamage({
  pages,
  run,
}: {
  readonly pages: RecordPages;
  readonly run: ListedRow;
}): ReactElement | null {
  const damage = useSyncExternalStore(pages.subscribe, () => pages.damage);
  if (damage !== undefined) {
    const { problem, seq } = damage;
    const records = `${countText(seq)} of ${countOf(pages.lastSeq + 1, 'record')}`;
    return <DamageNotice text={`The run is shown up to its first damaged record (${records}): ${problem.message}`} />;
  }
  return run.problem === undefined ? null : (
    <DamageNotice text={`This run cannot be read to its end: ${run.problem}`} />
  );
}
