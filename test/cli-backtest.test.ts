import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { beforeAll, expect, test } from 'vitest';

import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli, type CliResult } from './run-cli.ts';

const SAMPLE = fileURLToPath(new URL('../samples/stuck-run.jsonl', import.meta.url));

const folder = testFolder();
beforeAll(async () => {
  const demo = await runCli(['demo', '--fast', '--store', 'runs.db'], { cwd: folder });
  if (demo.code !== 0) throw new Error(demo.stderr);
  await writeFile(join(folder, 'strict.json'), '{"guidance":{"doomLoop":{"maxRepetitions":2}}}');
});

function run(...args: readonly string[]): Promise<CliResult> {
  return runCli(['backtest', ...args], { cwd: folder });
}

test('the sample is backtested with the standard steering: a table, and the note on what a recording cannot show', async () => {
  const { code, stdout, stderr } = await run(SAMPLE);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^1 run, \d+ calls: /);
  expect(stdout).toMatch(/\nPattern +\d+ +1 /);
  expect(stdout).toContain('A recording shows where a configuration would have given advice');
});

test('--json is one line that is the same every time', async () => {
  const [first, second] = [
    await run(SAMPLE, '--json', '--workers', '1'),
    await run(SAMPLE, '--json', '--workers', '2'),
  ];
  expect(first.stdout).toBe(second.stdout);
  const [report] = jsonLines(first.stdout);
  expect(Object.keys(report ?? {})).toEqual([
    'version',
    'paths',
    'configurations',
    'input',
    'truth',
    'parts',
    'gates',
    'notes',
  ]);
});

test('--stop-early says what stopping at a warning would have saved', async () => {
  const { code, stdout } = await run(SAMPLE, '--stop-early');
  expect(code).toBe(0);
  expect(stdout).toMatch(/\nat the first stuck warning +1 +[\d.]+ % \(/);
});

test('--compare takes two configurations and then paths', async () => {
  const { code, stdout } = await run('--compare', 'standard', 'strict.json', SAMPLE);
  expect(code).toBe(0);
  expect(stdout).toContain('standard → strict.json: ');
  expect(await run(SAMPLE, '--compare', 'standard')).toMatchObject({ code: 2 });
});

test('configurations that differ in a budget or a deadline alone have different hashes, and no common journal', async () => {
  await writeFile(join(folder, 'budget.json'), '{"budget":{"calls":3}}');
  await writeFile(join(folder, 'deadline.json'), '{"deadline":"1m"}');
  const hashes = new Set<unknown>();
  for (const file of ['budget.json', 'deadline.json']) {
    const { code, stdout, stderr } = await run('--json', '--compare', 'standard', file, SAMPLE);
    expect([code, stderr]).toEqual([0, '']);
    const [report] = jsonLines(stdout);
    for (const [, hash] of JSON.stringify(report).matchAll(/"hash":"(\w+)"/g)) hashes.add(hash);
  }
  expect(hashes.size).toBe(3);
  await run('--config', 'budget.json', '--resume', 'budget.journal', SAMPLE);
  await writeFile(join(folder, 'budget.json'), '{"budget":{"calls":300}}');
  const { stderr } = await run('--config', 'budget.json', '--resume', 'budget.journal', SAMPLE);
  expect(stderr).toContain('belongs to another input or configuration');
});

test('a gate that is not kept is exit code 1 with the reason', async () => {
  const { code, stdout, stderr } = await run(SAMPLE, '--max-advice-per-100-calls', '1');
  expect(code).toBe(1);
  expect(stdout).toContain('broken  max-advice-per-100-calls');
  expect(stderr).toMatch(/^coxswain: max-advice-per-100-calls: advice per 100 calls is [\d.]+, over 1\n$/);
  expect(await run(SAMPLE, '--max-advice-per-100-calls', '500')).toMatchObject({ code: 0 });
});

test('--verify: what was recorded live is reproduced', async () => {
  const { code, stdout } = await run('runs.db', '--verify');
  expect(stdout).toMatch(/\d+ derived records matched, 0 mismatched, in 1 run; /);
  expect(code).toBe(0);
});

test('--verify: a derived record that differs is shown from both sides, and is exit code 1', async () => {
  const exported = await runCli(['export', '--store', 'runs.db'], { cwd: folder });
  const tampered = exported.stdout.replace('[Feedback - Pattern]', '[Feedback - Other]');
  expect(tampered).not.toBe(exported.stdout);
  await runCli(['import', '-', '--store', 'tampered.db'], { cwd: folder, stdin: tampered });
  const { code, stdout } = await run('tampered.db', '--verify');
  expect(stdout).toContain('1 mismatched');
  expect(stdout).toContain('[Feedback - Other]');
  expect(code).toBe(1);
});

test('--verify under another configuration than its own says so, and what is no store is wrong usage', async () => {
  const { code, stdout, stderr } = await run('runs.db', '--verify', '--config', 'strict.json');
  expect(stdout).toMatch(/recorded under the configuration [0-9a-f]{16}, not [0-9a-f]{16}/);
  expect(stderr).toContain('no run could be verified under strict.json');
  expect(code).toBe(1);
  expect(await run(SAMPLE, '--verify')).toMatchObject({ code: 2 });
});

test('a configuration in code is backtested, on two threads too, and is not swept', async () => {
  await writeFile(
    join(folder, 'code.config.mjs'),
    `export default {
      code: {
        feedback: [{
          provider: { name: 'in code', shouldRun: () => true, provide: () => ({ summary: 'Look.' }) },
          trigger: { everyNCalls: 4 },
        }],
      },
    };`,
  );
  const { code, stdout, stderr } = await run(SAMPLE, 'runs.db', '--config', 'code.config.mjs', '--workers', '2');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/\nin code +\d+ +2 /);
  const swept = await run(SAMPLE, '--config', 'code.config.mjs', '--sweep', 'doomLoop.maxRepetitions=2..3');
  expect(swept).toMatchObject({
    code: 2,
    stderr:
      'coxswain: code.config.mjs: only a configuration without code can be swept; put the numbers into a .json file\n',
  });
});

