import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Damages a stored record: of a file `*.db` its JSON, of a folder one character of its line. */
export async function damageRecord(store: string, runId: string, seq: number): Promise<void> {
  if (store.endsWith('.db')) {
    const database = new DatabaseSync(store);
    const update = "UPDATE records SET json = '{broken' WHERE run_id = ? AND seq = ?";
    const { changes } = database.prepare(update).run(runId, seq);
    database.close();
    if (changes !== 1) throw new Error(`there is no record ${seq} to damage`);
    return;
  }
  const run = join(store, `run-${runId}`);
  const segment = (await readdir(run)).find((name) => name.endsWith('.jsonl')) ?? '';
  const lines = (await readFile(join(run, segment), 'utf8')).split('\n');
  if (lines[seq]?.includes(`"seq":${seq},`) !== true) throw new Error(`there is no record ${seq} to damage`);
  lines[seq] = (lines[seq] ?? '').replace('"seq":', '"sEq":');
  await writeFile(join(run, segment), lines.join('\n'));
}

export function recordLine(run: string | undefined, seq: number, payload: object = { kind: 'turn_started' }): string {
  return JSON.stringify({ schema_version: 1, seq, run_id: run, depth: 0, recorded_at_unix_ms: 5, payload });
}
