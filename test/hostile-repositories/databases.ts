import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';

import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Sandbox } from './sandbox.ts';
import type { Step, Trick } from './trick.ts';

/** Commands that read a store which is named. */
const READ: readonly Step[] = [
  ['runs', '--store', 'shipped.db'],
  ['report', 'shipped.db', '--since', 'all'],
  ['verify', 'shipped.db'],
  ['search', 'build', '--store', 'shipped.db'],
  ['backtest', 'shipped.db', '--workers', '1'],
  ['view', 'shipped.db', '--no-open', '--port', '0'],
];
/** Commands that write to one, or copy it. */
const WRITE: readonly Step[] = [
  ['gc', 'shipped.db', '--older-than', '1d'],
  ['analyze', 'run.json', '--store', 'shipped.db'],
  ['recover', 'shipped.db', '--to', 'saved.db'],
  ['import', 'shipped.db', '--store', 'copied.db'],
];
const RUN = JSON.stringify({
  id: 'one',
  calls: [{ tool: 'bash', args: { command: 'make' }, result: 'no', isError: true }],
});
const ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n';
const SCHEMA = /foreign|altered|missing|store layout|another program/;

/** Schema changes applied to a store that coxswain created. */
const SCHEMAS: Readonly<Record<string, string>> = {
  'a trigger that deletes records': 'CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END',
  'a trigger that never ends': `CREATE TRIGGER t AFTER INSERT ON records BEGIN INSERT INTO snapshots SELECT 'x', max(x), 'x' FROM (${ENDLESS.replace('max(x)', 'x')}) LIMIT 1000000000; END`,
  'a trigger on reading through a view': `DROP TABLE snapshots; CREATE VIEW snapshots AS SELECT 'x' AS run_id, 1 AS covers_seq, 'x' AS json; CREATE TRIGGER t INSTEAD OF INSERT ON snapshots BEGIN DELETE FROM runs; END`,
  'a view in the place of the records': `DROP TABLE records; CREATE VIEW records AS SELECT 1 AS id, 'x' AS run_id, 1 AS seq, hex(zeroblob(100000000)) AS json`,
  'a view that never ends in the place of the runs': `DROP TABLE runs; CREATE VIEW runs AS SELECT 'x' AS run_id, 0 AS minus_started_ms, (${ENDLESS}) AS summary, 0 AS chars`,
  'a generated column that never ends': `ALTER TABLE snapshots ADD COLUMN more TEXT AS (hex(zeroblob(500000000))) VIRTUAL`,
  'a check that takes all memory': `CREATE TABLE more (x CHECK (hex(zeroblob(1000000000)) = x))`,
  'a column more': `ALTER TABLE runs ADD COLUMN more TEXT DEFAULT 'of the repository'`,
  'an index over an expression': `CREATE INDEX more ON records (hex(zeroblob(10000000) || json))`,
  'an index that covers some rows only': 'CREATE INDEX more ON records (run_id) WHERE seq > 0',
  'a full-text virtual table over the records table':
    "CREATE VIRTUAL TABLE more USING fts5 (a, content = 'records', content_rowid = 'id')",
  'a table that is named as an escape': 'CREATE TABLE "\u001b[31mred\u0007" (x)',
  'another order of columns':
    'ALTER TABLE runs RENAME COLUMN summary TO old; ALTER TABLE runs RENAME COLUMN run_id TO summary',
  'statistics that mislead the planner':
    "ANALYZE; DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 VALUES ('records', 'sqlite_autoindex_records_1', '1 1 1')",
  'the layout of a future version': 'PRAGMA user_version = 9999',
  'the layout of no version': 'PRAGMA user_version = -1',
  'the layout of the first version': 'PRAGMA user_version = 1',
  'the number of another program': 'PRAGMA application_id = 42',
};

