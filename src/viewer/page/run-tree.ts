import type { ListedRow } from '../server/api-shapes.ts';
import { runKey } from './route.ts';

export interface PlacedRun {
  readonly run: ListedRow;
  readonly depth: number;
  readonly children: number;
  readonly isOpen: boolean;
}

/** The order of the list stays. A child whose parent is not listed is a root. */
export function placeRuns(rows: readonly ListedRow[], closed: ReadonlySet<string>): readonly PlacedRun[] {
  const keys = new Set(rows.map(runKey));
  const below = Map.groupBy(rows, ({ parentRunId, runId, source }) => {
    if (parentRunId === undefined || parentRunId === runId) return undefined;
    const parent = runKey({ source, runId: parentRunId });
    return keys.has(parent) ? parent : undefined;
  });
  const placed: PlacedRun[] = [];
  const seenKeys = new Set<string>();
  const placeRun = (run: ListedRow, depth: number, isShown: boolean): void => {
    const key = runKey(run);
    // A damaged source may contain cyclic parents, which would loop forever.
    if (seenKeys.has(key)) return;
    seenKeys.add(key);
    const children = below.get(key) ?? [];
    const isOpen = !closed.has(key);
    if (isShown) placed.push({ run, depth, children: children.length, isOpen });
    for (const child of children) placeRun(child, depth + 1, isShown && isOpen);
  };
  for (const root of [...(below.get(undefined) ?? []), ...rows]) placeRun(root, 0, true);
  return placed;
}
