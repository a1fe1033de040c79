import { present } from '../base/present.ts';
import type { Label } from './labels.ts';
import type { RunRow } from './run-row.ts';

/** What is known of a run: whether it went wrong, and the part of the split it belongs to where the labels say so. */
export interface RunTruth {
  readonly positive: boolean | null;
  readonly split?: string;
}

/** What is known of runs, and which labels were used. */
export interface TruthSource {
  readonly kind: 'outcomes' | 'labels';
  readonly of: (row: RunRow) => RunTruth;
  /** Ids of labels that belong to no run asked about so far, in their order. */
  readonly unknownIds: () => readonly string[];
}

/** A run is positive where it recorded that it failed, negative where it succeeded, and unlabelled where it does not say. */
export function truthOfOutcomes(): TruthSource {
  return {
    kind: 'outcomes',
    of: ({ success }) => ({ positive: success === null ? null : !success }),
    unknownIds: () => [],
  };
}

/**
 * A run is positive where it or a moment of it is labelled `stuck`, negative where it has labels and all of them are `ok`;
 * `skip` says nothing. Outcomes do not count. A label's id is a run's id, or one with `@CALL` behind it for a moment.
 */
export function truthOfLabels(labels: readonly Label[]): TruthSource {
  const byId = new Map<string, Label[]>();
  for (const label of labels) {
    const list = byId.get(label.id);
    if (list === undefined) byId.set(label.id, [label]);
    else list.push(label);
  }
  const byRun = new Map<string, string[]>();
  for (const id of byId.keys()) {
    const run = id.replace(/@\d+$/, '');
    byRun.set(run, [...(byRun.get(run) ?? []), id]);
  }
  const unknown = new Set(byId.keys());
  return {
    kind: 'labels',
    of: ({ id }) => {
      const ids = new Set([...(byRun.get(id) ?? []), ...(byId.has(id) ? [id] : [])]);
      for (const used of ids) unknown.delete(used);
      return joined([...ids].flatMap((used) => byId.get(used) ?? []));
    },
    unknownIds: () => [...unknown],
  };
}

function joined(labels: readonly Label[]): RunTruth {
  const targets = new Set(labels.map(({ target }) => target));
  const positive = targets.has('stuck') ? true : targets.has('ok') ? false : null;
  const split = labels.find((label) => label.split !== '')?.split;
  return { positive, ...present({ split }) };
}
