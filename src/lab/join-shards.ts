import { RunIds } from '../formats/run-ids.ts';
import { FiringKeys, type FiringKey, type RunRow, type ShardProblem, type ShardResult } from './run-row.ts';

/** The result of a shard and the path of its source. */
interface ReadShard {
  readonly path: string;
  readonly result: ShardResult;
}

/** A run and the path of its source. */
export interface JoinedRow extends RunRow {
  readonly source: string;
}

export interface JoinedRuns {
  readonly keys: readonly FiringKey[];
  /** The rows in input order. Their ids are unique across all shards. */
  readonly rows: readonly JoinedRow[];
  readonly problems: readonly ShardProblem[];
  /** Number of runs with the id of an earlier run. */
  readonly repeated: number;
}

/** Joins the results of shards in shard order, so the order of completion does not matter. */
export function joinShards(shards: readonly ReadShard[]): JoinedRuns {
  const keys = new FiringKeys();
  const ids = new RunIds();
  const rows: JoinedRow[] = [];
  const problems: ShardProblem[] = [];
  for (const { path, result } of shards) {
    const numbers = result.keys.map((key) => keys.numberOf(key));
    for (const row of result.rows) {
      const fired = row.fired.map((pairs) =>
        pairs.map((value, index) => (index % 2 === 0 ? (numbers[value] ?? 0) : value)),
      );
      rows.push({ ...row, id: ids.take(row.id), fired, source: path });
    }
    problems.push(...result.problems);
  }
  return { keys: keys.keys, rows, problems, repeated: ids.repeated };
}
