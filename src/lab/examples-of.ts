import { hashText } from '../core/base/hash.ts';
import type { ExamplesReport, MomentReport } from './backtest-report.ts';

/** Maximum number of examples of each kind. Three show whether a rule is wrong and are quick to read. */
const MAX_EXAMPLES = 3;

export interface ExampleRun {
  readonly id: string;
  /** The path from which the run was read. */
  readonly source: string;
  /** Null if unknown. */
  readonly positive: boolean | null;
}

interface Ranked {
  readonly index: number;
  readonly rank: string;
}

/**
 * Selects examples of a signal's first firings, grouped by the outcome of their runs. It selects the runs with the smallest id hashes.
 * The examples are therefore spread over the whole input and are the same every time.
 *
 * @param first  for each run with a firing: its index in `runs`, and the call of its first firing
 * Cost: one hash per run with a firing.
 */
export function examplesOf(runs: readonly ExampleRun[], first: ReadonlyMap<number, number>): ExamplesReport {
  const examples = { negative: [] as Ranked[], positive: [] as Ranked[], unlabelled: [] as Ranked[] };
  for (const index of first.keys()) {
    const run = runs[index];
    if (run === undefined) continue;
    const kind = run.positive === null ? 'unlabelled' : run.positive ? 'positive' : 'negative';
    keepSmallest(examples[kind], { index, rank: hashText(run.id) });
  }
  const moments = (ranked: readonly Ranked[]): readonly MomentReport[] =>
    ranked.flatMap(({ index }) => {
      const run = runs[index];
      return run === undefined ? [] : [{ run: run.id, call: first.get(index) ?? 0, source: run.source }];
    });
  return {
    negative: moments(examples.negative),
    positive: moments(examples.positive),
    unlabelled: moments(examples.unlabelled),
  };
}

function keepSmallest(list: Ranked[], one: Ranked): void {
  const place = list.findIndex((other) => isBefore(one, other));
  list.splice(place < 0 ? list.length : place, 0, one);
  if (list.length > MAX_EXAMPLES) list.pop();
}

/** Compares by rank, then by input order. */
function isBefore(left: Ranked, right: Ranked): boolean {
  return left.rank < right.rank || (left.rank === right.rank && left.index < right.index);
}
