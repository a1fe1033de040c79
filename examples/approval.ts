/**
 * An agent that asks a person and whose process ends: a day later the approval arrives, and another process goes on with the run.
 *
 *     node approval.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCoxswain } from 'coxswain';
import { sqliteStore } from 'coxswain/sqlite';
import { createFakeClock } from 'coxswain/testing';

const [file = join(mkdtempSync(join(tmpdir(), 'approval-')), 'runs.db'), day] = process.argv.slice(2);
if (day === undefined) {
  for (const text of ['0', '1'])
    process.stdout.write(spawnSync(process.execPath, [import.meta.filename, file, text]).stdout);
} else {
  const clock = createFakeClock();
  clock.advance(Number(day) * 86_400);
  const cox = createCoxswain({ store: sqliteStore(file), clock });
  const run = await cox.openRun('order-7', { start: { task: 'Order the parts.', deadline: { minutes: 30 } } });
  const call = { toolCallId: 'pay-1', toolName: 'pay' };
  // A real model would ask for this call.
  if (day === '0') run.emit({ type: 'tool_execution_start', ...call, args: { sum: 120 } });
  else {
    run.setDeadline({ minutes: 30 });
    run.emit({ type: 'tool_execution_end', ...call, result: 'paid', isError: false });
    await run.end('ordered');
  }
  console.log(`Day ${day}: ${run.analysis.calls} call, ${run.isEnded ? 'the run has ended' : 'waiting for a person'}.`);
  await cox.close();
}

// Prints:
// Day 0: 1 call, waiting for a person.
// Day 1: 1 call, the run has ended.
