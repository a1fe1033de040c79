import { expect, test } from 'vitest';

import { runCli } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

test.each([
  [['explain', 'run', '--call', '3'], 'explain was removed; use coxswain show RUN --call N'],
  [['label', 'runs.db', '--out', 'labels.csv'], 'label was removed; coxswain view labels moments of runs'],
  [['config', 'suggest', 'runs'], 'config suggest was removed; coxswain backtest PATH marks'],
  [['analyze', 'run.jsonl', '--parquet', 'rows.parquet'], 'analyze --parquet was removed; use --csv'],
  [['analyze', 'run.jsonl', '--format', 'intercode'], '--format intercode was removed; convert the file'],
  [['backtest', 'run.jsonl', '--details'], 'backtest --details was removed; use --json'],
  [['backtest', 'run.jsonl', '--signal', 'x'], 'backtest --signal was removed; use --sweep'],
  [['backtest', 'run.jsonl', '--html=page.html'], 'backtest --html was removed; use the table or --json'],
  [['view', 'runs.db', '--report', 'r.json'], 'view --report was removed; coxswain backtest prints the report'],
  [['export', '--format', 'inspect-json'], '--format inspect-json was removed; use --format atif or otlp'],
  [['init', 'claude-code', '--http', '--yes'], 'init --http was removed; coxswain init claude-code starts one hook'],
  [['serve'], 'serve start was removed; hooks need no server: run coxswain init'],
  [['serve', 'start', '--idle', '6h'], 'serve start was removed; hooks need no server'],
  [['serve', 'otlp', '--idle', '6h'], 'serve --idle was removed; coxswain serve otlp runs until'],
  [['serve', 'stop'], 'serve stop was removed; hooks need no server'],
  [['report', '--to', 'mailto:me@example.org'], '--to mailto: was removed; give a webhook, or send the text'],
])('coxswain %j is refused with what to use instead', async (args, message) => {
  const { code, stderr, stdout } = await runCli(args, { cwd: testFolder() });
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
});
