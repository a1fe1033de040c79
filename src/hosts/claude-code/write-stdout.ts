import { writeSync } from 'node:fs';

import { sleepSync } from '../../core/base/clock.ts';
import { hasCode } from '../../core/base/error.ts';

/** Maximum number of waits for a slow reader. Each wait takes one millisecond. */
const MAX_WAITS = 1_000;

/** Returns when the pipe has accepted all of it. Throws a system error. */
export function writeStdout(text: string): void {
  let remaining = Buffer.from(text, 'utf8');
  for (let waitCount = 0; remaining.length > 0;) {
    try {
      remaining = remaining.subarray(writeSync(1, remaining));
    } catch (error) {
      const isFull = hasCode(error, 'EAGAIN');
      if (!isFull || waitCount >= MAX_WAITS) throw error;
      waitCount += 1;
      sleepSync(1);
    }
  }
}
