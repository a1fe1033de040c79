import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';

import { explainCall } from '../src/cli/commands/show/show-call.ts';
import { scriptRun } from './support/script-records.ts';
import { jsonLines, runCli, sampleRun } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

const SAMPLE = fileURLToPath(new URL('../samples/stuck-run.jsonl', import.meta.url));

let cwd: string;
let stores = 0;

beforeEach(() => void (cwd = testFolder()));

interface Call {
  readonly tool: string;
  readonly args: object;
  readonly result: string;
  readonly isError?: boolean;
}

/** How the last of these calls was read, as JSON. */
async function readLast(...calls: readonly Call[]): Promise<Readonly<Record<string, unknown>>> {
  await writeFile(
    join(cwd, 'run.json'),
    JSON.stringify({ id: 'r', calls: calls.map((call) => ({ isError: false, ...call })) }),
  );
  const store = `runs-${(stores += 1)}.db`;
  await runCli(['analyze', 'run.json', '--store', store], { cwd });
  const args = ['show', 'r', '--store', store, '--call', String(calls.length), '--json'];
  const { code, stderr, stdout } = await runCli(args, { cwd });
  expect([code, stderr]).toEqual([0, '']);
  return jsonLines(stdout)[0] ?? {};
}

const sh = (command: string, result: string, isError = false): Call => ({
  tool: 'bash',
  args: { command },
  result,
  isError,
});

test('the reading of a call has its kind, failure, equal calls and patterns', async () => {
  await runCli(['analyze', SAMPLE, '--store', 'runs.db'], { cwd });
  const { code, stdout } = await runCli(['show', 'sample', '--call', '24', '--store', 'runs.db'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('call 24 of 39\nnode check.mjs\n');
  expect(stdout).toContain('kind: execute, the shell command runs node\n');
  expect(stdout).toContain(
    'failed: yes, its source flags it\ncheck: node check.mjs failed\nline: FAIL total: expected 7439, got 7438\n',
  );
  expect(stdout).toContain('new: no\nsame call and result since the last change: 16, 22\n');
  expect(stdout).toMatch(
    /stuck likely: calls and answers that resemble each other, from call 24, noticed at call 24, .*evidence 24\n/,
  );
});

test('the reading has the text compared and the original text', async () => {
  const build = (second: number): Call => sh('make', `built at 2026-01-01T00:00:0${second}Z\nok 3`);
  expect(await readLast(build(1), build(2))).toMatchObject({
    resultText: 'built at 2026-01-01T00:00:02Z\nok 3',
    comparedText: 'built at ~\nok 3',
    sameCalls: [1],
    novel: false,
  });
});

test('the reason of a failure is the flag, else the exit code, else the words', async () => {
  expect(await readLast(sh('node a.js', '{"output": "boom", "exit_code": 2}'))).toMatchObject({
    failed: true,
    countedAsError: false,
    failedReason: 'exit code 2',
  });
  expect(await readLast(sh('node a.js', 'compiling\nfatal error: no input files'))).toMatchObject({
    failed: true,
    failureLine: 'fatal error: no input files',
  });
  expect(await readLast(sh('grep x a.txt', '{"output": "", "exit_code": 1}'))).toMatchObject({
    failed: false,
    failedReason: 'a search without a match is not a failure (exit code 1)',
  });
});

async function pageOf(call: Call): Promise<string> {
  await writeFile(join(cwd, 'a.json'), JSON.stringify({ id: 'r', calls: [call] }));
  const store = `runs-${(stores += 1)}.db`;
  await runCli(['analyze', 'a.json', '--store', store], { cwd });
  return (await runCli(['show', 'r', '--call', '1', '--store', store], { cwd })).stdout;
}

test('the page of a call shows the end of its result, without the lines of its host and words of coxswain alone', async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n');
  const host = 'Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 1\nOriginal token count: 9\nOutput:\n';
  const page = await pageOf({ ...sh('npm test', `${host}${lines}\n2 failed`, true), tool: 'exec_command' });
  expect(page).toContain('| line 1\n| line 2\n| line 3\n| … 12 lines …\n| line 16\n');
  expect(page).toContain('| 2 failed\n');
  expect(page).not.toMatch(/Chunk ID|reading rules|counts-/);
});

test('the page of a call says that a check in it failed by its words, although the call did not fail', async () => {
  const page = await pageOf(sh('npx eslint . 2>&1 | tail -3', '✖ 1 problem (1 error, 0 warnings)'));
  expect(page).toContain('failed: no, ');
  expect(page).toContain('\ncheck: npx eslint . failed, as its output says\n');
});

test('the reading tells whether the kind comes from the arguments, the result or a pause', async () => {
  const job = (result: string): Call => ({ tool: 'get_job', args: { id: 'build' }, result });
  expect(await readLast(job('{"status": "pending"}'))).toMatchObject({
    kind: 'poll',
    kindReason: expect.stringMatching(/^by its result; tool and arguments alone would be /),
  });
  const look = sh('cat out.log', 'step 3 of 9');
  expect(await readLast(look, sh('sleep 60', ''), look)).toMatchObject({
    kind: 'poll',
    kindReason: 'it checks again after a pause; on its own it would be read',
  });
});

test('a call after a change is not compared with earlier ones', async () => {
  const look = sh('cat a.txt', 'one');
  const write: Call = { tool: 'write_file', args: { path: 'a.txt', content: 'two' }, result: 'ok' };
  expect(await readLast(look, write)).toMatchObject({ kind: 'write', beganEpoch: true });
  expect(await readLast(look, write, look)).toMatchObject({ sameCalls: [], novel: true });
});

test('the reading of a call is safe for a terminal', async () => {
  await writeFile(
    join(cwd, 'a.json'),
    JSON.stringify({ id: 'r', calls: [sh('echo \u001b[31m', '\u001b]0;x\u0007red\u202e', true)] }),
  );
  await runCli(['analyze', 'a.json', '--store', 'runs.db'], { cwd });
  for (const format of [[], ['--json']]) {
    const { code, stdout } = await runCli(['show', 'r', '--call', '1', '--store', 'runs.db', ...format], { cwd });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  }
});

test('a missing call is an error with the range of calls', async () => {
  await writeFile(join(cwd, 'a.json'), sampleRun('alpha', 'stuck'));
  await runCli(['analyze', 'a.json', '--store', 'runs.db'], { cwd });
  const refusal = async (call: string): Promise<readonly unknown[]> => {
    const { code, stderr, stdout } = await runCli(['show', 'alpha', '--call', call, '--store', 'runs.db'], { cwd });
    return [code, stdout, stderr];
  };
  expect(await refusal('9')).toEqual([2, '', expect.stringContaining('alpha has 8 calls; give a number from 1 to 8')]);
  expect(await refusal('0')).toEqual([2, '', expect.stringContaining('--call 0: give a whole number from 1')]);
});

test('a call without a result is an error that names the call', async () => {
  const records = scriptRun('r', [
    { kind: 'run_started', identity: { run_id: 'r', depth: 0 } },
    { kind: 'tool_started', tool_call_id: 'c', tool_name: 'Bash', args: { command: 'git push' } },
  ]);
  async function* each(): AsyncGenerator<(typeof records)[number]> {
    yield* records;
  }
  await expect(explainCall('r', 1, each())).rejects.toThrow(
    'call 1 of run r has no result on record: Bash {command: "git push"}',
  );
});
