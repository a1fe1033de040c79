import { copyFile, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';

import { testFolder } from './support/test-folder.ts';
import { homeOnly, jsonLines, runCli, sampleRun } from './run-cli.ts';

const cwd = testFolder();

beforeAll(async () => {
  await mkdir(join(cwd, 'runs', 'deep'), { recursive: true });
  await writeFile(join(cwd, 'runs', 'a.json'), sampleRun('stuck-one', 'stuck'));
  await writeFile(join(cwd, 'runs', 'deep', 'b.json.gz'), gzipSync(sampleRun('fine-one', 'fine')));
  await writeFile(join(cwd, 'runs', 'README.md'), '# Runs\n\nWhat lies here.\n');
  await writeFile(join(cwd, 'runs', 'notes.json'), '{"name":"not a run"}');
  await writeFile(join(cwd, 'runs', 'image.png'), Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 1, 255, 254]));
  const many = Array.from({ length: 60 }, (_, index) => sampleRun(`run-${index}`, index % 3 === 0 ? 'stuck' : 'fine'));
  await writeFile(join(cwd, 'many.jsonl'), `${many.join('\n')}\n`);
});

test('--json prints one line per run with every documented member', async () => {
  const { code, stdout, stderr } = await runCli(['analyze', 'runs/a.json', '--json'], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  const [run, ...rest] = jsonLines(stdout);
  expect(rest).toEqual([]);
  expect(run).toMatchObject({
    id: 'stuck-one',
    source: 'runs/a.json',
    format: 'calls',
    calls: 8,
    turns: 8,
    errors: 8,
    diagnostics: [],
  });
  const patterns = run?.['patterns'] as readonly Record<string, unknown>[];
  expect(patterns.length).toBeGreaterThan(0);
  const members = ['kind', 'stuck', 'level', 'confidence', 'flaggedAt', 'firstSeen', 'occurrences'];
  for (const pattern of patterns) {
    const { tool: _tool, clearedAt: _clearedAt, ...always } = pattern;
    expect(Object.keys(always)).toEqual([...members, 'evidence']);
    expect(always).toMatchObject({
      level: expect.stringMatching(/^(?:warn|strong)$/),
      flaggedAt: expect.any(Number),
      evidence: expect.any(Array),
    });
  }
  expect(patterns.some((pattern) => pattern['stuck'] === true && pattern['firstSeen'] === 1)).toBe(true);
});

test('folders and packed files are read, and the number of other files is reported', async () => {
  const { code, stdout, stderr } = await runCli(['analyze', 'runs', '--json'], { cwd });
  const count =
    'coxswain: 3 files are not trajectories and are left out; coxswain analyze --verbose gives the reasons\n';
  expect([code, stderr]).toEqual([0, count]);
  const { stderr: reasons } = await runCli(['analyze', 'runs', '--summary', '--verbose'], { cwd });
  expect(reasons).toContain('coxswain: runs/README.md: note: text that is not JSON');
  expect(jsonLines(stdout).map((run) => run['id'])).toEqual(['stuck-one', 'fine-one']);
});

test('- reads standard input, and equal ids of two sources stay apart', async () => {
  const stdin = sampleRun('stuck-one', 'stuck');
  const { code, stdout } = await runCli(['analyze', 'runs/a.json', '-', '--json'], { cwd, stdin });
  expect(code).toBe(0);
  expect(jsonLines(stdout).map((run) => [run['id'], run['source']])).toEqual([
    ['stuck-one', 'runs/a.json'],
    ['stuck-one#2', '-'],
  ]);
});

test('a quoted glob is expanded', async () => {
  const { stdout } = await runCli(['analyze', 'runs/**/*.gz', '--json'], { cwd });
  expect(jsonLines(stdout).map((run) => run['id'])).toEqual(['fine-one']);
});

test('the report of a stuck run shows the strip, the flagged call and the evidence', async () => {
  const { code, stdout } = await runCli(['analyze', 'runs/a.json'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('stuck-one');
  expect(stdout).toContain('××××××××');
  expect(stdout).toMatch(/from call 1, noticed at call \d+ of 8, seen \d+ times, /);
  expect(stdout).toContain('bash {command: "make all"}');
  expect(stdout).toContain('make: no rule for target all');
  expect(stdout, 'no totals for one run').not.toContain('outcome  ');
});

test('a report of several runs has a line for a clean run and ends with the totals', async () => {
  const { stdout } = await runCli(['analyze', 'runs'], { cwd });
  expect(stdout).toMatch(/^· run fine-one {2}8 calls, 0 errors, 8 turns: no pattern$/m);
  expect(stdout).toMatch(/2 runs, 16 calls, 8 errors\nshares [^\n]*\nstuck: 1, 50 % \(9\.5–91 %\) of 2\n/);
});

test('beyond 50 runs only stuck ones are printed, unless --all is given', async () => {
  const some = await runCli(['analyze', 'many.jsonl'], { cwd });
  expect(some.stdout.match(/^● run run-/gm)?.length).toBe(20);
  expect(some.stdout).not.toContain('✓');
  expect(some.stdout).toContain('60 runs: only the 20 that got stuck are shown. --all shows every run.');
  const all = await runCli(['analyze', 'many.jsonl', '--all'], { cwd });
  expect(all.stdout.match(/^[●·] run run-/gm)?.length).toBe(60);
});

test('--stuck reports only runs that got stuck, and counts them all', async () => {
  const json = await runCli(['analyze', 'many.jsonl', '--stuck', '--json'], { cwd });
  expect(jsonLines(json.stdout)).toHaveLength(20);
  const text = await runCli(['analyze', 'many.jsonl', '--stuck'], { cwd });
  expect(text.stdout).not.toContain('✓');
  expect(text.stdout).toContain('60 runs, 480 calls, 160 errors');
});

test('--summary prints only the totals, as text or JSON', async () => {
  const text = await runCli(['analyze', 'many.jsonl', '--summary'], { cwd });
  expect(text.stdout).toMatch(/^60 runs, 480 calls, 160 errors\nshares [^\n]*\nstuck: 20, 33 % \(23–46 %\) of 60\n/);
  expect(text.stdout).not.toContain('run-0');
  const json = await runCli(['analyze', 'many.jsonl', '--summary', '--json'], { cwd });
  expect(jsonLines(json.stdout)).toMatchObject([{ runs: 60, stuck: 20, calls: 480, errors: 160 }]);
});

test('--hints reports hints, with flaggedAt null', async () => {
  const stdin = sampleRun('two', 'stuck', 2);
  const without = await runCli(['analyze', '-', '--json'], { cwd, stdin });
  expect(jsonLines(without.stdout)).toMatchObject([{ patterns: [] }]);
  const withHints = await runCli(['analyze', '-', '--json', '--hints'], { cwd, stdin });
  const patterns = jsonLines(withHints.stdout)[0]?.['patterns'] as readonly unknown[];
  expect(patterns.length).toBeGreaterThan(0);
  for (const pattern of patterns) expect(pattern).toMatchObject({ level: 'hint', flaggedAt: null });
});

test('FORCE_COLOR turns colours on; NO_COLOR and a pipe turn them off', async () => {
  const plain = await runCli(['analyze', 'runs'], { cwd });
  expect(plain.stdout).not.toContain('\u001b');
  const noColor = await runCli(['analyze', 'runs'], { cwd, env: { NO_COLOR: '1' } });
  expect(noColor.stdout).toBe(plain.stdout);
  const forced = await runCli(['analyze', 'runs'], { cwd, env: { FORCE_COLOR: '1' } });
  expect(forced.stdout).toContain('\u001b[31m');
});

test('an interrupt while waiting for input exits with 130 and prints nothing', async () => {
  const result = await runCli(['analyze', '-'], {
    cwd,
    // More than the system keeps between two processes: it is through once the command reads.
    holdStdin: ({ interrupt, write }) => write(`["${'x'.repeat(8_000_000)}`, interrupt),
  });
  expect(result).toEqual({ code: 130, stdout: '', stderr: '' });
});

test('a closed pipe ends it with exit code 0 and no message', async () => {
  const many = Array.from({ length: 3000 }, (_, index) => sampleRun(`run-${index}`, 'stuck')).join('\n');
  const result = await runCli(['analyze', '-', '--json'], { cwd, stdin: many, onStdout: ({ close }) => close() });
  expect([result.code, result.stderr]).toEqual([0, '']);
  expect(jsonLines(result.stdout.slice(0, result.stdout.lastIndexOf('\n') + 1)).length).toBeLessThan(3000);
});

test('with too many open runs the least recent are reported early, with a note if they continue', async () => {
  const line = (runId: string, seq: number, payload: unknown): string =>
    JSON.stringify({ schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: 1, payload });
  const begun = Array.from({ length: 1100 }, (_, index) =>
    line(`r${index}`, 0, { kind: 'run_started', identity: { run_id: `r${index}`, depth: 0 } }),
  );
  const more = [1, 2].map((seq) => line('r0', seq, { kind: 'turn_started' }));
  const later = line('r1099', 1, { kind: 'turn_started' });
  const stdin = [...begun, ...more, later].join('\n');
  const { code, stdout, stderr } = await runCli(['analyze', '-', '--json'], { cwd, stdin });
  const turns = new Map(jsonLines(stdout).map((run) => [run['id'], run['turns']]));
  expect([turns.size, turns.get('r0'), turns.get('r1099')]).toEqual([1100, 0, 1]);
  expect(stderr).toMatch(/^coxswain: -: run r0 continues after 1000 other runs[^\n]*\n$/);
  expect(code).toBe(1);
});

test('without a path the sessions of this user are read, newest first', async () => {
  const home = join(cwd, 'home');
  const samples = fileURLToPath(new URL('session-samples/', import.meta.url));
  const places = {
    'pi-session.jsonl': '.pi/agent/sessions/--p--/1.jsonl',
    'codex-rollout.jsonl': '.codex/sessions/2026/11/23/rollout-1.jsonl',
    'gemini-chat.jsonl': '.gemini/tmp/p/chats/session-1.jsonl',
  };
  for (const [at, [sample, place]] of Object.entries(places).entries()) {
    const path = join(home, place);
    await mkdir(dirname(path), { recursive: true });
    await copyFile(join(samples, sample), path);
    await utimes(path, 1_000 + at, 1_000 + at);
  }
  // A session in which nothing was said yet.
  await writeFile(join(home, '.pi/agent/sessions/--p--/2.jsonl'), '');
  const { code, stdout, stderr } = await runCli(['analyze', '--json'], { cwd, env: homeOnly(home) });
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^coxswain: session files: 1 of Codex in .*, 2 of pi in .*\n$/),
  ]);
  expect(jsonLines(stdout).map((run) => run['format'])).toEqual(['gemini', 'codex', 'pi']);
});

