import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';

import { jsonLines, runCli, sampleRun } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

const SAMPLE = fileURLToPath(new URL('../samples/stuck-run.jsonl', import.meta.url));

let cwd: string;

beforeEach(() => void (cwd = testFolder()));

interface Call {
  readonly tool: string;
  readonly args: object;
  readonly result: string;
  readonly isError?: boolean;
}

/** Explains the last of these calls, as JSON. */
async function explained(...calls: readonly Call[]): Promise<Readonly<Record<string, unknown>>> {
  await writeFile(
    join(cwd, 'run.json'),
    JSON.stringify({ id: 'r', calls: calls.map((call) => ({ isError: false, ...call })) }),
  );
  const { code, stderr, stdout } = await runCli(['explain', 'run.json', '--call', String(calls.length), '--json'], {
    cwd,
  });
  expect([code, stderr]).toEqual([0, '']);
  return jsonLines(stdout)[0] ?? {};
}

const sh = (command: string, result: string, isError = false): Call => ({
  tool: 'bash',
  args: { command },
  result,
  isError,
});

test('an explanation has the kind, failure, equal calls, patterns, and the effect of each feature on repetition', async () => {
  const { code, stdout } = await runCli(['explain', SAMPLE, '--call', '24'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('call 24 of 39\n  bash {command: "node check.mjs"}\n');
  expect(stdout).toContain('kind: execute, the shell command runs node\n');
  expect(stdout).toContain(
    'failed: yes, its source flags it\n    class: other\n    line: FAIL total: expected 7439, got 7438\n',
  );
  expect(stdout).toContain('new: no\n  same call and result since the last change: 16, 22\n');
  expect(stdout).toMatch(
    /stuck for sure: calls and answers that resemble each other, from call 24, noticed at call 24, .*evidence 24\n/,
  );
  expect(stdout).toMatch(/repetition score at this call: 0\.\d\d .*\n {4}\w+ +\d\.\d\d {2}[+-]\d\.\d\d\n/);
});

test('the effects of the features add up to the chance at which repetition was flagged', async () => {
  const { stdout } = await runCli(['explain', SAMPLE, '--call', '24', '--json'], { cwd });
  const { repetition } = JSON.parse(stdout);
  const { chance, chanceWithoutFeatures, shares } = repetition;
  const logit = (share: number): number => Math.log(share / (1 - share));
  const adds = shares.map((share: { readonly adds: number }) => share.adds);
  const sum = adds.reduce((total: number, one: number) => total + one, logit(chanceWithoutFeatures));
  expect(logit(chance)).toBeCloseTo(sum, 9);
});

test('a stored run has the same explanation as its file', async () => {
  await writeFile(join(cwd, 'a.json'), sampleRun('alpha', 'stuck'));
  await runCli(['analyze', 'a.json', '--store', 'runs.db'], { cwd });
  const file = await runCli(['explain', 'a.json', '--call', '8', '--json'], { cwd });
  const stored = await runCli(['explain', 'alp', '--call', '8', '--store', 'runs.db', '--json'], { cwd });
  expect(jsonLines(stored.stdout)[0]).toMatchObject({ run: 'alpha', sameCalls: [1, 2, 3, 4, 5, 6, 7] });
  expect(stored.stdout).toBe(file.stdout);
});

test('an explanation has the text compared and the original text', async () => {
  const build = (second: number): Call => sh('make', `built at 2026-01-01T00:00:0${second}Z\nok 3`);
  expect(await explained(build(1), build(2))).toMatchObject({
    resultText: 'built at 2026-01-01T00:00:02Z\nok 3',
    comparedText: 'built at ~\nok 3',
    comparedAsItCame: false,
    sameCalls: [1],
    novel: false,
  });
});

test('the reason of a failure is the flag, else the exit code, else the words', async () => {
  expect(await explained(sh('node a.js', '{"output": "boom", "exit_code": 2}'))).toMatchObject({
    failed: true,
    countedAsError: false,
    failedReason: 'exit code 2',
  });
  expect(await explained(sh('node a.js', 'compiling\nfatal error: no input files'))).toMatchObject({
    failed: true,
    failureLine: 'fatal error: no input files',
  });
  expect(await explained(sh('grep x a.txt', '{"output": "", "exit_code": 1}'))).toMatchObject({
    failed: false,
    failedReason: 'a search without a match is not a failure (exit code 1)',
  });
});

test('an explanation tells whether the kind comes from the arguments, the result or a pause', async () => {
  const job = (result: string): Call => ({ tool: 'get_job', args: { id: 'build' }, result });
  expect(await explained(job('{"status": "pending"}'))).toMatchObject({
    kind: 'poll',
    kindReason: expect.stringMatching(/^by its result; tool and arguments alone would be /),
  });
  const look = sh('cat out.log', 'step 3 of 9');
  expect(await explained(look, sh('sleep 60', ''), look)).toMatchObject({
    kind: 'poll',
    kindReason: 'it checks again after a pause; on its own it would be read',
  });
});

test('a call after a change is not compared with earlier ones', async () => {
  const look = sh('cat a.txt', 'one');
  const write: Call = { tool: 'write_file', args: { path: 'a.txt', content: 'two' }, result: 'ok' };
  expect(await explained(look, write)).toMatchObject({ kind: 'write', target: 'a.txt', beganEpoch: true });
  expect(await explained(look, write, look)).toMatchObject({ sameCalls: [], novel: true });
});

test('an explanation is safe for a terminal', async () => {
  await writeFile(
    join(cwd, 'a.json'),
    JSON.stringify({ id: 'r', calls: [sh('echo \u001b[31m', '\u001b]0;x\u0007red\u202e', true)] }),
  );
  for (const format of [[], ['--json']]) {
    const { code, stdout } = await runCli(['explain', 'a.json', '--call', '1', ...format], { cwd });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  }
});

test('a missing call or run is an error with a suggestion', async () => {
  await writeFile(join(cwd, 'a.json'), sampleRun('alpha', 'stuck'));
  await writeFile(join(cwd, 'two.jsonl'), `${sampleRun('one', 'stuck')}\n${sampleRun('two', 'fine')}\n`);
  const refusal = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr, stdout } = await runCli(['explain', ...args], { cwd });
    expect([code !== 0, stdout]).toEqual([true, '']);
    return stderr;
  };
  expect(await refusal('a.json', '--call', '9')).toContain('run alpha has 8 calls; give a number from 1 to 8');
  expect(await refusal('a.json', '--call', '0')).toContain('--call 0: give a whole number from 1');
  expect(await refusal('two.jsonl', '--call', '1')).toContain('has several runs: one, two; choose one with --run');
  expect(await refusal('two.jsonl', '--call', '1', '--run', 'three')).toContain('no run three');
  const chosen = await runCli(['explain', 'two.jsonl', '--call', '1', '--run', 'two', '--json'], { cwd });
  expect(jsonLines(chosen.stdout)[0]).toMatchObject({ run: 'two', tool: 'read_file', failed: false });
});
