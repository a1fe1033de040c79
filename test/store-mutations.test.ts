import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { rounds } from './support/rounds.ts';
import { CoxswainError } from '../src/core/base/error.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { openRecoverSource } from '../src/cli/commands/recover/recover-command.ts';
import type { RunSummary } from '../src/core/facts/run-summary.ts';
import { sqliteOneShot } from '../src/stores/sqlite/sqlite-one-shot.ts';
import type { LiveReader } from '../src/core/store/trajectory-store.ts';
import { openSqliteReader } from '../src/stores/sqlite/sqlite-reader.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { scriptCalls, scriptRecord } from './support/script-records.ts';
import { seededRandom } from './support/seeded-random.ts';
import { tempFolder } from './support/temp-folder.ts';

const MUTATIONS = rounds({ full: 2_000, short: 80 });
const SEED = 14;
const PAGE = 4096;
const RUNS = ['alpha', 'beta', 'gamma'] as const;

/** A store at rest, or as a killed writer leaves it, with its latest records in the log alone. */
interface Base {
  readonly name: 'closed' | 'killed';
  readonly file: Buffer;
  readonly log: Buffer | undefined;
  readonly memory: Buffer | undefined;
}

/** The content of an undamaged store. */
interface Truth {
  readonly records: ReadonlyMap<string, readonly TrajectoryRecord[]>;
  readonly summaries: ReadonlyMap<string, RunSummary>;
}

/** One way to damage a store. Does it in place, or answers the new bytes. */
interface Mutation {
  readonly name: string;
  readonly isOfLog?: boolean;
  apply(base: Base, random: () => number): Promise<Pick<Base, 'file' | 'log'>> | Pick<Base, 'file' | 'log'>;
}

let folder: Awaited<ReturnType<typeof tempFolder>>;
let bases: readonly Base[];
let truth: Truth;

beforeAll(async () => {
  folder = await tempFolder();
  const path = join(folder.path, 'base.db');
  const store = sqliteStore(path);
  const batches = (from: number): readonly (readonly TrajectoryRecord[])[] =>
    RUNS.map((runId) => [
      ...scriptCalls(runId, 15, from),
      // Longer than a page, so that it has overflow pages.
      scriptRecord({
        runId,
        seq: from + 15,
        payload: { kind: 'compaction', trigger: `${runId} ${from} `.repeat(700) },
      }),
    ]);
  for (const batch of batches(0)) await store.append(batch);
  for (const runId of RUNS) {
    await store.transact(runId, () => ({ records: [], snapshot: { of: runId, text: 'state '.repeat(50) }, result: 0 }));
  }
  await store.deleteRun('none');
  await store.search({ text: 'call' });
  await store.close();
  const closed: Base = { name: 'closed', file: await readFile(path), log: undefined, memory: undefined };
  const again = sqliteStore(path);
  for (const batch of batches(16)) await again.append(batch);
  const killed: Base = {
    name: 'killed',
    file: await readFile(path),
    log: await readFile(`${path}-wal`),
    memory: await readFile(`${path}-shm`),
  };
  const records = new Map<string, readonly TrajectoryRecord[]>();
  const summaries = new Map<string, RunSummary>();
  for (const runId of RUNS) {
    records.set(runId, await Array.fromAsync(again.readRun(runId)));
    summaries.set(runId, (await again.findRun(runId)) as RunSummary);
  }
  await again.close();
  bases = [closed, killed];
  truth = { records, summaries };
});

afterAll(() => folder.dispose());

const at = (random: () => number, below: number): number => Math.floor(random() * below);

function flipped(bytes: Buffer, random: () => number, bits: number): Buffer {
  const changed = Buffer.from(bytes);
  for (let index = 0; index < bits; index += 1) {
    const place = at(random, changed.length);
    changed[place] = (changed[place] ?? 0) ^ (1 << at(random, 8));
  }
  return changed;
}

function withPage(bytes: Buffer, page: number, content: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  content.copy(changed, page * PAGE);
  return changed;
}

