import { CoxswainError } from '../../core/base/error.ts';
import type { PostgresClient, PostgresSession } from './postgres-client.ts';

/** The first key of our advisory locks ("Coxs" in ASCII); the second is the hash of the schema's name. */
const LOCK_CLASS = 0x436f7873;

/** SQL of the current month, such as 202611. */
export const THIS_MONTH = "to_char(now() AT TIME ZONE 'UTC', 'YYYYMM')::int";

/** The layout of every schema, which `coxswain_layout` names. */
const LAYOUT = 4;

/**
 * The tables of a store.
 *
 * - A run id may exceed an index entry, so a hash index ensures its uniqueness, which only an exclusion constraint can use, and
 *   `records` refer to a number.
 * - `month`, the month in which a run was first stored, is part of the records' key, so that an administrator can partition by it.
 * - `fillfactor` leaves room for the next version of a run's row on the same page, so that an append updates no index.
 * - Each row of records, runs and snapshots has a `checksum` (`rowChecksums`).
 * - `runs.summary` is null for a run with only a snapshot; `runs.bytes` is the size of its records' JSON.
 */
function tablesSql(schema: string): string {
  return `
    CREATE TABLE ${schema}.runs (
      run_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run_id text COLLATE "C" NOT NULL,
      month int NOT NULL,
      started_ms float8 NOT NULL,
      last_seq bigint NOT NULL,
      summary text,
      changed_at timestamptz NOT NULL,
      bytes bigint NOT NULL DEFAULT 0,
      checksum bigint,
      CONSTRAINT runs_one_of_an_id EXCLUDE USING hash (run_id WITH =)
    ) WITH (fillfactor = 70);
    CREATE INDEX runs_newest_first ON ${schema}.runs ((-started_ms), (left(run_id, 200)));
    CREATE TABLE ${schema}.records (
      month int NOT NULL,
      run_no bigint NOT NULL,
      seq bigint NOT NULL,
      at_ms float8 NOT NULL,
      kind text NOT NULL,
      json text NOT NULL,
      checksum bigint,
      PRIMARY KEY (month, run_no, seq)
    );
    CREATE TABLE ${schema}.snapshots (
      run_no bigint PRIMARY KEY REFERENCES ${schema}.runs ON DELETE CASCADE,
      covers_seq bigint NOT NULL,
      json text NOT NULL,
      checksum bigint
    );
    CREATE TABLE ${schema}.transactions (
      token text COLLATE "C" PRIMARY KEY,
      at timestamptz NOT NULL
    );
    CREATE TABLE ${schema}.record_words (
      month int NOT NULL,
      run_no bigint NOT NULL,
      seq bigint NOT NULL,
      at_ms float8 NOT NULL,
      kind text NOT NULL,
      words tsvector,
      PRIMARY KEY (month, run_no, seq)
    );
    CREATE INDEX record_words_by_word ON ${schema}.record_words USING gin (words);
    CREATE INDEX record_words_unlisted ON ${schema}.record_words (month) WHERE words IS NULL;
    CREATE TABLE ${schema}.indexed_runs (
      run_no bigint PRIMARY KEY REFERENCES ${schema}.runs ON DELETE CASCADE,
      through_seq bigint NOT NULL
    );`;
}

/**
 * Concurrent callers wait for each other.
 *
 * @returns the schema's quoted name
 * @throws CoxswainError `store-version` for another layout or program or an encoding other than UTF8; for a reader `input-io` without a
 * schema
 */
export async function openPostgresSchema(client: PostgresClient, name: string, isReadOnly: boolean): Promise<string> {
  const existing = await findSchema(client, name);
  if (existing !== undefined) return existing;
  if (isReadOnly) throw new CoxswainError('input-io', `no runs are recorded in the PostgreSQL schema ${name} yet`);
  return client.transaction(async (session) => {
    await lockSchema(session, name);
    const created = await findSchema(session, name);
    return created ?? (await createSchema(session, name));
  });
}

async function lockSchema(session: PostgresSession, name: string): Promise<void> {
  await session.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [String(LOCK_CLASS), name]);
}

/** Queries the catalog, because `to_regclass` may use a cache from before the lock was taken. */
async function hasTable(session: PostgresSession, schemaName: string, table: string): Promise<boolean> {
  const rows = await session.query(
    `SELECT 1 AS there FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = $2`,
    [schemaName, table],
  );
  return rows.length > 0;
}

async function findSchema(session: PostgresSession, name: string): Promise<string | undefined> {
  if (!(await hasTable(session, name, 'coxswain_layout'))) return undefined;
  const schema = `"${name}"`;
  const [row] = await session.query(`SELECT version FROM ${schema}.coxswain_layout`);
  const version = Number(row?.['version']);
  if (version !== LAYOUT) {
    const instruction = version > LAYOUT ? 'update coxswain to open it' : 'choose another schema for the store';
    throw new CoxswainError(
      'store-version',
      `schema ${schema} has store layout ${version}, this version of coxswain reads layout ${LAYOUT}; ${instruction}`,
      { details: { layout: version, supported: LAYOUT } },
    );
  }
  return schema;
}

async function createSchema(session: PostgresSession, name: string): Promise<string> {
  const schema = `"${name}"`;
  const [database] = await session.query("SELECT current_setting('server_encoding') AS encoding");
  if (database?.['encoding'] !== 'UTF8') {
    throw new CoxswainError(
      'store-version',
      `the database has encoding ${String(database?.['encoding'])}; a store needs one with UTF8`,
    );
  }
  const [existing] = await session.query(
    'SELECT (SELECT count(*)::text FROM pg_class c WHERE c.relnamespace = n.oid) AS tables FROM pg_namespace n WHERE nspname = $1',
    [name],
  );
  // An administrator may have created an empty schema for a role that cannot create schemas.
  if (existing === undefined) await session.query(`CREATE SCHEMA ${schema}`);
  else if (Number(existing['tables']) > 0) {
    throw new CoxswainError(
      'store-version',
      `schema ${schema} belongs to another program; choose another name for the store`,
    );
  }
  await session.query(`CREATE TABLE ${schema}.coxswain_layout (version int NOT NULL, partitioning text NOT NULL)`);
  await session.query(`INSERT INTO ${schema}.coxswain_layout VALUES (${LAYOUT}, 'none')`);
  await session.query(tablesSql(schema));
  return schema;
}
