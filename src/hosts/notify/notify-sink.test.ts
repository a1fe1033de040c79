import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { createFakeTimers } from '../../../test/support/fake-timers.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { createCoxswain } from '../../core/run/coxswain.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { notifySink } from './notify-sink.ts';

const APPEND = "require('fs').appendFileSync(process.argv[1], process.env.COXSWAIN_EVENT + '\\n')";

test('in a program a clock finds a call that hangs, a passed deadline and a wait, each once, and a sleep is no silence', async () => {
  const file = join(testFolder(), 'told.jsonl');
  const clock = createFakeClock();
  const timers = createFakeTimers();
  const people = notifySink({ command: [process.execPath, '-e', APPEND, file], clock, timers });
  const pass = async (minutes: number): Promise<void> => {
    for (let half = 0; half < minutes * 2; half += 1) {
      clock.advance(30);
      await timers.advance(30_000);
    }
  };
  const cox = createCoxswain({ store: memoryStore(), clock });
  cox.listen(people);
  const run = cox.startRun({ runId: 'r', task: 'Ship it', deadline: { minutes: 40 } });
  run.emit({ type: 'tool_execution_start', toolCallId: 'c', toolName: 'Bash', args: { command: 'git push' } });
  // The machine sleeps for an hour: the wall clock goes on and the steady clock stands.
  await pass(5);
  clock.advance(600);
  await pass(5);
  const early = await readFile(file, 'utf8').catch(() => '');
  await pass(30);
  await people.finish();
  await cox.close();
  const told = (await readFile(file, 'utf8')).trim().split('\n');
  expect([early, told]).toEqual(['', ['silent', 'deadline']]);
});
