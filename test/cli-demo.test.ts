import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';

import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli } from './run-cli.ts';
import { storeFileOf } from './user-state.ts';

const sample = fileURLToPath(new URL('../samples/stuck-run.jsonl', import.meta.url));
const FLAGGED = '  ▲ stuck, likely: the same failure after each edit, bash, seen 5 times since call 4\n';

let cwd: string;

beforeEach(() => void (cwd = testFolder()));

function storeFile(): string {
  return storeFileOf({ project: cwd, env: process.env });
}

test('the demo shows calls, a pattern, advice, how the agent follows it, and what to do next', async () => {
  const { code, stdout, stderr } = await runCli(['demo'], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('\n  #12 bash node check.mjs  × FAIL total: expected 7439, got 7438\n' + FLAGGED);
  expect(stdout).toContain(
    '    ▸ Deadline feedback, info\n    │ [Feedback - Deadline]\n    │\n    │ You have 7 minutes remaining.\n',
  );
  expect(stdout).toContain('in spite of your edits (calls 4 to 12). Last result: error.\n');
  expect(stdout).toContain(
    'it took 22 more calls.\n  #13 read_file tax.mjs\n' +
      '  #14 edit_file {path: "tax.mjs", old: "Math.floor", new: "Math.round"}\n  #15 bash node check.mjs\n' +
      '  △ over: the same failure after each edit, bash\n',
  );
  expect(stdout).toContain('its source says that it worked');
  expect(stdout).toMatch(/\n17 calls, 1 pattern, (\d+) pieces of advice \(Deadline \d+, [^\n]+\), \1 delivered\.\n/);
  expect(stdout).toContain(`\nThe run is recorded in ${storeFile()}.\n`);
  expect(stdout).toMatch(/coxswain show demo-stuck-run\n[^\n]+coxswain analyze PATH…\n[^\n]+coxswain watch\n$/);
});

test('the demo records what it shows: every piece of advice, delivered', async () => {
  const { stdout } = await runCli(['demo', '--store', 'other.db'], { cwd });
  expect(stdout).toContain('coxswain show demo-stuck-run --store other.db\n');
  const shown = await runCli(['show', 'demo-stuck-run', '--json', '--store', 'other.db'], { cwd });
  const payloads = jsonLines(shown.stdout).map((record) => record['payload'] as Readonly<Record<string, unknown>>);
  const of = (...kinds: readonly string[]) => payloads.filter(({ kind }) => kinds.includes(String(kind)));
  const produced = of('feedback_produced', 'guidance_produced');
  expect(produced.length).toBe(stdout.match(/^ {4}▸ /gm)?.length);
  expect(of('feedback_delivered', 'guidance_delivered')).toHaveLength(produced.length);
  expect(of('pattern_flagged')).toHaveLength(stdout.match(/^ {2}▲ /gm)?.length ?? 0);
  expect(of('pattern_cleared')).toHaveLength(stdout.match(/^ {2}△ /gm)?.length ?? 0);
});

test('repeating the demo changes nothing, also after an interruption', async () => {
  const first = await runCli(['demo'], { cwd });
  const shown = await runCli(['show', 'demo-stuck-run', '--json'], { cwd });
  expect(await runCli(['demo'], { cwd })).toEqual(first);
  expect((await runCli(['show', 'demo-stuck-run', '--json'], { cwd })).stdout).toBe(shown.stdout);
  expect(jsonLines((await runCli(['runs', '--json'], { cwd })).stdout)).toHaveLength(1);

  // As far as an interrupted one came.
  await writeFile(join(cwd, 'part.jsonl'), `${shown.stdout.split('\n').slice(0, 40).join('\n')}\n`);
  const store = await import('../src/stores/sqlite/sqlite-store.ts');
  const { decodeRecord } = await import('../src/core/records/decode-record.ts');
  const part = store.sqliteStore(join(cwd, 'part.db'));
  await part.append(jsonLines(await readFile(join(cwd, 'part.jsonl'), 'utf8')).map(decodeRecord));
  await part.close();
  const again = await runCli(['demo', '--store', 'part.db'], { cwd });
  expect([again.code, again.stderr]).toEqual([0, '']);
  expect((await runCli(['show', 'demo-stuck-run', '--json', '--store', 'part.db'], { cwd })).stdout).toBe(shown.stdout);
});

test('a demo that the store does not accept reports that, and its exit code is 1', async () => {
  const { sqliteStore } = await import('../src/stores/sqlite/sqlite-store.ts');
  const store = sqliteStore(join(cwd, 'locked.db'));
  await store.listRuns();
  await store.close();
  const other = new DatabaseSync(join(cwd, 'locked.db'));
  other.exec('BEGIN IMMEDIATE');
  const { code, stdout, stderr } = await runCli(['demo', '--store', 'locked.db'], { cwd });
  other.close();
  expect(code).toBe(1);
  expect(stdout).not.toContain('The run is recorded');
  expect(stderr).toContain('coxswain: locked.db: the run is not recorded completely\n');
});

test('if the store holds another run with its id, the demo uses a new id, the same each time', async () => {
  await writeFile(
    join(cwd, 'x.json'),
    JSON.stringify({ id: 'demo-stuck-run', calls: [{ tool: 'bash', result: 'x' }] }),
  );
  await runCli(['analyze', 'x.json', '--store', storeFile()], { cwd });
  for (let time = 0; time < 2; time += 1) {
    const { code, stdout, stderr } = await runCli(['demo'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('coxswain show demo-stuck-run-2\n');
  }
  const runs = jsonLines((await runCli(['runs', '--json'], { cwd })).stdout).map((run) => run['runId']);
  expect(new Set(runs)).toEqual(new Set(['demo-stuck-run', 'demo-stuck-run-2']));
});

test('the demo and an analysis of the sample have different ids in a store', async () => {
  await runCli(['demo'], { cwd });
  const analysed = await runCli(['analyze', sample, '--store', storeFile()], { cwd });
  expect([analysed.code, analysed.stderr]).toEqual([0, '']);
  expect((await runCli(['demo'], { cwd })).code).toBe(0);
});

test('colours are used only on request', async () => {
  const coloured = await runCli(['demo'], { cwd, env: { FORCE_COLOR: '1' } });
  expect(coloured.stdout).toContain('\u001b[');
  const plain = await runCli(['demo'], { cwd, env: { NO_COLOR: '1' } });
  expect(plain.stdout).not.toContain('\u001b');
});