test('without a path and sessions it names the places searched', async () => {
  const { code, stdout, stderr } = await runCli(['analyze'], { cwd, env: homeOnly(join(cwd, 'empty-home')) });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`Codex ${join(cwd, 'empty-home', '.codex')}`);
});

test('a file of unknown format is described, with a list of the known formats', async () => {
  await writeFile(join(cwd, 'table.csv'), 'a,b\n1,2\n');
  const { code, stderr } = await runCli(['analyze', 'table.csv', 'runs/notes.json', 'runs/image.png'], { cwd });
  expect(code).toBe(1);
  const lines = stderr.trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^coxswain: table\.csv: text that is not JSON.* Formats read: .*\bcodex\b.*\bpi\b/),
    expect.stringMatching(/notes\.json: a JSON object with the keys name is no known format\. Formats read: /),
    expect.stringMatching(/image\.png: binary content.* Formats read: /),
  ]);
});

test('--by folder shows calls after the first flag and examples, and rows are written as CSV', async () => {
  const { code, stderr, stdout } = await runCli(
    ['analyze', 'many.jsonl', '--by', 'folder', '--json', '--csv', 'rows.csv'],
    { cwd },
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(jsonLines(stdout)).toEqual([
    expect.objectContaining({ by: 'folder', name: '.', runs: 60, stuck: 20, calls: 480, callsAfterFlag: 100 }),
  ]);
  const [head = '', ...rows] = (await readFile(join(cwd, 'rows.csv'), 'utf8')).trimEnd().split('\n');
  expect([rows.length, head.split(',').slice(0, 4)]).toEqual([60, ['id', 'source', 'folder', 'format']]);
  const text = await runCli(['analyze', 'many.jsonl', '--by', 'tool'], { cwd });
  expect(text.stdout).toMatch(/\nbash +20 +100 %/);
  expect(text.stdout).toMatch(/\n {2}call \d+: .*, run run-0 in many\.jsonl\n/);
  expect((await runCli(['analyze', 'many.jsonl', '--by', 'moon'], { cwd })).code).toBe(2);
});

test('ids in examples are never cut, and groups whose names begin alike can be told apart', async () => {
  const names = ['claude', 'gpt'].map((model) => `${'an/experiment/with/a/very/long/name/'.repeat(4)}${model}`);
  const runs = names.map((task) => sampleRun(`${task}/pass_1/task_1`, 'stuck').replace('{', `{"task":"${task}",`));
  await writeFile(join(cwd, 'long.jsonl'), `${runs.join('\n')}\n`);
  const { stdout } = await runCli(['analyze', 'long.jsonl', '--by', 'task'], { cwd, env: { COLUMNS: '80' } });
  for (const task of names) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`run ${task}/pass_1/task_1 in long.jsonl`);
  for (const model of ['claude', 'gpt']) expect(stdout).toMatch(new RegExp(`\nan/experiment/\\S*…${model} +1 `));
});

