/**
 * A job that a queue tries again after each crash: every attempt is a separate process that continues the same run, so the third
 * one hears what the first two have tried.
 *
 *     node retried-job.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCoxswain } from 'coxswain';
import { sqliteStore } from 'coxswain/sqlite';

const [file = join(mkdtempSync(join(tmpdir(), 'job-')), 'runs.db'), attempt] = process.argv.slice(2);
if (attempt === undefined) {
  for (const text of ['1', '2', '3'])
    process.stdout.write(spawnSync(process.execPath, [import.meta.filename, file, text]).stdout);
} else {
  const cox = createCoxswain({ store: sqliteStore(file) });
  const run = await cox.openRun('job-9', { start: { task: 'Import the orders.' }, trigger: 'retry' });
  const call = { toolCallId: `import-${attempt}`, toolName: 'bash' };
  // A real model would ask for this call.
  run.emit({ type: 'tool_execution_start', ...call, args: { command: 'import orders.csv' } });
  run.emit({ type: 'tool_execution_end', ...call, result: 'Error: line 7 has no date', isError: true });
  console.log(`Attempt ${attempt}: ${run.feedback()?.split('\n')[2] ?? 'nothing to say'}`);
  await run.flush();
  process.exit(1);
}

// Prints:
// Attempt 1: nothing to say
// Attempt 2: nothing to say
// Attempt 3: 3 calls of bash failed in the same way (calls 1 to 3). Last result: error.
