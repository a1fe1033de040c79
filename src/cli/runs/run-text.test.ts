import { expect, test } from 'vitest';

import { ReportFold } from './report-fold.ts';
import { runLines } from './run-text.ts';

test('a run without a source file names none', () => {
  const fold = new ReportFold('r', {});
  const payload = { kind: 'run_started', identity: { run_id: 'r', depth: 0 }, task: 'Fix the build.' } as const;
  fold.fold({ schema_version: 1, seq: 0, run_id: 'r', depth: 0, recorded_at_unix_ms: 1, payload });
  const [, , origin] = runLines(fold.report(), (_style, text) => text);
  expect(origin).toBe('  coxswain, run r');
});
