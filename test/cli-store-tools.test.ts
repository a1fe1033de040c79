import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { openStoreNamed } from '../src/cli/runs/open-store.ts';
import { KINDS } from '../src/core/records/kinds.ts';
import { parseRecord } from '../src/core/records/decode-record.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { useStoresFolder } from './cli-stores.ts';
import { damageRecord, recordLine } from './damage-record.ts';
import { BIN, jsonLines } from './run-cli.ts';

const here = useStoresFolder();

test('runs are listed, shown, searched and verified', async () => {
  const store = 'runs.db';
  await here.recorded(store);
  expect(jsonLines((await here.run(['runs', '--store', store, '--json'])).stdout)).toHaveLength(2);
  expect((await here.run(['show', 'alpha', '--store', store])).stdout).toContain('make all');

  const found = await here.run(['search', 'rule', 'TARGET', '--kind', 'tool_ended', '--store', store, '--json']);
  expect([found.code, found.stderr]).toEqual([0, '']);
  const hits = jsonLines(found.stdout);
  expect(hits).toHaveLength(8);
  expect(hits.every((hit) => hit['runId'] === 'alpha' && hit['kind'] === 'tool_ended')).toBe(true);
  const seqs = hits.map((hit) => Number(hit['seq']));
  expect(seqs).toEqual(seqs.toSorted((left, right) => right - left));
  const text = await here.run(['search', 'rule', '--run', 'al', '--limit', '1', '--store', store]);
  expect(text.stdout).toMatch(
    /^1 hit, the newest first; coxswain show SESSION --call N shows a call\nalpha {2}call \d+ {2}bash result {2}make: no rule for target all\n$/,
  );
  expect(text.stderr).toMatch(/^coxswain: more follow: --after \S+\n$/);

  const verified = await here.run(['verify', store]);
  expect([verified.code, verified.stderr]).toEqual([0, '']);
  expect(verified.stdout).toMatch(/: 2 runs, \d+ records checked: nothing is wrong\n$/);
});

test('runs, show, search, gc and report say the time of this machine with its zone, and search numbers calls as show does', async () => {
  const sample = fileURLToPath(new URL('../samples/stuck-run.jsonl', import.meta.url));
  const env = { TZ: 'Asia/Kolkata' };
  const stdoutOf = async (...args: readonly string[]): Promise<string> => (await here.run(args, { env })).stdout;
  await stdoutOf('analyze', sample, '--store', 'runs.db');
  // The sample began at 22:04 UTC.
  const began = '2026-10-13 03:34 UTC+05:30';
  expect(await stdoutOf('runs', '--store', 'runs.db')).toContain(began);
  const shown = await stdoutOf('show', 'sample-stuck-run', '--store', 'runs.db');
  expect(shown).toContain('started 2026-10-13 03:34, ended 2026-10-13 03:40 UTC+05:30');
  const found = await stdoutOf('search', '"old text not found"', '--kind', 'tool_ended', '--store', 'runs.db');
  const numbers = [
    ...found.matchAll(
      /^2026-10-13 \d\d:\d\d {2}sample-stuck-run {2}call (\d+) {2}\S+ result {2}.*old text not found/gm,
    ),
  ].map(([, number]) => number);
  expect(numbers).toEqual(['20', '19', '18', '17']);
  expect(found).toContain('4 hits, the newest first, times in UTC+05:30;');
  for (const number of ['17', '19', '20']) expect(shown).toContain(`#${number} edit_file`);
  expect(await stdoutOf('gc', 'runs.db', '--older-than', '1d', '--dry-run')).toMatch(/2026-10-13 \d\d:\d\d UTC\+05:30/);
  expect(await stdoutOf('report', 'runs.db', '--since', 'all', '--all')).toContain('UTC+05:30');
});

