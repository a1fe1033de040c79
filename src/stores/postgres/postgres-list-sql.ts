import { bytesOfRunSql } from './postgres-delete-run.ts';

/**
 * SQL of a page of runs in listing order. Parameters: the negative start and the id of the last run of the previous page, and the
 * number of rows.
 *
 * The page is two ranges of the index `runs_newest_first`: the later ids with the same start, and the earlier starts. The planner
 * estimates one comparison of (start, id) by the start alone. If many runs have the same start, it expects no row and reads the whole
 * table.
 */
export function listSql(schema: string, withBytes: boolean): string {
  const rangeOf = (range: string): string =>
    `(SELECT run_no, run_id, started_ms, summary, checksum, bytes FROM ${schema}.runs WHERE ${range} AND last_seq >= 0
      ORDER BY (-started_ms), left(run_id, 200), run_id LIMIT $3::bigint)`;
  const sameStart = rangeOf('(-started_ms) = $1::float8 AND (left(run_id, 200), run_id) > (left($2, 200), $2)');
  const earlierStarts = rangeOf('(-started_ms) > $1::float8');
  return `SELECT run_id AS id, started_ms::text AS started, summary, checksum::text AS checksum${withBytes ? `, ${bytesOfRunSql(schema)}` : ''}
    FROM (${sameStart} UNION ALL ${earlierStarts}) AS runs
    ORDER BY (-started_ms), run_id LIMIT $3::bigint`;
}