test('tokens can be compared between vendors in CSV and JSON, however a vendor counts those in its cache', async () => {
  const vendors = {
    // Anthropic counts cached tokens beside the input, OpenAI within it.
    beside: { model_id: 'claude-sonnet-4-5', usage: { input_tokens: 10, output_tokens: 5 } },
    within: { model_id: 'gpt-5', usage: { input_tokens: 110, output_tokens: 5 } },
    // The source counts no input.
    part: { model_id: 'gpt-5', usage: { output_tokens: 15 } },
  };
  const cached = { cache_read_tokens: 70, cache_write_tokens: 30 };
  const lines = Object.entries(vendors).flatMap(([id, { model_id, usage }]) => {
    const message = { role: 'assistant', content: 'x', model_id, usage: { ...usage, ...cached } };
    const payloads = [
      { kind: 'run_started', identity: { run_id: id, depth: 0 } },
      { kind: 'message_appended', message },
      { kind: 'run_ended', outcome: 'ended', new_messages: [] },
    ];
    return payloads.map((payload, seq) => {
      const place = { schema_version: 1, seq, run_id: id, depth: 1, parent_run_id: 'parent' };
      return `${JSON.stringify({ ...place, recorded_at_unix_ms: 1 + seq, payload })}\n`;
    });
  });
  await writeFile(join(cwd, 'vendors.jsonl'), lines.join(''));
  for (const args of [
    ['analyze', 'vendors.jsonl', '--csv', 'vendors.csv', '--json'],
    ['report', 'vendors.jsonl', '--json'],
  ]) {
    const runs = jsonLines((await runCli(args, { cwd })).stdout).filter((run) => run['id'] !== undefined);
    expect(runs.map(({ allTokens, tokens }) => [allTokens, tokens])).toEqual([
      [115, 15],
      [115, 115],
      [115, 15],
    ]);
  }
  const [head = '', ...rows] = (await readFile(join(cwd, 'vendors.csv'), 'utf8')).trimEnd().split('\n');
  for (const row of rows) {
    const cells = row.split(',');
    expect(Object.fromEntries(head.split(',').map((name, at) => [name, cells[at]]))).toMatchObject({
      parent_id: 'parent',
      refused: '0',
      cancelled: '0',
      all_tokens: '115',
      cached_tokens: '70',
      cache_written_tokens: '30',
      tokens_at_least: String(cells[0] === 'part'),
    });
  }
});

