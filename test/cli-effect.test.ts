import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { createCoxswain, type Coxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli, sampleRun, type CliResult } from './run-cli.ts';

let folder: string;

beforeEach(() => void (folder = testFolder()));

const cli = (args: readonly string[], stdin = ''): Promise<CliResult> => runCli(args, { cwd: folder, stdin });

/**
 * An agent that makes the same failing call until it has had enough, or is told: most then do something else.
 *
 * @param patience  calls after which it thinks of something else by itself
 * @param follows  whether it follows advice
 */
function work(run: Run, patience: number, follows: boolean): void {
  let isStuck = true;
  for (let call = 0; call < 24; call += 1) {
    if (call >= patience) isStuck = false;
    const toolCallId = `call-${call}`;
    const args = isStuck ? { command: 'make all' } : { path: `src/part-${call}.ts` };
    const toolName = isStuck ? 'bash' : 'read_file';
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
    const result = isStuck ? 'make: no rule for target all' : `part ${call * 7919}`;
    run.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError: isStuck });
    if (run.feedback() !== undefined && follows) isStuck = false;
    if (!isStuck) patience = call;
  }
}

async function record(
  runs: number,
  options: CoxswainOptions,
  start: Parameters<Coxswain['startRun']>[0] = {},
): Promise<void> {
  const clock = createFakeClock(1_000_000);
  const cox = createCoxswain({ store: sqliteStore(join(folder, 'runs.db')), clock, ...options });
  for (let number = 0; number < runs; number += 1) {
    clock.advance(60);
    const run = cox.startRun({ ...start, runId: `run-${number}` });
    work(run, number % 3 === 0 ? 8 : 99, number % 5 !== 0);
    await run.end();
  }
  await cox.close();
}

test('a source without a run is one line and exit 1, as at analyze, also with --json', async () => {
  for (const flags of [[], ['--json']]) {
    for (const command of ['effect', 'analyze']) {
      const { code, stderr, stdout } = await cli([command, 'nope.db', ...flags]);
      expect([command, code, stdout, stderr]).toEqual([command, 1, '', 'coxswain: nope.db: no such file\n']);
    }
    const empty = await cli(['effect', '.', ...flags]);
    expect(empty).toEqual({ code: 1, stdout: '', stderr: 'coxswain: .: no run found\n' });
  }
});

test('a planted effect is shown with its interval, from a store that real runs made', async () => {
  await record(120, { holdout: 0.5 });
  const { code, stderr, stdout } = await cli(['effect', 'runs.db']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('120 runs, 120 steered; 120 in an experiment that draws episodes');
  expect(stdout).toMatch(/stuck: left within 10 calls\n +advised +withheld\nended well +\d+ of \d+ /);
  expect(stdout).toMatch(/difference \+\d+ points \[\+\d+ to \+\d+\]/);
  expect(stdout).toMatch(/Advice helps: of 100, about \d+ more end well with advice\./);
  expect(stdout).not.toMatch(/\bfixed\b|\bcaused\b/i);

  const json = await cli(['effect', 'runs.db', '--json', '--within', '10']);
  const [report] = jsonLines(json.stdout);
  expect(report).toMatchObject({
    version: 3,
    within: 10,
    declared: false,
    paths: ['runs.db'],
    runs: { read: 120, steered: 120 },
  });
  const declared = await cli(['effect', 'runs.db', '--json']);
  expect(jsonLines(declared.stdout)).toMatchObject([{ within: 10, declared: true }]);
  expect((await cli(['effect', 'runs.db', '--json'])).stdout).toBe(declared.stdout);
});

test('with a deadline, of which every run is told first, episodes are compared all the same', async () => {
  await record(120, { holdout: 0.5 }, { deadline: { minutes: 1 } });
  const { stdout } = await cli(['effect', 'runs.db']);
  expect(stdout).toMatch(/Advice helps: of 100, about \d+ more/);
  expect(stdout).toContain('Deadline: the run ended before its deadline');
});

test('without an experiment it shows what was delivered and says why nothing is compared', async () => {
  await record(30, {});
  const { code, stdout } = await cli(['effect', 'runs.db']);
  expect(code).toBe(0);
  expect(stdout).toContain('no experiment');
  expect(stdout).toContain('not compared: no advice was withheld');
  expect(stdout).toMatch(/further runs like these: about [\d,]+ to see a difference of 5 points/);
  expect(stdout).toMatch(/All advice\n(?:\S+ +\d+ delivered\n)+/);
  expect(stdout).not.toContain('helps');
});

test('with few runs there is too little data, and the exit code is 0', async () => {
  await record(12, { holdout: 0.5 });
  const { code, stdout } = await cli(['effect', 'runs.db']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/too little data: \d+ runs were advised, \d+ were not; each needs 20/);
});

test('shadow runs are counted apart, transcripts have no advice, and what is missing or wrong is said', async () => {
  await record(3, { mode: 'shadow' });
  expect((await cli(['effect', 'runs.db'])).stdout).toMatch(/3 runs, 3 steered; 3 in shadow mode; no experiment/);
  await writeFile(join(folder, 'runs.ndjson'), `${sampleRun('alpha', 'stuck')}\n`);
  const imported = await cli(['effect', 'runs.ndjson']);
  expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining('These runs have no advice')]);
  expect((await cli(['effect', 'none.db'])).code).toBe(1);
  expect((await cli(['effect'])).stderr).toContain(
    'no run of this project is recorded yet: name files or folders of sessions, such as ~/.claude/projects',
  );
  for (const option of ['--within', '--worthwhile'])
    expect((await cli(['effect', 'runs.db', option, '0'])).code).toBe(2);
});