/** Stores that the repository ships, read by name, and in the user's own folder, as if they had come there. */
export const DATABASES: readonly Trick[] = [
  ...Object.entries(SCHEMAS).map(([what, sql]): Trick => ({
    name: `a store with ${what}`,
    async make(place) {
      await ship(place, (file) => execute(file, sql));
      accept(place);
    },
    loud: SCHEMA,
    also: [...READ.slice(0, 2), ...WRITE.slice(0, 1)],
    writes: /^\/(?:shipped|saved|copied)\.db/,
  })),
  {
    name: 'a store with a trigger, met by every command',
    async make(place) {
      await ship(place, (file) => execute(file, SCHEMAS['a trigger that never ends'] ?? ''));
      accept(place);
    },
    loud: SCHEMA,
    also: [...READ, ...WRITE],
    writes: /^\/(?:shipped|saved|copied)\.db/,
  },
  {
    name: 'a store of another program with the tables of a browser',
    async make(place) {
      const database = new DatabaseSync(place.at('shipped.db'));
      database.exec("CREATE TABLE logins (url, password); INSERT INTO logins VALUES ('x', 'y')");
      database.close();
      place.write('run.json', RUN);
      accept(place);
    },
    loud: SCHEMA,
    also: [...READ, ...WRITE],
    writes: /^\/(?:saved|copied)\.db/,
  },
  {
    name: 'a schema that was edited by hand, so that SQLite itself refuses it',
    async make(place) {
      await ship(place, (file) => replaceBytes(file, 'CREATE TABLE runs', 'CREATE TABLE rnus'));
      accept(place);
    },
    also: READ.slice(0, 3),
  },
  {
    name: 'pages that lead in circles',
    async make(place) {
      // The right child of every inner page is the page itself; and the free list begins with the schema.
      await ship(place, (file) => overwrite(file, 4_096, 4_096, 3), 400);
      accept(place);
    },
    also: [...READ, ['recover', 'shipped.db', '--to', 'saved.db']],
    writes: /^\/(?:shipped|saved|copied)\.db/,
  },
  {
    name: 'a head whose pages have the wrong size',
    async make(place) {
      await ship(place, (file) => overwrite(file, 16, 2, 0x02));
      accept(place);
    },
    also: READ.slice(0, 3),
  },
  {
    name: 'a store that is half of one',
    async make(place) {
      await ship(place, (file) => writeFileSync(file, readFileSync(file).subarray(0, 20_000)));
      accept(place);
    },
    also: [...READ.slice(0, 3), ['recover', 'shipped.db', '--to', 'saved.db']],
    writes: /^\/(?:shipped|saved|copied)\.db/,
  },
  {
    name: 'a log beside the store that changes its schema',
    async make(place) {
      await ship(place, (file) => withLog(file, SCHEMAS['a trigger that deletes records'] ?? ''));
      accept(place);
    },
    loud: SCHEMA,
    also: READ.slice(0, 4),
  },
  {
    name: 'a log beside the store that is noise',
    async make(place) {
      await ship(place, (file) => writeFileSync(`${file}-wal`, Buffer.alloc(100_000, 0x5a)));
      accept(place);
    },
    also: READ.slice(0, 3),
  },
  {
    name: 'shared memory beside the store that is noise',
    async make(place) {
      await ship(place, (file) => {
        withLog(file, "INSERT INTO snapshots (run_id, covers_seq, json) VALUES ('x', 1, 'x')");
        writeFileSync(`${file}-shm`, Buffer.alloc(32_768, 0x5a));
      });
      accept(place);
    },
    also: READ.slice(0, 3),
    writes: /^\/shipped\.db-shm/,
  },
  {
    name: 'a journal that has SQLite delete a file of the user',
    async make(place) {
      await ship(place, (file) => writeFileSync(`${file}-journal`, journalNaming(join(place.home, '.bashrc'))));
      accept(place);
    },
    loud: /names a file that SQLite would delete/,
    also: [...READ.slice(0, 2), ...WRITE.slice(0, 2)],
  },
  {
    name: 'a journal that takes back what is in the store',
    async make(place) {
      await ship(place, (file) => writeFileSync(`${file}-journal`, journalNaming('')));
      accept(place);
    },
    also: READ.slice(0, 2),
    writes: /^\/shipped\.db/,
  },
  {
    name: 'a store whose name is an address with settings',
    async make(place) {
      await ship(place, () => {});
      renameSync(place.at('shipped.db'), place.at('file:x?mode=memory&cache=shared'));
      place.write('a#b%3f.db', readFileSync(place.at('file:x?mode=memory&cache=shared')));
    },
    also: [
      ['report', 'file:x?mode=memory&cache=shared', '--since', 'all'],
      ['runs', '--store', 'a#b%3f.db'],
    ],
  },
  {
    name: 'text in a store that acts on terminals',
    async make(place) {
      await ship(place, () => {}, 1, '\u001b]0;x\u0007\u001b[2J\u009b1m\u202e');
    },
    also: [...READ.slice(0, 4), ['show', 'run-0', '--store', 'shipped.db'], ['status']],
  },
];

/** Makes a store as coxswain does, with a run or more in it, and does something to it. */
async function ship(place: Sandbox, change: (file: string) => void, runs = 1, text = 'Fix the build'): Promise<void> {
  const file = place.at('shipped.db');
  const store = sqliteStore(file);
  for (let run = 0; run < runs; run += 1) {
    const run_id = `run-${run}`;
    const payload = { kind: 'run_started', task: text, identity: { run_id, depth: 0 } } as const;
    await store.append([{ schema_version: 1, run_id, seq: 0, depth: 0, recorded_at_unix_ms: 1, payload }]);
  }
  await store.close();
  change(file);
  place.write('run.json', RUN);
}

/** Puts the store into the place of the project's own, as if the user had copied it there. */
function accept(place: Sandbox): void {
  for (const end of ['', '-wal', '-shm', '-journal']) {
    const copied = spawnSync('cp', [place.at(`shipped.db${end}`), `${place.store}${end}`]);
    if (copied.status !== 0 && end === '') throw new Error(String(copied.stderr));
  }
}

function execute(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/** Leaves a change in the log. */
function withLog(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA wal_autocheckpoint = 0; ${sql}`);
  for (const end of ['', '-wal']) writeFileSync(`${file}${end}.kept`, readFileSync(`${file}${end}`));
  database.close();
  for (const end of ['', '-wal']) renameSync(`${file}${end}.kept`, `${file}${end}`);
}

function overwrite(file: string, from: number, bytes: number, value: number): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(bytes, value), 0, bytes, from);
  closeSync(fd);
}

function replaceBytes(file: string, from: string, to: string): void {
  writeFileSync(file, Buffer.from(readFileSync(file).toString('latin1').replaceAll(from, to), 'latin1'));
}

/** A rollback journal that is to be played back, and names a file that is deleted then. */
function journalNaming(path: string): Buffer {
  const head = Buffer.alloc(512);
  Buffer.from('d9d505f920a163d7', 'hex').copy(head);
  head.writeUInt32BE(0, 8);
  head.writeUInt32BE(1, 16);
  head.writeUInt32BE(512, 20);
  head.writeUInt32BE(4_096, 24);
  if (path === '') return head;
  const name = Buffer.from(path);
  const tail = Buffer.alloc(16);
  tail.writeUInt32BE(name.length, 0);
  tail.writeUInt32BE(
    name.reduce((sum, byte) => sum + byte, 0),
    4,
  );
  Buffer.from('d9d505f920a163d7', 'hex').copy(tail, 8);
  const page = Buffer.alloc(4);
  page.writeUInt32BE(1);
  return Buffer.concat([head, page, name, tail]);
}
