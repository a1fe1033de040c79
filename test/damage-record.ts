import { DatabaseSync } from 'node:sqlite';

/** Damages the JSON of a stored record. */
export function damageRecord(store: string, runId: string, seq: number): void {
  const database = new DatabaseSync(store);
  const update = "UPDATE records SET json = '{broken' WHERE run_id = ? AND seq = ?";
  const { changes } = database.prepare(update).run(runId, seq);
  database.close();
  if (changes !== 1) throw new Error(`there is no record ${seq} to damage`);
}

export function recordLine(run: string | undefined, seq: number, payload: object = { kind: 'turn_started' }): string {
  return JSON.stringify({ schema_version: 1, seq, run_id: run, depth: 0, recorded_at_unix_ms: 5, payload });
}
