import { expect, test } from 'vitest';

import { runCli } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

test.each([
  [['explain', 'run', '--call', '3'], 'explain was removed; use coxswain show RUN --call N'],
  [['label', 'runs.db', '--out', 'labels.csv'], 'label was removed; coxswain view labels moments of runs'],
  [['config', 'suggest', 'runs'], 'config suggest was removed; coxswain backtest PATH marks'],
])('coxswain %j is refused with what to use instead', async (args, message) => {
  const { code, stderr, stdout } = await runCli(args, { cwd: testFolder() });
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
});
