import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { rounds } from '../../test/support/rounds.ts';
import { testFolder } from '../../test/support/test-folder.ts';
import { backtest } from './backtest.ts';

const folder = testFolder();

const RUNS = rounds({ full: 60, short: 20 });
const MAX_CALLS = 40;

/** Runs of few different commands and answers, so that they repeat, fail and make progress by chance. */
function randomRuns(seed: number): string {
  let state = seed;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
    return (state >>> 8) % below;
  };
  const runs = Array.from({ length: RUNS }, (_, run) => {
    const variety = 1 + draw(6);
    const steps = Array.from({ length: 1 + draw(MAX_CALLS) }, (__, call) => {
      const tool = 'bash';
      const id = `c${call}`;
      const failed = draw(3) === 0;
      const result = failed ? `Error: cannot open part-${draw(variety)}` : `part ${draw(variety)}`;
      return [
        { i: 2 * call, kind: 'tool_call', tool, args: { command: `cat part-${draw(variety)}` }, call_id: id },
        { i: 2 * call + 1, kind: 'tool_result', call_id: id, tool, is_error: failed, result },
      ];
    });
    return JSON.stringify({
      id: `run-${run}`,
      task: `t${run % 7}`,
      outcome: { success: run % 2 === 0 },
      steps: steps.flat(),
    });
  });
  return `${runs.join('\n')}\n`;
}

test.each([
  ['detectors.identical_call.warnAt', [2, 3, 4, 7]],
  ['detectors.repeated_error.exactWarnAt', [2, 3, 5]],
  ['detectors.cycle.roundsToWarn', [2, 3, 4]],
  ['detectors.error_cascade.warnAt', [2, 6]],
  ['noise.callsPerAdvice', [1, 10]],
] as const)('a sweep of %s gives what a backtest of each value gives', async (field, values) => {
  const path = join(folder, `${field}.jsonl`);
  writeFileSync(path, randomRuns(field.length));
  const sweep = async (some: readonly number[]) => {
    const { report } = await backtest([path], { sweep: { field, values: some }, stopEarly: true });
    return report.parts[0]?.byConfiguration ?? [];
  };
  const together = await sweep(values);
  const alone = (await Promise.all(values.map((value) => sweep([value])))).flat();
  expect(together).toEqual(alone);
  expect(new Set(alone.map((figures) => JSON.stringify(figures))).size).toBeGreaterThan(1);
});