test('a search for a kind that does not exist is wrong usage, and the kinds are named', async () => {
  const { code, stdout, stderr } = await here.run(['search', 'make', '--kind', 'tool_endd', '--store', 'runs.db']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe(`coxswain: --kind tool_endd: give one of ${Object.keys(KINDS).join(', ')}\n`);
});

test('what is not there is nothing found, and exit code 0', async () => {
  const store = 'runs.db';
  await here.recorded(store);
  const { code, stdout, stderr } = await here.run(['search', 'zebra', '--store', store]);
  expect([code, stdout, stderr]).toEqual([0, '', 'coxswain: nothing found in runs.db\n']);
  expect((await here.run(['search', '...', '--store', store])).code).toBe(2);
  const empty = sqliteStore(join(here.cwd, 'empty.db'));
  await empty.listRuns();
  await empty.close();
  const { stderr: ofEmpty } = await here.run(['search', 'zebra', '--store', 'empty.db']);
  expect(ofEmpty).toBe('coxswain: nothing found in empty.db\n');
});

test('verify names the place of damage, and leaves with 1', async () => {
  const store = 'runs.db';
  await here.recorded(store);
  damageRecord(join(here.cwd, store), 'beta', 5);
  const { code, stderr } = await here.run(['verify', store]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^coxswain: [^\n]+: run beta, seq 5: [^\n]+\n/);
  const json = await here.run(['verify', store, '--json']);
  expect([json.code, jsonLines(json.stdout)[0]]).toEqual([1, expect.objectContaining({ runId: 'beta', seq: 5 })]);
  const partly = await here.run(['export', '--store', store]);
  expect(partly.code).toBe(1);
  expect(partly.stderr).toMatch(/^coxswain: [^\n]+: run beta is incomplete here: [^\n]+coxswain recover[^\n]+\n$/);
});

test('an export is imported with every record as it was, also twice', async () => {
  const store = 'runs.db';
  const other = 'other.db';
  await here.recorded(store);
  const all = await here.exported(store);
  await writeFile(join(here.cwd, 'all.ndjson'), all);
  for (const round of [1, 2]) {
    const { code, stdout, stderr } = await here.run(['import', 'all.ndjson', '--store', other]);
    expect([round, code, stderr]).toEqual([round, 0, '']);
    expect(stdout).toMatch(/^2 runs, \d+ records now in other/);
  }
  expect(all.split('\n').toSorted()).toEqual((await here.exported(other)).split('\n').toSorted());
  const one = await here.run(['export', 'alp', '--store', store, '--to', 'alpha.ndjson']);
  expect(one.code).toBe(0);
  const lines = jsonLines(await readFile(join(here.cwd, 'alpha.ndjson'), 'utf8'));
  expect(new Set(lines.map((record) => record['run_id']))).toEqual(new Set(['alpha']));
  expect((await here.run(['export', '--store', store, '--to', 'alpha.ndjson'])).code).toBe(2);
});

test('a store is copied into another, and the copy may be repeated', async () => {
  await here.recorded('runs.db');
  for (const args of [['export', 'alpha'], ['export'], ['export']]) {
    const { code, stderr } = await here.run([...args, '--store', 'runs.db', '--to-store', 'copied.db']);
    expect([code, stderr]).toEqual([0, '']);
  }
  const before = (await here.exported('runs.db')).split('\n').toSorted();
  expect((await here.exported('copied.db')).split('\n').toSorted()).toEqual(before);
  expect((await here.run(['export', '--store', 'runs.db', '--to-store', './runs.db'])).code).toBe(2);
  expect((await here.run(['export', '--store', 'runs.db', '--to-store', 'runs.db', '--to', 'x'])).code).toBe(2);
});

test('a folder is no store, and the records in a folder of JSON lines are imported from standard input', async () => {
  await here.recorded('runs.db');
  const before = await here.exported('runs.db');
  await mkdir(join(here.cwd, 'lines'));
  const refusals = [
    ['runs', '--store', 'lines'],
    ['verify', 'lines'],
    ['search', 'rule', '--store', 'lines'],
    ['gc', 'lines'],
    ['demo', '--fast', '--store', 'lines'],
    ['import', '-', '--store', 'new/'],
  ];
  for (const args of refusals) {
    const refused = await here.run(args, { stdin: before });
    expect([args, refused.code, refused.stderr]).toEqual([
      args,
      2,
      expect.stringMatching(/is a folder, .*cat FOLDER\/\*\/\*\.jsonl \| coxswain import - --store FILE/),
    ]);
  }
  const { code, stderr } = await here.run(['import', '-', '--store', 'moved.db'], { stdin: before });
  expect([code, stderr]).toEqual([0, '']);
  expect((await here.exported('moved.db')).split('\n').toSorted()).toEqual(before.split('\n').toSorted());
});

test('a search of records that were never indexed finds the last of them', async () => {
  const stdin = Array.from({ length: 12_000 }, (_, seq) =>
    recordLine('big', seq, { kind: 'noted', text: `needle${seq} ${'some words '.repeat(20)}` }),
  ).join('\n');
  expect((await here.run(['import', '-', '--store', 'runs.db'], { stdin })).code).toBe(0);
  const { stdout, stderr } = await here.run(['search', 'needle11999', '--store', 'runs.db', '--json']);
  expect([stderr, jsonLines(stdout).map((hit) => hit['seq'])]).toEqual(['', [11_999]]);
});

test('holes, conflicts and broken lines are a line each, and the rest is imported', async () => {
  const other = { kind: 'turn_ended', assistant: { role: 'assistant', content: [] }, tool_results: [] };
  const lines = [
    recordLine('ok', 0),
    recordLine('hole', 0),
    recordLine('ok', 1, { kind: 'gap', through_seq: 4, reason: 'lost' }),
    recordLine('hole', 2),
    recordLine(undefined, 0),
    '{broken',
    recordLine('again', 0),
    recordLine('again', 0, other),
    recordLine('late', 3),
    recordLine('ok', 5, { kind: 'not_known_yet', deep: { a: ['\u001b[2J'] } }),
  ];
  const args = ['import', '-', '--store', 'runs.db'];
  const { code, stderr } = await here.run(args, { stdin: lines.join('\n') });
  expect(code).toBe(1);
  const messages = stderr.trimEnd().split('\n').toSorted();
  expect(messages).toHaveLength(5);
  expect(messages[0]).toMatch(/standard input: run again: .*seq 0/);
  expect(messages[1]).toMatch(/standard input: run late: .*seq 0, the batch begins at 3/);
  expect(messages[2]).toMatch(/standard input:4: run hole: seq 1 to 1 are missing/);
  expect(messages[3]).toMatch(/standard input:5: .*no run_id/);
  expect(messages[4]).toMatch(/standard input:6: .*not JSON/);
  const exported = jsonLines((await here.run(['export', 'ok', '--store', 'runs.db'])).stdout);
  expect(exported).toEqual([lines[0], lines[2], lines[9]].map((text): unknown => JSON.parse(text ?? '')));
  expect((await here.run(['export', '--store', 'runs.db'])).stdout).not.toContain('\u001b');
});

test('an import replaces secrets, and a copy from store to store leaves records as they are', async () => {
  const stdin = recordLine('leaky', 0, { kind: 'noted', text: `Authorization: Bearer ${'a1B2c3D4'.repeat(5)}` });
  const store = sqliteStore(join(here.cwd, 'raw.db'));
  await store.append([parseRecord(stdin)]);
  await store.close();
  await here.run(['export', '--store', 'raw.db', '--to-store', 'copy.db']);
  expect(await here.exported('copy.db')).toBe(await here.exported('raw.db'));
  await here.run(['import', '-', '--store', 'clean.db'], { stdin });
  const clean = await here.exported('clean.db');
  expect(clean).toContain('[REDACTED:');
  expect(clean).not.toContain('a1B2c3D4a1B2c3D4');
});

test('what a store holds with its secrets may be imported back, goes on, and is a conflict when it differs', async () => {
  const name = 'runs.db';
  const bearer = (letter: string): string => `Authorization: Bearer ${`${letter}1B2c3D4`.repeat(5)}`;
  const noted = (seq: number, text: string): string => recordLine('leaky', seq, { kind: 'noted', text });
  const lines = [noted(0, bearer('a')), noted(1, 'plain'), noted(2, bearer('b'))];
  const at = ['--store', name];
  const store = await openStoreNamed(join(here.cwd, name));
  await store.append(lines.map(parseRecord));
  await store.close();
  const before = await here.exported(name);
  const args = ['import', '-', ...at];
  const same = await here.run(args, { stdin: before });
  expect([same.code, same.stderr]).toEqual([0, '']);
  expect(await here.exported(name)).toBe(before);

  const more = await here.run(args, { stdin: [...lines, noted(3, bearer('c'))].join('\n') });
  expect([more.code, more.stderr]).toEqual([0, '']);
  const after = jsonLines(await here.exported(name));
  expect(after).toHaveLength(4);
  expect(JSON.stringify(after.slice(0, 3))).toContain('a1B2c3D4');
  expect(JSON.stringify(after[3])).toMatch(/\[REDACTED:bearer-token:[a-z]+\]/);

  const other = await here.run(args, { stdin: [noted(0, bearer('a')), noted(1, 'other')].join('\n') });
  expect(other.code).toBe(1);
  expect(other.stderr).toMatch(/run leaky: .*another record at seq 1/);
  expect(jsonLines(await here.exported(name))).toEqual(after);
});

test('what is no record is refused with a hint, and no store is made', async () => {
  for (const name of ['a.json', 'empty.json']) {
    if (name === 'empty.json') await writeFile(join(here.cwd, name), '');
    const { code, stderr } = await here.run(['import', name, '--store', 'new.db']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^coxswain: [^\n]*not records of coxswain[^\n]*coxswain analyze [^\n]* --store[^\n]*\n$/);
  }
  await expect(stat(join(here.cwd, 'new.db'))).rejects.toThrow('ENOENT');
});

test('every command has help with an example, and none lets what is stored act on a terminal', async () => {
  for (const command of ['search', 'verify', 'export', 'import', 'recover']) {
    const help = await here.run([command, '--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toMatch(/\nExamples:\n {2}\S*coxswain /);
  }
  const evil = '\u001b[2Jevil\u202e\u009b31m\nnext';
  const message = { kind: 'evil', text: `needle ${evil}` };
  const stdin = [recordLine(evil, 0, message), recordLine(evil, 2, message), recordLine(`${evil}2`, 0, message)].join(
    '\n',
  );
  const results = [await here.run(['import', '-', '--store', 'runs.db'], { stdin })];
  damageRecord(join(here.cwd, 'runs.db'), `${evil}2`, 0);
  const [store, missing] = [['--store', 'runs.db'], `${evil}.db`];
  for (const args of [
    ['search', 'needle', ...store],
    ['search', 'needle', ...store, '--json'],
    ['search', evil, ...store, '--run', evil],
    ['export', ...store],
    ['verify', 'runs.db'],
    ['verify', 'runs.db', '--json'],
    ['verify', missing],
    ['import', missing],
    ['recover', 'runs.db', '--to', missing],
    ['recover', 'runs.db', '--to', missing],
  ]) {
    results.push(await here.run(args));
  }
  for (const { stdout, stderr } of results) {
    expect(stdout + stderr).not.toBe('');
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(stderr).not.toMatch(/^\s+at /m);
  }
});

// Windows has no limit of a file's size.
test.skipIf(process.platform === 'win32')('an export for which there is no room leaves no file behind', async () => {
  await here.recorded('runs.db');
  const command = 'ulimit -f 4; exec "$0" "$@"';
  const args = ['-c', command, process.execPath, BIN, 'export', '--store', 'runs.db', '--to', 'all.ndjson'];
  const { status, stderr } = spawnSync('bash', args, { cwd: here.cwd, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('coxswain: ')]);
  expect((await readdir(here.cwd)).filter((name) => name.startsWith('all.'))).toEqual([]);
  expect((await here.run(['export', '--store', 'runs.db', '--to', 'all.ndjson'])).code).toBe(0);
});

test('the store of an earlier version in the project is named and not opened; import moves its runs, and repeating it changes nothing', async () => {
  const old = '.coxswain/runs.db';
  const env = { XDG_DATA_HOME: join(here.cwd, 'data') };
  await here.recorded(old);
  const all = await here.exported(old);
  const before = await readFile(join(here.cwd, old));
  const note =
    'coxswain: .coxswain/runs.db holds runs of an earlier version: move them with coxswain import .coxswain/runs.db';
  for (const args of [['runs'], ['verify'], ['effect'], ['export']]) {
    const { code, stderr, stdout } = await here.run(args, { env });
    expect([args, code === 0, stdout]).toEqual([args, false, '']);
    expect(stderr.split('\n')[0]).toBe(`${note}, then delete it`);
  }
  const empty = await here.run(['report'], { env });
  expect([empty.code, empty.stderr]).toEqual([0, `${note}, then delete it\n`]);
  for (let times = 0; times < 2; times += 1) {
    const moved = await here.run(['import', old], { env });
    expect([moved.code, moved.stderr]).toEqual([0, '']);
    expect(moved.stdout).toMatch(/^2 runs, \d+ records now in .*\/data\/coxswain\/[\w.-]+-[0-9a-f]{16}\.db\n$/);
  }
  expect(await here.run(['import', old, '--store', old], { env })).toMatchObject({ code: 2 });
  expect(await readFile(join(here.cwd, old))).toEqual(before);
  await rm(join(here.cwd, '.coxswain'), { recursive: true });
  const exported = await here.run(['export'], { env });
  expect([exported.stdout, exported.stderr]).toEqual([all, '']);
  expect(jsonLines((await here.run(['runs', '--json'], { env })).stdout)).toHaveLength(2);
});
