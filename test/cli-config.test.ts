import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli, type CliResult } from './run-cli.ts';

const folder = testFolder();
let cwd: string;

beforeAll(async () => {
  cwd = join(folder, 'project');
  await mkdir(join(cwd, '.git'), { recursive: true });
});

function run(...args: readonly string[]): Promise<CliResult> {
  const home = join(folder, 'home');
  return runCli(args, { cwd, env: { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), XDG_STATE_HOME: '' } });
}

async function write(config: unknown): Promise<void> {
  await writeFile(join(cwd, 'coxswain.config.json'), typeof config === 'string' ? config : JSON.stringify(config));
}

test('without a configuration config check shows the standard steering', async () => {
  const { code, stdout, stderr } = await run('config', 'check');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^There is no configuration here: the standard steering applies\.\nno errors\n/);
  expect(stdout).toMatch(/^Pattern +on a stuck pattern from warn$/m);
});

test('config check lists every problem with its field and a suggestion, and fails', async () => {
  await write({ mode: 'shaddow', guidance: { doomLoop: { maxRepetitons: 4 } } });
  await run('trust');
  const { code, stdout, stderr } = await run('config', 'check');
  expect(code).toBe(1);
  expect(stderr).toContain(
    'coxswain: coxswain.config.json: mode: must be one of steer, shadow, got "shaddow"; did you mean "shadow"?\n' +
      'coxswain: coxswain.config.json: guidance.doomLoop.maxRepetitons: there is no such field; did you mean "maxRepetitions"?\n',
  );
  expect(stdout).toContain('2 fields wrong and ignored');
  const { problems } = jsonLines((await run('config', 'check', '--json')).stdout)[0] ?? {};
  expect(problems).toMatchObject([{ path: 'mode', kind: 'value', suggestion: '"shadow"' }, { kind: 'unknown-field' }]);
});

test('a configuration applies after coxswain trust, and no longer after a change', async () => {
  await write({ deadline: '45m', completion: { command: ['npm', 'test'] }, feedback: { pace: false } });
  const before = await run('config', 'check');
  expect(before.code).toBe(0);
  expect(before.stderr).toBe(
    'coxswain: coxswain.config.json is not trusted and ignored: read it, then run coxswain trust\n',
  );
  expect(before.stdout).not.toMatch(/npm test|45 minutes/);
  const trusted = await run('trust');
  expect([trusted.code, trusted.stderr]).toEqual([0, '']);
  expect(trusted.stdout).toContain('with the current coxswain.config.json');
  const after = await run('config', 'check');
  expect(after.stderr).toBe('');
  expect(after.stdout).toMatch(/^deadline +45 minutes, from the first prompt of the session$/m);
  expect(after.stdout).not.toMatch(/^Pace/m);
  expect(after.stdout).toMatch(/^coxswain\.config\.json: of the project, trusted$/m);
  expect(after.stdout).toMatch(/^completion +`npm test` passes; checked at most 3 times$/m);
  expect((await run('trust', '--list')).stdout).toMatch(/project \(coxswain\.config\.json\): trusted\n$/);
  await write({ completion: { command: ['npm', 'run', 'other'] } });
  expect((await run('config', 'check')).stderr).toContain('ignored');
  expect((await run('trust', '--list')).stdout).toContain('changed since');
  expect((await run('trust', '--revoke')).code).toBe(0);
  expect((await run('trust', '--revoke')).stderr).toMatch(/^coxswain: \. is not trusted/);
});

test('config show prints every field with its value, without keys', async () => {
  await write({
    redaction: { mode: 'structureOnly', key: 'a key of twenty chars' },
    detectors: { stall: { maxCalls: 30 } },
  });
  await run('trust');
  const all = await run('config', 'show');
  expect(all.code).toBe(0);
  expect(all.stdout).toMatch(/^detectors\.stall\.maxCalls +30$/m);
  expect(all.stdout).toMatch(/^detectors\.stall\.maxSeconds +900 \(default\)$/m);
  const set = await run('config', 'show', '--set');
  expect(set.stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([
    'detectors.stall.maxCalls',
    'redaction.mode',
    'redaction.key',
    '',
  ]);
  expect(jsonLines((await run('config', 'show', '--json')).stdout)).toMatchObject([
    { detectors: { stall: { maxCalls: 30 } } },
  ]);
  expect(all.stdout + set.stdout).not.toContain('twenty');
});

test.each([
  [['config', 'check', 'nowhere.json'], 1, /^coxswain: nowhere\.json: there is no readable file nowhere\.json\n$/],
  [['config', 'chekc'], 2, /^coxswain: unknown command 'chekc'/],
  [['config', 'check', '--jsn'], 2, /^coxswain: unknown option '--jsn'/],
  [['trust', 'nowhere'], 1, /^coxswain: nowhere: there is no such folder\n$/],
  [['trust', '.', '--list'], 2, /^coxswain: --list takes neither a folder nor --revoke/],
])('%j is answered in one line', async (args, code, line) => {
  const answer = await run(...args);
  expect(answer.code).toBe(code);
  expect(answer.stderr).toMatch(line);
  expect(answer.stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('text of a configuration is safe for a terminal', async () => {
  await write({ ['\u001b[31mred']: 1, mode: '\u001b]0;title\u0007' });
  const { stderr, stdout } = await run('config', 'check');
  expect(stderr + stdout).not.toContain('\u001b');
});

test.each([['config', 'check'], ['config', 'show'], ['trust']])('the help of %s %s has an example', async (...args) => {
  const { code, stdout } = await run(...args, '--help');
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`Examples:\\n {2}coxswain ${args.join(' ')}`));
});
