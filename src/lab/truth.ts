import { present } from '../core/base/json.ts';
import type { Label } from './labels.ts';
import type { RunRow } from './run-row.ts';

/** The expected result of a run: whether it went wrong, and its part of the split if a label names it. */
export interface RunTruth {
  readonly positive: boolean | null;
  readonly split?: string;
}

/** Looks up the expected result of runs, and tracks which labels were used. */
export interface TruthSource {
  readonly kind: 'outcomes' | 'labels';
  readonly of: (row: RunRow) => RunTruth;
  /** Returns the ids of labels that matched none of the runs looked up, in order. */
  readonly unknownIds: () => readonly string[];
}

/** A run is positive if it recorded failure and negative if it recorded success. Otherwise it is unlabelled. */
export function truthOfOutcomes(): TruthSource {
  return {
    kind: 'outcomes',
    of: ({ success }) => ({ positive: success === null ? null : !success }),
    unknownIds: () => [],
  };
}

/**
 * A run is positive if the run or any of its calls is labelled `stuck`. It is negative if all its labels are `ok`. Labels `skip` have no
 * effect, and recorded outcomes are ignored. The id of a label is the run's id, with `@CALL` appended for a single call.
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
