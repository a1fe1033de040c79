import { CoxswainError, invalidArgument } from '../../core/base/error.ts';
import type { PostgresClient, PostgresSession } from './postgres-client.ts';

/** `none` creates a single `records` table; `monthly` creates a partition per month. Fixed when the schema is created. */
export type PostgresPartitioning = 'none' | 'monthly';

export interface PostgresLayout {
  readonly name: string;
  readonly schema: string;
  readonly partitioning: PostgresPartitioning;
}

/** The first key of our advisory locks ("Coxs" in ASCII); the second is the hash of the schema's name. */
const LOCK_CLASS = 0x436f7873;

/** SQL of the current month, such as 202611. */
export const THIS_MONTH = "to_char(now() AT TIME ZONE 'UTC', 'YYYYMM')::int";

/** The tables with a partition per month. */
const PARTITIONED = ['records', 'record_words'] as const;

/** The layout of every schema, which `coxswain_layout` names. */
const LAYOUT = 4;

/**
 * The tables of a store.
 *
 * - A run id may exceed an index entry, so a hash index ensures its uniqueness, which only an exclusion constraint can use, and
 *   `records` refer to a number.
 * - `month`, the month in which a run was first stored, is part of the records' key because a partition key must be. The unpartitioned
 *   table has it too, so that it can be attached as a partition later.
 * - `fillfactor` leaves room for the next version of a run's row on the same page, so that an append updates no index.
 * - Each row of records, runs and snapshots has a `checksum` (`rowChecksums`).
 * - `runs.summary` is null for a run with only a snapshot; `runs.bytes` is the size of its records' JSON.
 */
function tablesSql({ schema, partitioning }: PostgresLayout): string {
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
    ) ${partitionClause(partitioning)};
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
    ) ${partitionClause(partitioning)};
    CREATE INDEX record_words_by_word ON ${schema}.record_words USING gin (words);
    CREATE INDEX record_words_unlisted ON ${schema}.record_words (month) WHERE words IS NULL;
    CREATE TABLE ${schema}.indexed_runs (
      run_no bigint PRIMARY KEY REFERENCES ${schema}.runs ON DELETE CASCADE,
      through_seq bigint NOT NULL
    );`;
}

function partitionClause(partitioning: PostgresPartitioning): string {
  return partitioning === 'monthly' ? 'PARTITION BY RANGE (month)' : '';
}

/**
 * Concurrent callers wait for each other.
 *
 * @throws CoxswainError `store-version` for another layout or program or an encoding other than UTF8,
 * `invalid-argument` for another partitioning; for a reader `input-io` without a schema
 */
export async function openPostgresSchema(
  client: PostgresClient,
  name: string,
  { isReadOnly = false, partitioning }: OpenSchemaOptions,
): Promise<PostgresLayout> {
  const existing = await findLayout(client, name);
  if (existing !== undefined) return checkLayout(existing, partitioning);
  if (isReadOnly) throw new CoxswainError('input-io', `no runs are recorded in the PostgreSQL schema ${name} yet`);
  return client.transaction(async (session) => {
    await lockSchema(session, name);
    const created = await findLayout(session, name);
    if (created !== undefined) return checkLayout(created, partitioning);
    const layout = { name, schema: `"${name}"`, partitioning: partitioning ?? 'none' };
    await createSchema(session, layout);
    if (layout.partitioning === 'monthly') await addPartitions(session, layout);
    return layout;
  });
}

export interface OpenSchemaOptions {
  /** If undefined, the partitioning of an existing schema is used, and `none` for a new schema. */
  readonly partitioning?: PostgresPartitioning | undefined;
  /** If true, nothing is created; default false. */
  readonly isReadOnly?: boolean | undefined;
}

/** Creates the partitions of this month and the next. Concurrent callers wait for each other. */
export async function addMonths(client: PostgresClient, layout: PostgresLayout): Promise<void> {
  await client.transaction(async (session) => {
    await lockSchema(session, layout.name);
    await addPartitions(session, layout);
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

async function findLayout(session: PostgresSession, name: string): Promise<PostgresLayout | undefined> {
  if (!(await hasTable(session, name, 'coxswain_layout'))) return undefined;
  const schema = `"${name}"`;
  const [row] = await session.query(`SELECT version, partitioning FROM ${schema}.coxswain_layout`);
  const version = Number(row?.['version']);
  if (version !== LAYOUT) {
    const instruction = version > LAYOUT ? 'update coxswain to open it' : 'choose another schema for the store';
    throw new CoxswainError(
      'store-version',
      `schema ${schema} has store layout ${version}, this version of coxswain reads layout ${LAYOUT}; ${instruction}`,
      { details: { layout: version, supported: LAYOUT } },
    );
  }
  return { name, schema, partitioning: row?.['partitioning'] === 'monthly' ? 'monthly' : 'none' };
}

function checkLayout(layout: PostgresLayout, partitioning: PostgresPartitioning | undefined): PostgresLayout {
  if (partitioning === undefined || partitioning === layout.partitioning) return layout;
  throw invalidArgument(
    `schema ${layout.schema} was created with partitioning '${layout.partitioning}', not '${partitioning}'; omit the option`,
  );
}

async function createSchema(session: PostgresSession, layout: PostgresLayout): Promise<void> {
  const { name, schema, partitioning } = layout;
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
  await session.query(`INSERT INTO ${schema}.coxswain_layout VALUES (${LAYOUT}, $1)`, [partitioning]);
  await session.query(tablesSql(layout));
}

async function addPartitions(session: PostgresSession, { name, schema }: PostgresLayout): Promise<void> {
  const months = await session.query(
    `SELECT to_char(m, 'YYYYMM') AS month FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AS first) AS now,
     generate_series(first, first + interval '1 month', interval '1 month') AS m`,
  );
  for (const month of months.map((row) => Number(row['month']))) {
    for (const table of PARTITIONED) {
      const partition = `${schema}.${table}_${month}`;
      if (await hasTable(session, name, `${table}_${month}`)) continue;
      // The partition is attached, because creating it in place would lock readers and writers of the other months.
      await session.query(`CREATE TABLE ${partition} (LIKE ${schema}.${table} INCLUDING DEFAULTS)`);
      await session.query(
        `ALTER TABLE ${schema}.${table} ATTACH PARTITION ${partition} FOR VALUES FROM (${month}) TO (${month + 1})`,
      );
    }
  }
}