test('analyze, report, backtest and effect say that a copied run counts several times', async () => {
  await mkdir(join(cwd, 'copies'));
  for (const name of ['a.json', 'b.json']) await copyFile(join(cwd, 'runs', 'a.json'), join(cwd, 'copies', name));
  const note = 'coxswain: 1 run has the id of an earlier run; a copy of a run counts as another run\n';
  for (const command of ['analyze', 'report']) {
    const { code, stderr } = await runCli([command, 'copies'], { cwd });
    expect([command, code, stderr]).toEqual([command, 0, note]);
  }
  for (const command of ['backtest', 'effect']) {
    const { stdout } = await runCli([command, 'copies'], { cwd });
    expect(stdout).toContain('1 run with the id of an earlier run: copies of a run count several times');
  }
  await runCli(['analyze', 'copies/a.json', '--store', 'copies.db'], { cwd });
  const { stdout } = await runCli(['effect', 'copies.db', 'copies/a.json'], { cwd });
  expect(stdout).toContain('1 run with the id of an earlier run');
});

test('no output about a file has its secrets, nor a part of one that a shortened text cuts off', async () => {
  const secret = `hf_${'aB3x'.repeat(9)}`;
  const calls = Array.from({ length: 8 }, (_, at) => [
    {
      kind: 'tool_started',
      tool_call_id: `c${at}`,
      tool_name: 'bash',
      args: { command: `${'x'.repeat(70)} ${secret}` },
    },
    {
      kind: 'tool_ended',
      tool_call_id: `c${at}`,
      tool_name: 'bash',
      result: `Error: ${'x'.repeat(150)} ${secret}`,
      is_error: true,
    },
  ]);
  const payloads = [
    { kind: 'run_started', identity: { run_id: 's', depth: 0 }, task: `use ${'x'.repeat(50)} ${secret}` },
    ...calls.flat(),
    { kind: 'run_ended', outcome: 'ended', new_messages: [] },
  ];
  const records = payloads.map((payload, seq) => {
    const record = { schema_version: 1, seq, run_id: 's', depth: 0, recorded_at_unix_ms: 1 + seq, payload };
    return `${JSON.stringify(record)}\n`;
  });
  await writeFile(join(cwd, 'secret.jsonl'), records.join(''));
  const lines = [
    ['analyze'],
    ['analyze', '--by', 'task'],
    ['report'],
    ['report', '--markdown'],
    ['report', '--json'],
    ['watch', '--until-end', '--from-start'],
    ['watch', '--until-end', '--from-start', '--json'],
  ];
  const outputs = await Promise.all(
    lines.map(async ([name = '', ...flags]) => {
      const { code, stdout } = await runCli([name, 'secret.jsonl', ...flags], { cwd });
      expect([name, code]).toEqual([name, 0]);
      return stdout;
    }),
  );
  await runCli(['report', 'secret.jsonl', '--html', 'secret.html'], { cwd });
  outputs.push(await readFile(join(cwd, 'secret.html'), 'utf8'));
  for (const output of outputs) expect(output).not.toContain(secret.slice(0, 8));
});

