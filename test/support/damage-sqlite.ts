import { DatabaseSync } from 'node:sqlite';

import type { StoredDamage } from './store-contract/contract-store.ts';

/** Changes what a SQLite store holds, for `ContractStore.damage`. */
export async function damageSqlite(file: string, damage: StoredDamage): Promise<void> {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    if ('seq' in damage) {
      const text = "UPDATE records SET json = replace(json, 'call-', 'cell-') WHERE run_id = ? AND seq = ?";
      const sql = damage.what === 'record' ? text : 'DELETE FROM records WHERE run_id = ? AND seq = ?';
      database.prepare(sql).run(damage.runId, damage.seq);
      return;
    }
    const [table, column] = damage.what === 'summary' ? ['runs', 'summary'] : ['snapshots', 'json'];
    database.prepare(`UPDATE ${table} SET ${column} = replace(${column}, 'a', 'e') WHERE run_id = ?`).run(damage.runId);
  } finally {
    database.close();
  }
}