test('labels: bad ones are refused with the line, unknown ids are told, good ones count', async () => {
  const labels = join(folder, 'labels.csv');
  await writeFile(labels, 'id,target,split,note\nsample-stuck-run,stuck,,seen\nmissing,ok,,\n');
  const { code, stdout, stderr } = await run(SAMPLE, '--labels', 'labels.csv');
  expect(code).toBe(1);
  expect(stderr).toBe('coxswain: labels.csv: 1 label matches no run and no call of one: missing\n');
  expect(stdout).toContain('1 stuck, 0 ok, 0 unlabelled');
  await writeFile(labels, 'id,target,split,note\nsample-stuck-run,maybe,,\n');
  const bad = await run(SAMPLE, '--labels', 'labels.csv');
  expect(bad.code).not.toBe(0);
  expect(bad.stderr).toMatch(/line 2|:2:/);
});

test('wrong usage is exit code 2, what cannot be read is 1', async () => {
  expect(await run(SAMPLE, '--sweep', 'zebra=1..2')).toMatchObject({ code: 2 });
  expect(await run(SAMPLE, '--min-recall', '2')).toMatchObject({ code: 2 });
  expect(await run(SAMPLE, '--workers', '0')).toMatchObject({ code: 2 });
  expect(await run('nowhere')).toMatchObject({ code: 1 });
  await writeFile(join(folder, 'bad.json'), '{"guidance":{"doomLop":true}}');
  const bad = await run(SAMPLE, '--config', 'bad.json');
  expect(bad.code).toBe(2);
  expect(bad.stderr).toContain('doomLop');
});

test('--resume keeps what is done', async () => {
  const first = await run(SAMPLE, 'runs.db', '--resume', 'journal', '--json');
  expect(first.code).toBe(0);
  expect((await readFile(join(folder, 'journal'), 'utf8')).trim().split('\n')).toHaveLength(3);
  expect((await run(SAMPLE, 'runs.db', '--resume', 'journal', '--json')).stdout).toBe(first.stdout);
});

test('without labels the table says how often, in how many runs and how early advice was given', async () => {
  const call = { tool: 'Bash', args: { command: 'make' }, result: 'no rule', isError: true };
  const session = (id: string, calls: number): string =>
    JSON.stringify({ id, calls: Array.from({ length: calls }, () => call) });
  await writeFile(join(folder, 'plain.jsonl'), `${session('long', 20)}\n${session('short', 1)}`);
  const { code, stdout } = await run('plain.jsonl');
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n +times +runs +of the runs +a run with any +per 100 calls +calls left\n/);
  expect(stdout).toMatch(/\nany advice +[1-9] +1 +50 % +[1-9]\.0 +\d+\.\d\d +\d+ %/);
  expect(stdout).not.toContain('F1');
});

test('--lessons judges each session by the sessions before it, and each of several folders is a project', async () => {
  const session = (index: number, isError: boolean): string =>
    JSON.stringify({
      id: `s${index}`,
      calls: [{ tool: 'Bash', args: { command: 'rtk bun' }, result: "unrecognized subcommand 'bun'", isError }],
    });
  await writeFile(
    join(folder, 'one.jsonl'),
    [true, true, true, false].map((fails, index) => session(index, fails)).join('\n'),
  );
  await writeFile(join(folder, 'two.jsonl'), session(9, true));
  const { code, stdout } = await run('--lessons', 'one.jsonl', 'two.jsonl');
  expect(code).toBe(0);
  expect(stdout).toMatch(/one\.jsonl +4 +3 +0 +2 +1 +1\n/);
  expect(stdout).toMatch(/projects without a warning: 50 %/);
  expect(stdout).toContain('one.jsonl, call 1 of s3: rtk bun');
});

test('subagents are in the group of their session, and a store has the groups of the files it was made from', async () => {
  const sessions = join(folder, 'sessions');
  await mkdir(sessions);
  for (const name of ['one', 'two', 'three']) {
    const lines = [name, `${name}/agent`].flatMap((id) => {
      const parent = id === name ? {} : { parent_run_id: name };
      const identity = { run_id: id, depth: 0, agent_name: 'claude', ...parent };
      const payloads = [
        { kind: 'run_started', identity },
        { kind: 'tool_started', tool_call_id: 'c', tool_name: 'bash', args: { command: 'ls' } },
        { kind: 'tool_ended', tool_call_id: 'c', tool_name: 'bash', result: id, is_error: false },
        { kind: 'run_ended', outcome: 'ended', success: name === 'one', new_messages: [] },
      ];
      const place = { schema_version: 1, run_id: id, depth: id === name ? 0 : 1, ...parent };
      return payloads.map((payload, seq) => JSON.stringify({ ...place, seq, recorded_at_unix_ms: 1 + seq, payload }));
    });
    await writeFile(join(sessions, `${name}.jsonl`), `${lines.join('\n')}\n`);
  }
  const stored = await runCli(['analyze', 'sessions', '--store', 'sessions.db', '--summary'], { cwd: folder });
  expect(stored.code).toBe(0);
  for (const input of ['sessions', 'sessions.db']) {
    const [report] = jsonLines((await run(input, '--json')).stdout);
    const group = { name: expect.stringMatching(/sessions: claude$/), runs: 6, positive: 4, negative: 2 };
    expect(report).toMatchObject({ parts: [{ groups: [group] }] });
  }
});