test('a report of damaged files names the lost lines and ends with 1', async () => {
  await writeFile(join(cwd, 'damaged.jsonl'), `${sampleRun('a', 'fine')}\n{"id": \n${sampleRun('b', 'fine')}\n`);
  const { code, stderr, stdout } = await runCli(['report', 'damaged.jsonl'], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringContaining('coxswain: damaged.jsonl:2: ')]);
  expect(stdout).toContain('2 sessions');
});

const OUTPUTS = [
  { command: 'analyze', flag: '--csv', ending: 'csv' },
  { command: 'report', flag: '--html', ending: 'html' },
] as const;

test.each(OUTPUTS)(
  '$command $flag replaces only what it wrote itself, and refuses another file before it reads',
  async ({ command, ending, flag }) => {
    const text = sampleRun('precious', 'stuck');
    await writeFile(join(cwd, `input-${ending}.json`), text);
    const own = await runCli([command, `input-${ending}.json`, flag, `input-${ending}.json`], { cwd });
    const message = `coxswain: input-${ending}.json already exists; give another name or remove it\n`;
    expect(own).toEqual({ code: 2, stdout: '', stderr: message });
    expect(await readFile(join(cwd, `input-${ending}.json`), 'utf8')).toBe(text);

    // Two times to one name: an empty file, and what the command wrote.
    await writeFile(join(cwd, `out.${ending}`), '');
    for (const run of ['stuck', 'fine'] as const) {
      await writeFile(join(cwd, 'one.json'), sampleRun(`was-${run}`, run));
      expect((await runCli([command, 'one.json', flag, `out.${ending}`], { cwd })).code).toBe(0);
    }
    expect(await readFile(join(cwd, `out.${ending}`), 'utf8')).toContain('was-fine');
    // The input is not there either: the output is looked at first.
    const nowhere = await runCli([command, 'missing.json', flag, join(cwd, 'no-folder', 'x')], { cwd });
    expect([nowhere.code, nowhere.stdout]).toEqual([1, '']);
    expect(nowhere.stderr).toMatch(/^coxswain: \S*no-folder\S* cannot be written: [^\n]*\n$/);
  },
);
