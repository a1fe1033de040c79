import type { EffectRow } from './effect-row.ts';

/** A tree of runs that was drawn into an arm: a root run with those below it. */
export interface EffectTree {
  readonly withheld: boolean;
  /** Trees of one configuration and share: arms are compared within it. */
  readonly stratum: string;
  /** The run in which advice came up first; undefined where it never did. */
  readonly speaking: EffectRow | undefined;
  /** Providers that spoke of a flagged pattern, but not at the first moment of advice. */
  readonly later: ReadonlySet<string>;
}

/** The trees of runs that were drawn, in the order of `rows`. A run whose parents are not there stands at the root. */
export function effectTrees(rows: readonly EffectRow[]): readonly EffectTree[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const groups = new Map<string, EffectRow[]>();
  for (const row of rows) {
    if (row.steering?.mode !== 'steer' || row.steering.holdout === null) continue;
    const root = rootOf(row, byId);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [row]);
    else group.push(row);
  }
  return [...groups.values()].flatMap(treeOf);
}

function treeOf(group: readonly EffectRow[]): readonly EffectTree[] {
  const speaking = group
    .filter(({ first }) => first !== undefined)
    .sort((left, right) => (left.first?.atMs ?? 0) - (right.first?.atMs ?? 0))[0];
  const { configuration, holdout = null } = (speaking ?? group[0])?.steering ?? {};
  if (configuration === undefined || holdout === null) return [];
  const there = new Set(speaking === undefined ? [] : providersOf(speaking));
  const later = new Set(speaking?.later);
  for (const row of group) {
    if (row === speaking) continue;
    for (const provider of row.later) later.add(provider);
    for (const provider of providersOf(row)) later.add(provider);
  }
  for (const provider of there) later.delete(provider);
  return [{ withheld: holdout.withheld, stratum: `${configuration} ${holdout.share}`, speaking, later }];
}

function providersOf({ first }: EffectRow): readonly string[] {
  return (first?.pieces ?? []).map(({ providerName }) => providerName);
}

function rootOf(row: EffectRow, byId: ReadonlyMap<string, EffectRow>): string {
  const seen = new Set<string>();
  let { id, parent } = row;
  // Records from outside may name parents in a circle.
  while (parent !== null && !seen.has(parent)) {
    seen.add(parent);
    id = parent;
    parent = byId.get(parent)?.parent ?? null;
  }
  return id;
}
