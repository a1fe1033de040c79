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
  const below = new Map<string, ListedRow[]>();
  const roots: ListedRow[] = [];
  for (const row of rows) {
    const parent = row.parentRunId === undefined ? undefined : runKey({ source: row.source, runId: row.parentRunId });
    if (parent === undefined || parent === runKey(row) || !keys.has(parent)) {
      roots.push(row);
      continue;
    }
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [row]);
    else siblings.push(row);
  }
  const placed: PlacedRun[] = [];
  const seenKeys = new Set<string>();
  const placeRun = (run: ListedRow, depth: number): void => {
    const key = runKey(run);
    // A damaged source may contain cyclic parents, which would loop forever.
    if (seenKeys.has(key)) return;
    seenKeys.add(key);
    const children = below.get(key) ?? [];
    const isOpen = !closed.has(key);
    placed.push({ run, depth, children: children.length, isOpen });
    for (const child of children) {
      if (isOpen) placeRun(child, depth + 1);
      else hideRun(child);
    }
  };
  const hideRun = (run: ListedRow): void => {
    const key = runKey(run);
    if (seenKeys.has(key)) return;
    seenKeys.add(key);
    for (const child of below.get(key) ?? []) hideRun(child);
  };
  for (const root of roots) placeRun(root, 0);
  for (const row of rows) placeRun(row, 0);
  return placed;
}