function sql(name: string, statement: (random: () => number) => string): Mutation {
  return {
    name,
    async apply(base, random) {
      const path = join(folder.path, 'sql.db');
      await lay(path, base);
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA synchronous = OFF; ${statement(random)}`);
      database.close();
      const file = await readFile(path);
      return { file, log: undefined };
    },
  };
}

const someRun = (random: () => number): string => RUNS[at(random, RUNS.length)] ?? RUNS[0];
const someRow = (random: () => number): string => `run_id = '${someRun(random)}' AND seq = ${at(random, 16)}`;

const BYTES: readonly Mutation[] = [
  { name: 'one bit', apply: ({ file, log }, random) => ({ file: flipped(file, random, 1), log }) },
  { name: 'eight bits', apply: ({ file, log }, random) => ({ file: flipped(file, random, 8), log }) },
  {
    name: 'a bit of a record',
    apply({ file, log }, random) {
      const needle = Buffer.from(`"tool_call_id":"call-${at(random, 15)}"`);
      const found = file.indexOf(needle, at(random, file.length));
      const place = (found < 0 ? file.indexOf(needle) : found) + at(random, needle.length);
      const changed = Buffer.from(file);
      changed[place] = (changed[place] ?? 0) ^ (1 << at(random, 7));
      return { file: changed, log };
    },
  },
  {
    name: 'a page of zeros',
    apply: ({ file, log }, random) => ({
      file: withPage(file, at(random, file.length / PAGE), Buffer.alloc(PAGE)),
      log,
    }),
  },
  {
    name: 'a page of noise',
    apply: ({ file, log }, random) => ({
      file: withPage(
        file,
        at(random, file.length / PAGE),
        Buffer.from(Array.from({ length: PAGE }, () => at(random, 256))),
      ),
      log,
    }),
  },
  {
    name: 'two pages swapped',
    apply({ file, log }, random) {
      const [one, other] = [at(random, file.length / PAGE), at(random, file.length / PAGE)];
      const first = Buffer.from(file.subarray(one * PAGE, (one + 1) * PAGE));
      const second = Buffer.from(file.subarray(other * PAGE, (other + 1) * PAGE));
      return { file: withPage(withPage(file, one, second), other, first), log };
    },
  },
  {
    name: 'an end cut off',
    apply: ({ file, log }, random) => ({ file: file.subarray(0, at(random, file.length)), log }),
  },
];

const ROWS: readonly Mutation[] = [
  sql(
    'a text changed',
    (random) => `UPDATE records SET json = replace(json, 'call-', 'cell-') WHERE ${someRow(random)}`,
  ),
  sql('a number changed', (random) => `UPDATE records SET json = replace(json, '1', '2') WHERE ${someRow(random)}`),
  sql('a record moved', (random) => `UPDATE records SET seq = seq + 100 WHERE ${someRow(random)}`),
  sql(
    'a record of another run',
    (random) => `UPDATE OR REPLACE records SET run_id = '${someRun(random)}' WHERE ${someRow(random)}`,
  ),
  sql('a record deleted', (random) => `DELETE FROM records WHERE ${someRow(random)}`),
  sql('a checksum gone', (random) => `UPDATE records SET checksum = NULL WHERE ${someRow(random)}`),
  sql('two texts swapped', (random) => {
    const [run, one, other] = [someRun(random), at(random, 16), at(random, 16)];
    const text = (seq: number): string => `(SELECT json FROM records WHERE run_id = '${run}' AND seq = ${seq})`;
    return `UPDATE records SET json = CASE seq WHEN ${one} THEN ${text(other)} ELSE ${text(one)} END WHERE run_id = '${run}' AND seq IN (${one}, ${other})`;
  }),
  sql(
    'a summary changed',
    (random) => `UPDATE runs SET summary = replace(summary, '15', '14') WHERE run_id = '${someRun(random)}'`,
  ),
  sql('a summary deleted', (random) => `DELETE FROM runs WHERE run_id = '${someRun(random)}'`),
  sql(
    'a time changed',
    (random) => `UPDATE runs SET minus_started_ms = ${-at(random, 9999)} WHERE run_id = '${someRun(random)}'`,
  ),
  sql(
    'a snapshot changed',
    (random) => `UPDATE snapshots SET json = replace(json, 'state', 'stale') WHERE run_id = '${someRun(random)}'`,
  ),
  sql(
    'a snapshot moved',
    (random) => `UPDATE snapshots SET covers_seq = ${at(random, 15)} WHERE run_id = '${someRun(random)}'`,
  ),
  sql('a run hidden', (random) => `INSERT INTO removed_runs VALUES ('${someRun(random)}')`),
  sql('the index ahead', (random) => `UPDATE indexing SET through_id = ${1000 + at(random, 1000)}`),
  sql('a trigger', () => 'CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM runs; END'),
  sql(
    'the index moved',
    (random) => `UPDATE indexed_records SET minus_seq = minus_seq - 1 WHERE id = ${1 + at(random, 40)}`,
  ),
];

const LOG: readonly Mutation[] = [
  {
    name: 'one bit of the log',
    isOfLog: true,
    apply: ({ file, log }, random) => ({ file, log: log && flipped(log, random, 1) }),
  },
  {
    name: 'eight bits of the log',
    isOfLog: true,
    apply: ({ file, log }, random) => ({ file, log: log && flipped(log, random, 8) }),
  },
  {
    name: 'the log cut off',
    isOfLog: true,
    apply: ({ file, log }, random) => ({ file, log: log?.subarray(0, at(random, log.length)) }),
  },
  {
    name: 'a frame of zeros',
    isOfLog: true,
    apply({ file, log }, random) {
      const frame = PAGE + 24;
      const changed = Buffer.from(log ?? Buffer.alloc(0));
      const from = 32 + at(random, (changed.length - 32) / frame) * frame;
      return { file, log: changed.fill(0, from, from + frame) };
    },
  },
];

async function lay(path: string, { file, log, memory }: Pick<Base, 'file' | 'log'> & Partial<Base>): Promise<void> {
  for (const [end, bytes] of [
    ['', file],
    ['-wal', log],
    ['-shm', memory],
  ] as const) {
    if (bytes === undefined) await rm(`${path}${end}`, { force: true });
    else await writeFile(`${path}${end}`, bytes);
  }
}

/** Results of reading a damaged store. */
class Findings {
  /** Readings that are not what was recorded, and that no error goes with. */
  readonly wrong: string[] = [];
  /** Something is missing or refused. */
  isDifferent = false;

  /** An error of ours reports damage; any other one, or one that names a copy of ours, is wrong itself. */
  refused(thrown: unknown): void {
    this.isDifferent = true;
    if (!(thrown instanceof CoxswainError)) this.wrong.push(`not a CoxswainError: ${String(thrown)}`);
    else if (/coxswain-read-/.test(thrown.message)) this.wrong.push(`names what is ours: ${thrown.message}`);
  }

  records(runId: string, records: readonly TrajectoryRecord[], how: string): void {
    const all = truth.records.get(runId) ?? [];
    for (const record of records) {
      if (!isDeepStrictEqual(record, all[record.seq]))
        this.wrong.push(`${how}: ${runId} ${record.seq} is another record`);
    }
  }

  /** @param expected  the run's records in this base */
  async read(read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (thrown) {
      this.refused(thrown);
    }
  }
}

/** Asks a reader everything that commands ask. @returns how many problems `verify` gives */
async function askAll(reader: LiveReader, findings: Findings, recordsOf: (runId: string) => number): Promise<number> {
  await findings.read(async () => {
    const { runs } = await reader.listRuns();
    for (const run of runs) {
      const isWhole = isDeepStrictEqual(run, summaryAt(run.runId, recordsOf(run.runId)));
      if (!isWhole) findings.isDifferent = true;
      if (!isWhole && run.problem === undefined) findings.wrong.push(`list: ${JSON.stringify(run).slice(0, 200)}`);
    }
    if (runs.length < RUNS.length) findings.isDifferent = true;
  });
  for (const runId of RUNS) {
    await findings.read(async () => {
      const records: TrajectoryRecord[] = [];
      try {
        for await (const record of reader.readRun(runId)) records.push(record);
        if (records.length === recordsOf(runId)) return;
        findings.isDifferent = true;
        if (records.length > 0) findings.wrong.push(`read: ${runId} ends at ${records.length} as if it were whole`);
      } finally {
        findings.records(runId, records, 'read');
      }
    });
  }
  await findings.read(async () => {
    const { hits, damaged = [] } = await reader.search({ text: 'call', limit: 1000 });
    const places = new Set(
      RUNS.flatMap((runId) => (truth.records.get(runId) ?? []).map(({ seq }) => `${runId} ${seq}`)),
    );
    for (const { runId, seq, snippet } of hits) {
      const record = truth.records.get(runId)?.[seq];
      const isWhole = places.has(`${runId} ${seq}`) && JSON.stringify(record).includes(snippet.split('\n')[0] ?? '');
      if (!isWhole) findings.wrong.push(`search: ${runId} ${seq} ${snippet}`);
    }
    if (damaged.length > 0) findings.isDifferent = true;
  });
  let problems = 1;
  // A thrown error is reported by the command, so it also reveals the damage.
  await findings.read(async () => {
    problems = (await Array.fromAsync(reader.verify())).length;
  });
  return problems;
}

/** The summary of a run that has so many of its records. */
function summaryAt(runId: string, records: number): RunSummary | undefined {
  const full = truth.summaries.get(runId);
  if (full === undefined || records === full.records) return full;
  return {
    ...full,
    records,
    lastSeq: records - 1,
    lastAtMs: 1000 + records - 1,
    calls: Math.ceil((records / 16) * 15),
    openCalls: full.openCalls?.slice(0, Math.ceil((records / 16) * 15)) ?? [],
  };
}

test(
  `after ${MUTATIONS} mutations of a store no reading is wrong unnoticed, and recover saves what is whole`,
  { timeout: 0 },
  async () => {
    const random = seededRandom(SEED);
    const path = join(folder.path, 'mutated.db');
    const cells = new Map(bases.map((base) => [base, cellsOf(base)]));
    const counts = { mutations: 0, different: 0, whole: 0, saved: 0 };
    const wrong: string[] = [];
    for (let round = 0; round < MUTATIONS; round += 1) {
      const isOfLog = random() < 0.2;
      const base = bases[isOfLog ? 1 : at(random, 2)];
      const kinds = isOfLog ? LOG : random() < 0.7 ? BYTES : ROWS;
      const mutation = kinds[at(random, kinds.length)];
      if (base === undefined || mutation === undefined) throw new Error('a base and a mutation are there');
      const after = await mutation.apply(base, random);
      const isLogGone = base.log !== undefined && after.log === undefined;
      await lay(path, { ...after, memory: isLogGone ? undefined : base.memory });
      // Without its log a store is as it was before; a row changed by SQL has all of it in the file.
      const expected = base.name === 'closed' ? 16 : 32;
      const found = await examine(path, isOfLog, expected);
      counts.mutations += 1;
      if (found.isDifferent) counts.different += 1;
      for (const one of found.wrong) wrong.push(`${round} ${base.name}, ${mutation.name}: ${one}`);

      const recovered = new Map<string, ReadonlySet<number>>();
      const unclaimed = new Findings();
      let isVerified = found.problems === 0;
      await unclaimed.read(async () => {
        const source = await openRecoverSource(path);
        for await (const { isEndKnown, items, lastSeq, runId } of source.runs()) {
          const saved = await Array.fromAsync(items);
          const records = saved.flatMap((item) => (item.type === 'record' ? [item.record] : []));
          if (RUNS.some((run) => run === runId)) unclaimed.records(runId, records, 'recover');
          else if (records.length > 0) unclaimed.wrong.push(`recover: a run ${runId}`);
          recovered.set(runId, new Set(records.map(({ seq }) => seq)));
          isVerified &&= isEndKnown && records.length === lastSeq + 1;
        }
        await source.close();
      });
      isVerified &&= !unclaimed.isDifferent;
      for (const one of unclaimed.wrong) wrong.push(`${round} ${base.name}, ${mutation.name}: ${one}`);
      const isShort = RUNS.some((runId) => (recovered.get(runId)?.size ?? 0) < expected);
      if (isVerified && isShort && !isOfLog)
        wrong.push(`${round} ${base.name}, ${mutation.name}: recover claims that all is saved`);
      for (const { runId, seq, cell } of cells.get(base) ?? []) {
        if (!after.file.includes(cell) && after.log?.includes(cell) !== true) continue;
        counts.whole += 1;
        if (recovered.get(runId)?.has(seq) === true) counts.saved += 1;
      }
    }
    // The figures for docs/stores.md.
    process.stdout.write(
      `${counts.mutations} mutations, ${counts.different} noticed by a reader; ${wrong.length} silently wrong; ` +
        `recover saved ${counts.saved} of ${counts.whole} records whose bytes are whole (${((100 * counts.saved) / counts.whole).toFixed(2)} %)\n`,
    );
    expect(wrong).toEqual([]);
    expect(counts.saved / counts.whole).toBeGreaterThan(0.75);
  },
);

interface Cell {
  readonly runId: string;
  readonly seq: number;
  readonly cell: Buffer;
}

/** The bytes of every record that stands in one page, from its lengths to its checksum. */
function cellsOf({ file, log = Buffer.alloc(0) }: Base): readonly Cell[] {
  const BYTES_BEFORE_TEXT = 14;
  const CHECKSUM_BYTES = 6;
  const bytes = Buffer.concat([file, log]);
  return [...truth.records].flatMap(([runId, records]) =>
    records.flatMap((record) => {
      const text = Buffer.from(JSON.stringify(record));
      const from = bytes.indexOf(text);
      if (from < 0) return [];
      const cell = bytes.subarray(from - BYTES_BEFORE_TEXT, from + text.length + CHECKSUM_BYTES);
      return [{ runId, seq: record.seq, cell }];
    }),
  );
}

interface Examined {
  readonly wrong: readonly string[];
  readonly isDifferent: boolean;
  readonly problems: number;
}

async function examine(path: string, isOfLog: boolean, expected: number): Promise<Examined> {
  const findings = new Findings();
  let problems = 0;
  let seen = expected;
  try {
    const reader = openSqliteReader(path);
    try {
      // A log that ends early is an earlier state of the store, which SQLite takes for the present one.
      const counts = new Map<string, number>();
      if (isOfLog)
        for (const runId of RUNS)
          counts.set(runId, (await reader.findRun(runId).catch(() => undefined))?.records ?? expected);
      seen = Math.min(expected, ...counts.values());
      problems = await askAll(reader, findings, (runId) => counts.get(runId) ?? expected);
    } finally {
      await reader.close();
    }
  } catch (thrown) {
    findings.refused(thrown);
    problems += 1;
  }
  if (findings.isDifferent && problems === 0) findings.wrong.push('verify says that nothing is wrong');
  if (isOfLog && seen < 16) findings.wrong.push(`the store before the log has ${seen} records a run`);
  await askWriter(path, findings);
  return { wrong: findings.wrong, isDifferent: findings.isDifferent, problems };
}

/** Reads each run as a hook does. */
async function askWriter(path: string, findings: Findings): Promise<void> {
  const copy = `${path}-written`;
  for (const end of ['', '-wal', '-shm']) {
    await copyFile(`${path}${end}`, `${copy}${end}`).catch(() => rm(`${copy}${end}`, { force: true }));
  }
  await findings.read(async () => {
    const store = sqliteOneShot(copy, { timeoutMs: 0 });
    try {
      for (const runId of RUNS) {
        await findings.read(() =>
          store.transact(runId, (found) => {
            const { snapshot, snapshotSeq, summary } = found;
            findings.records(runId, found.missed(), 'transact');
            const isWhole = isDeepStrictEqual(snapshot, { of: runId, text: 'state '.repeat(50) });
            if (snapshot !== undefined && snapshot !== null && (!isWhole || snapshotSeq !== 15)) {
              findings.wrong.push(`transact: another snapshot of ${runId}`);
            }
            if (summary !== undefined && !isDeepStrictEqual(summary, summaryAt(runId, summary.records))) {
              findings.wrong.push(`transact: another summary of ${runId}`);
            }
            return { records: [], result: undefined };
          }),
        );
      }
    } finally {
      await store.close();
    }
  });
}
