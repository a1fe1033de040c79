import { RunIds } from '../formats/run-ids.ts';
import { FiringKeys, type FiringKey, type RunRow, type ShardProblem, type ShardResult } from './run-row.ts';

/** What came of one shard, and the path it was read from. */
interface ReadShard {
  readonly path: string;
  readonly result: ShardResult;
}

/** A run with the path it was read from. */
export interface JoinedRow extends RunRow {
  readonly source: string;
}

/** All shards as one. */
export interface JoinedRuns {
  readonly keys: readonly FiringKey[];
  /** With ids that are unique among all, in the order of the input. */
  readonly rows: readonly JoinedRow[];
  readonly problems: readonly ShardProblem[];
}

/** Joins what came of shards, in their order, so that it does not matter who did which and when. */
export function joinShards(shards: readonly ReadShard[]): JoinedRuns {
  const keys = new FiringKeys();
  const ids = new RunIds();
  const rows: JoinedRow[] = [];
  const problems: ShardProblem[] = [];
  for (const { path, result } of shards) {
    const numbers = result.keys.map((key) => keys.numberOf(key));
    for (const row of result.rows) {
      const fired = row.fired.map((pairs) => pairs.map((value, at) => (at % 2 === 0 ? (numbers[value] ?? 0) : value)));
      rows.push({ ...row, id: ids.take(row.id), fired, source: path });
    }
    problems.push(...result.problems);
  }
  return { keys: keys.keys, rows, problems };
}
